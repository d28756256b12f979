"""What of a text the hub has handed out itself: its memories must not come in again as new.

The shapes are found by `text/echo.py`, and held against the store by the walk. Only words that are
really in this hub's memory (as they are, as they were, or a passage of them), and that the caller
may see, are an echo. All else stays, to the letter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.engine.core import Core
from holdfast.text.echo import Echo, is_fixed_reply, may_be_ours
from holdfast.text.spans import marked_out, without

if TYPE_CHECKING:
    from holdfast.store.base import Reader

# An answer names a few; the rest is a number.
_SHOWN_MAX = 3
_SHOWN_CHARS = 60


class Heard(NamedTuple):
    """What somebody said, without what they had from us. `memories` are those that came back."""

    text: str
    echoes: tuple[Echo, ...] = ()
    memories: tuple[Memory, ...] = ()

    @property
    def nothing_new(self) -> bool:
        """Whether all of it was ours."""
        return bool(self.echoes) and not self.text

    @property
    def sentence(self) -> str:
        """What to answer when there was nothing new."""
        if not self.memories:
            return "This is an answer of memory itself; nothing new was stored."
        named = [_named(one) for one in self.memories[:_SHOWN_MAX]]
        more = len(self.memories) - len(named)
        rest = f" and {more} more" if more else ""
        return f"Already known: {', '.join(named)}{rest}; nothing new was stored."


def _named(memory: Memory) -> str:
    if not memory.visible:
        # It came back, but what it says now is not to be shown.
        return f"#{memory.number}"
    line = " ".join(memory.content.split())
    if len(line) > _SHOWN_CHARS:
        line = line[: _SHOWN_CHARS - 1].rstrip() + "…"
    return f"#{memory.number} “{line}”"


def without_echo(core: Core, hub_id: str, text: str) -> Heard:
    """The text without what this hub has handed out."""
    if is_fixed_reply(text):
        return Heard("", (Echo(0, len(text)),))
    if not may_be_ours(text):
        return Heard(text)
    with core.read() as reader:
        return _page(core, reader, hub_id, text) or _heard(core, reader, hub_id, text)


def with_echo_marked(core: Core, hub_id: str, text: str) -> str:
    """The text with a short note in place of what this hub has handed out. A reply that holds no
    memory is a line like any other here."""
    if not may_be_ours(text):
        return text
    heard = without_echo(core, hub_id, text)
    if not any(one.id for one in heard.echoes):
        return text
    return marked_out(text, [one[:2] for one in heard.echoes])


def _heard(core: Core, reader: Reader, hub_id: str, text: str) -> Heard:
    # Here, because their patterns take 20 ms to make, and few texts need them.
    from holdfast.engine.echo.lookup import Known
    from holdfast.engine.echo.walk import Walk
    from holdfast.engine.people.records import called

    hub = reader.hub_by_id(hub_id)
    known = Known(reader, hub_id, budget=len(text), file=core.permit is None)
    echoes = Walk(text, known, called(core, reader, hub).called if hub else "").echoes()
    if not echoes:
        return Heard(text)
    left = without(text, [one[:2] for one in echoes])
    met = dict.fromkeys(one.id for one in echoes if one.id.startswith("mem_"))
    return Heard(left, tuple(echoes), tuple(known.memory(id_) for id_ in met))


def _page(core: Core, reader: Reader, hub_id: str, text: str) -> Heard | None:
    """A text that is nothing but a file or a folder as the memory tool shows it."""
    if "/memories" not in text:
        return None
    from holdfast.engine.echo.frames import holder, is_folder, page_words

    if is_folder(text):
        return Heard("", (Echo(0, len(text)),))
    page = page_words(text)
    if page is None:
        return None
    path, words = page
    memory = holder(path, words, lambda path: reader.memory_by_path(hub_id, path))
    # Of MEMORY.md the words are those of many memories, and known by its own shape.
    known = (memory,) if memory else _of_file(core, reader, hub_id, words)
    return Heard("", (Echo(0, len(text), known[0].id),), known) if known else Heard(text)


def _of_file(core: Core, reader: Reader, hub_id: str, words: str) -> tuple[Memory, ...]:
    heard = _heard(core, reader, hub_id, words) if may_be_ours(words) else Heard(words)
    return heard.memories if heard.nothing_new else ()
