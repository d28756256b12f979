"""Finds echoes: the parts of a text that the hub has returned itself, so that its memories are not
stored again as new.

`shapes.py` finds text that is formatted like output of Holdfast, and `walk.py` compares it with the
store. Only words that are really in this hub's memories (current, earlier, or a passage), and that
the caller may see, are an echo. Everything else stays unchanged.

The store is read with the caller's permissions: private memories of others were not returned to
this caller, and nobody can find out that they exist by repeating their words. Every lookup uses an
index and is limited: what is not found within the limits counts as the author's own text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.domain.memory import TURN, Memory
from holdfast.domain.query import Filter
from holdfast.domain.records import as_memory
from holdfast.engine.core import Core
from holdfast.engine.echo.signs import Echo, may_be_fixed_reply, may_be_ours
from holdfast.store.values import TermQuery
from holdfast.system.named_tuple import NamedTuple
from holdfast.text import clean
from holdfast.text.analysis.spans import marked_out, without
from holdfast.text.classify.titles import listed_text
from holdfast.text.facts.sameness import bare, common

if TYPE_CHECKING:
    from holdfast.store.base import Reader


# A note names at most this many memories; the others are counted.
_SHOWN_MAX = 3
_SHOWN_CHARS = 60


class Heard(NamedTuple):
    """A text without its echoes; `memories` are those that were recognised in it."""

    text: str
    echoes: tuple[Echo, ...] = ()
    memories: tuple[Memory, ...] = ()

    @property
    def nothing_new(self) -> bool:
        """Whether the whole text was an echo."""
        return bool(self.echoes) and not self.text

    @property
    def sentence(self) -> str:
        """The reply to a write without new text."""
        if not self.memories:
            return "This is an answer of memory itself; nothing new was stored."
        named = [_named(one) for one in self.memories[:_SHOWN_MAX]]
        more = len(self.memories) - len(named)
        rest = f" and {more} more" if more else ""
        return f"Already known: {', '.join(named)}{rest}; nothing new was stored."


def _named(memory: Memory) -> str:
    if not memory.visible:
        # The text was recognised, but the memory's current content must not be shown.
        return f"#{memory.number}"
    line = " ".join(memory.content.split())
    if len(line) > _SHOWN_CHARS:
        line = line[: _SHOWN_CHARS - 1].rstrip() + "…"
    return f"#{memory.number} “{line}”"


def _is_fixed_reply(text: str) -> bool:
    if not may_be_fixed_reply(text):
        return False
    from holdfast.engine.echo.shapes import is_fixed_reply

    return is_fixed_reply(text)


def without_echo(core: Core, hub_id: str, text: str) -> Heard:
    """The text without its echoes."""
    if _is_fixed_reply(text):
        return Heard("", (Echo(0, len(text)),))
    if not may_be_ours(text):
        return Heard(text)
    with core.read() as reader:
        return _recognise_page(core, reader, hub_id, text) or _find_echoes(
            core, reader, hub_id, text
        )


def with_echo_marked(core: Core, hub_id: str, text: str) -> str:
    """The text with a short note in place of each echo. A reply without memories stays as it is."""
    if not may_be_ours(text):
        return text
    heard = without_echo(core, hub_id, text)
    if not any(one.id for one in heard.echoes):
        return text
    return marked_out(text, [one[:2] for one in heard.echoes])


def _find_echoes(core: Core, reader: Reader, hub_id: str, text: str) -> Heard:
    # Imported here, because its patterns take 20 ms to compile, and few texts need them.
    from holdfast.engine.echo.rewritten import originals
    from holdfast.engine.echo.walk import Walk
    from holdfast.engine.people.records import called

    hub = reader.hub_by_id(hub_id)
    name = called(core, reader, hub).called if hub else ""
    known = Known(reader, hub_id, budget=len(text), file=core.permit is None)
    echoes = Walk(text, known, name).echoes()
    for form in originals(text):
        other = Known(reader, hub_id, budget=len(text), file=core.permit is None)
        found = Walk(form.text, other, name).echoes()
        if _memories_in(found) > _memories_in(echoes):
            known, echoes = other, [_placed(one, form.places) for one in found]
    if not echoes:
        return Heard(text)
    left = without(text, [one[:2] for one in echoes])
    met = dict.fromkeys(one.id for one in echoes if one.id.startswith("mem_"))
    return Heard(left, tuple(echoes), tuple(known.memory(id_) for id_ in met))


def _memories_in(echoes: Iterable[Echo]) -> int:
    return len({one.id for one in echoes if one.id})


def _placed(echo: Echo, places: Sequence[int]) -> Echo:
    return echo._replace(start=places[echo.start], end=places[echo.end])


def _recognise_page(core: Core, reader: Reader, hub_id: str, text: str) -> Heard | None:
    """Recognises a text that is only a file or a folder as the memory tool shows it."""
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
    # MEMORY.md contains many memories, and has a shape of its own.
    known = (memory,) if memory else _of_file(core, reader, hub_id, words)
    return Heard("", (Echo(0, len(text), known[0].id),), known) if known else Heard(text)


def _of_file(core: Core, reader: Reader, hub_id: str, words: str) -> tuple[Memory, ...]:
    heard = _find_echoes(core, reader, hub_id, words) if may_be_ours(words) else Heard(words)
    return heard.memories if heard.nothing_new else ()


# More than the largest block that a tool returns.
_LOOKUPS_MAX = 50_000
# Words that no hash finds are searched in the substring index, which takes a millisecond in a large
# hub; a block has few of them.
_SEARCHES_MAX = 200
_SEARCHED_MAX = 8
_SEARCHED_LINES = 8
_NEEDLE_CHARS_MIN = 3
_NEEDLE_CHARS_MAX = 60
# Comparing stops after a few times the length of the text was read: otherwise a repetitive text
# could make it quadratic.
_COMPARED_FACTOR = 8
_COMPARED_LEAST = 1_000_000
# The most old versions that are compared; older ones hardly occur in a transcript still in use.
_VERSIONS_MAX = 50
# An item of more lines is found by its first line.
_ITEM_LINES_MAX = 200
_TURNS_MAX = 1_000
_ID_CHARS_MAX = 100
# For larger change sets, a history is shown one memory at a time anyway.
_CHANGED_MAX = 20
_BEGINNING = 12
_MEMORY_MD = "MEMORY.md"

_TURNS = Filter(layers=(TURN,), turns=True)
# Enough terms to identify a turn.
_TERMS_MAX = 24

_ANY = Filter(states=(), forgotten=None, quarantined=None)
_IDENTIFIED = re.compile(r"<!--[ \t]*mem_")
_INDENT = re.compile(r"^(?:  |\t)")
_NEEDLES = re.compile(r"&(?:[a-z]{1,4}|#\d\d?);|[<>&\\…\"]|\.\.\.")
_ESCAPED = re.compile(r"^([ \t]*)\\(?=[-#`~*_=+\[])")


class Known:
    """Lookups in the store for the search for echoes, with a cache."""

    def __init__(self, reader: Reader, hub_id: str, *, budget: int, file: bool = True) -> None:
        self._reader = reader
        self._hub_id = hub_id
        self._lookups = _LOOKUPS_MAX
        self._searches = _SEARCHES_MAX
        self._compare = budget * _COMPARED_FACTOR + _COMPARED_LEAST
        self._memories: dict[str, Memory] = {}
        self._numbers: dict[int, Memory | None] = {}
        self._contents: dict[str, str] = {}
        self._others: dict[str, list[str]] = {}
        # A caller who was never shown the file must not learn its text.
        self._lines: set[str] | None = None if file else set()
        self._turns: dict[str, list[tuple[str, str]]] | None = None

    # Memories

    def memory(self, memory_id: str) -> Memory:
        """A memory that was found before."""
        return self._memories[memory_id]

    @property
    def categories(self) -> set[str]:
        """The bare words of all memories that were read, because two may begin alike."""
        return {memory.category for memory in self._memories.values()}

    def by_number(self, number: int) -> Memory | None:
        if number not in self._numbers:
            found = None
            if self._may_look() and 0 < number < 2**63:
                found = self._reader.memory_by_number(self._hub_id, number)
            self._numbers[number] = self._seen(found)
        return self._numbers[number]

    def by_key(self, key: str) -> Memory | None:
        fit = 0 < len(key) <= 1_000 and "\0" not in key
        if not fit or not self._may_look():
            return None
        return self._seen(self._reader.memory_by_key(self._hub_id, key))

    def by_id(self, memory_id: str) -> Memory | None:
        if memory_id in self._memories:
            return self._memories[memory_id]
        if len(memory_id) > _ID_CHARS_MAX or not self._may_look():
            return None
        return self._seen(self._reader.memory(self._hub_id, memory_id))

    def by_change(self, change_id: str) -> Iterator[Memory]:
        """The memories that a change set changed."""
        if len(change_id) <= _ID_CHARS_MAX and self._may_look():
            for revision in self._reader.revisions_of(self._hub_id, change_id, limit=_CHANGED_MAX):
                memory = self.by_id(revision.memory_id)
                if memory is not None:
                    yield memory

    def by_words(self, lines: Iterator[str], *, day: str = "") -> Iterator[Memory]:
        """Memories that may have these words: the first line, or several lines. With a day, only
        those of that day: the same words on another day are another event."""
        item = _item(islice(lines, _ITEM_LINES_MAX))
        met: set[str] = set()
        for memory in self._candidates(item):
            if memory.id not in met and (not day or day == _day(memory)):
                met.add(memory.id)
                yield memory

    def _candidates(self, item: list[str]) -> Iterator[Memory]:
        for text in _readings(item):
            yield from self._by_hash(text)
        yield from self._by_search(item)

    def _by_hash(self, text: str) -> list[Memory]:
        if not text.strip() or not self._may_look():
            return []
        found = self._reader.memories_by_hash(self._hub_id, clean.content_hash(text))
        return [memory for memory in found if self._seen(memory) is not None]

    def _by_search(self, item: list[str]) -> list[Memory]:
        from holdfast.text.analysis.terms import trigram_text

        pieces = (
            piece.strip() for line in item[:_SEARCHED_LINES] for piece in _NEEDLES.split(line)
        )
        longest = trigram_text(max(pieces, key=len, default="")[:_NEEDLE_CHARS_MAX])
        if len(longest) < _NEEDLE_CHARS_MIN or self._searches <= 0:
            return []
        self._searches -= 1
        ids = self._reader.search_substring(self._hub_id, longest, _ANY, limit=_SEARCHED_MAX)
        found = self._reader.memories_by_id(self._hub_id, ids)
        return [found[id_] for id_ in ids if id_ in found and self._seen(found[id_]) is not None]

    def _may_look(self) -> bool:
        self._lookups -= 1
        return self._lookups >= 0

    def _seen(self, memory: Memory | None) -> Memory | None:
        return None if memory is None else self._memories.setdefault(memory.id, memory)

    # Renderings of a memory

    def renderings(self, memory: Memory) -> Iterator[str]:
        """The bare words of a memory: the whole text, its passages, and earlier versions."""
        if memory.id not in self._contents:
            self._contents[memory.id] = _words(memory.content)
        yield self._contents[memory.id]
        if memory.id not in self._others:
            older = self._before(memory, "content")
            every = [*self._passages(memory), *(_on_one_line(memory.content)), *map(_words, older)]
            every += [words for text in older for words in _on_one_line(text)]
            if memory.source_path:
                texts = (memory.content, *older)
                every += [_words(listed_text(memory.source_path, text)) for text in texts]
            self._others[memory.id] = every
        yield from self._others[memory.id]

    def has_title(self, memory: Memory, title: str) -> bool:
        """Whether a memory has or had this title."""
        shown = _words(title).rstrip("…")
        titles = (memory.title, *self._before(memory, "title"))
        return any(_words(one).startswith(shown) for one in titles)

    def _passages(self, memory: Memory) -> Iterator[str]:
        found = self._reader.passages(self._hub_id, [memory.id])
        for passage in found if len(found) > 1 else []:
            yield _words(memory.content[passage.start : passage.end])

    def _before(self, memory: Memory, field: str) -> list[str]:
        if memory.version == 1 or not self._may_look():
            return []
        revisions = self._reader.revisions(self._hub_id, memory.id)[-_VERSIONS_MAX:]
        out = []
        for one in reversed(revisions):
            if one.fields.get("boundary", ("", ""))[0] == "private":
                # Earlier versions were shown only to the owner.
                break
            if old := one.fields.get(field, ("", ""))[0]:
                out.append(old)
        return out

    def common(self, text: str, start: int, words: str) -> int:
        """The length that two texts have in common; 0 once the limit on comparisons is reached."""
        if self._compare <= 0:
            return 0
        length = common(text, start, words)
        self._compare -= length
        return length

    # Other output

    def in_file(self, line: str) -> bool:
        """Whether this is a line of a person's own text in MEMORY.md, as of the last sync."""
        if self._lines is None:
            agreed = self._reader.agreed(self._hub_id, _MEMORY_MD)
            self._lines = {*map(_words, _own_lines(agreed.text if agreed else ""))} - {""}
        if line.endswith("…"):
            return any(one.startswith(line[:-1]) for one in self._lines)
        return line in self._lines

    def turns_by_words(self, lines: Iterator[str]) -> list[Memory]:
        """Turns of the log that may have these words, each as a memory."""
        from holdfast.text.analysis.terms import terms

        words = terms(" ".join(islice(lines, _SEARCHED_LINES)))[:_TERMS_MAX]
        if not words or self._searches <= 0:
            return []
        self._searches -= 1
        asked = TermQuery(tuple(dict.fromkeys(words)))
        found = self._reader.search_terms(self._hub_id, asked, _TURNS, limit=_SEARCHED_MAX)
        turns = self._reader.turns_by_id(self._hub_id, [one.memory_id for one in found])
        return [self._memories.setdefault(one.id, as_memory(one)) for one in turns.values()]

    def turns(self, text: str, start: int) -> Iterator[tuple[str, str]]:
        """Turns of the log that begin, in bare words, like the text at this position."""
        if self._turns is None:
            self._turns = {}
            for turn in self._reader.turns(self._hub_id, limit=_TURNS_MAX):
                words = _words(turn.content)
                self._turns.setdefault(words[:_BEGINNING], []).append((turn.id, words))
        here = text[start : start + _BEGINNING]
        cut = here.find("…")
        for beginning, turns in self._turns.items():
            if here.startswith(beginning) or (cut >= 0 and beginning.startswith(here[:cut])):
                yield from turns


def _words(text: str) -> str:
    return bare(text).text


def _on_one_line(text: str) -> Iterator[str]:
    """The bare words of a text in which lines may have been joined, if that makes a difference."""
    if "\n" in text and (">" in text or "\\" in text):
        yield _words(" ".join(text.split()))


def _item(lines: Iterable[str]) -> list[str]:
    """The first line, and those below it that are indented, without the indentation."""
    out: list[str] = []
    for line in lines:
        if out and line.strip() and not line.startswith(("  ", "\t")):
            break
        out.append(_INDENT.sub("", line) if out else line)
    return out


def _readings(item: list[str]) -> Iterator[str]:
    """The possible texts of an item: its first line, or all of it, each as it is and unescaped."""
    for lines in (item[:1], item) if any(item[1:]) else (item[:1],):
        text, plain = "\n".join(lines), "\n".join(map(_plain, lines))
        yield text
        if plain != text:
            yield plain


def _plain(line: str) -> str:
    undone = line.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    return _ESCAPED.sub(r"\1", undone.replace("&amp;", "&")).rstrip()


def _own_lines(text: str) -> Iterator[str]:
    """The lines of MEMORY.md that belong to no memory. Lines of memories are found by their words
    if the caller may see them; the file shows everybody's."""
    part: list[str] = []
    for line in [*text.splitlines(), "#"]:
        begins = line[:1] not in ("", " ", "\t")
        goes_on = bool(part) and part[-1].strip() and line[:1] not in ("-", "*", "+", "#")
        if begins and not goes_on:
            if not any(_IDENTIFIED.search(one) for one in part):
                yield from (one.split("<!--", 1)[0] for one in part)
            part = []
        part.append(line)


def _day(memory: Memory) -> str:
    return (memory.occurred_at or memory.created_at).date().isoformat()
