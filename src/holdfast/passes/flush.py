"""The flush before a compaction: the prompt that asks an agent to save what it must keep, and
capture by rules from turns that were not processed yet.

A turn is processed once: by the journaler, an earlier flush, or the same conversation passed in by
a caller. No model is called; the agent itself is the better one.

The log does not say who the user of a turn is. It is read only if that can only be the caller; in a
hub with other users, their words would be attributed to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.results import Flushed, Noted
from holdfast.engine.core import Scope, require_hub
from holdfast.engine.echo.detect import with_echo_marked
from holdfast.engine.log.authors import others_logged
from holdfast.engine.log.observe import SEEN_MAX, USER_CHARS_MAX, mark_of, mark_seen, seen
from holdfast.engine.log.turns import clean_session
from holdfast.engine.people.members import is_alone
from holdfast.engine.traces import Withheld
from holdfast.engine.upkeep import capture_stats
from holdfast.errors import Conflict, InvalidInput
from holdfast.passes import prompt
from holdfast.passes.journaler import Heard, Proposed, by_rules, take, vectors
from holdfast.passes.work import synced_files
from holdfast.text import clean
from holdfast.text.private import without_private

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.engine.core import Core
    from holdfast.store.base import Writer

# As many turns of users as the log keeps turns of both sides by default.
TURNS_MAX = 200
assert TURNS_MAX < SEEN_MAX, "what was looked at must be known again"
_USERS = frozenset({"user", "human", "me"})
# Roles that are not people, in frameworks and exports; `function` is the older name of a tool.
_NO_PEOPLE = frozenset(
    """
    assistant system tool developer ai model function function_call function_call_output tool_call
    tool_result tool-result toolresult tool_use observation ipython bot agent claude chatgpt gpt
    """.split()  # noqa: SIM905
)
_TEXT_PARTS = ("text", "input_text")
NOT_ALONE = (
    "The log was not looked at: this hub is not yours alone, and the log does not say who said"
    " what. Give your own conversation: `holdfast flush --from -` reads it, `messages` takes it."
)
# Another flush may run at the same time.
_ATTEMPTS = 5


def flush(
    core: Core,
    home: str,
    hub: Hub,
    *,
    messages: Iterable[Any] | str | None = None,
    session: str | None = None,
    part: Callable[[str], str] | None = None,
) -> Flushed:
    """The prompt, and what was captured: from the log, or from the given conversation (a
    transcript, or messages with role and content). `part` selects the part of a user's words that
    belongs to this hub."""
    core.require("write")
    session = clean_session(session)
    given = None if messages is None else list(_from_conversation(core, hub, messages, session))
    for _ in range(_ATTEMPTS):
        heard = given if given is not None else _from_log(core, hub, session)
        if heard is None:
            return Flushed(prompt("flush"), note=NOT_ALONE)
        new, left_out = _unseen(core, hub, heard)
        try:
            noted = _capture(core, home, hub, new, part)
        except Conflict:
            # Another flush has processed some of them meanwhile.
            continue
        return Flushed(prompt("flush"), len(new), noted, left_out, _left_out_note(left_out))
    raise Conflict("Others are flushing this hub all the time.", hint="Try again later.")


def _left_out_note(left_out: int) -> str:
    if not left_out:
        return ""
    turns = "1 older turn was" if left_out == 1 else f"{left_out} older turns were"
    return (
        f"{turns} not looked at: a flush takes the newest {TURNS_MAX} that users said."
        f" Give older ones by themselves, at most {TURNS_MAX} at a time."
    )


def _capture(
    core: Core, home: str, hub: Hub, heard: list[Heard], part: Callable[[str], str] | None
) -> tuple[Noted, ...]:
    heard = [one._replace(clock=core.local_clock(one.at)) for one in heard]
    turns = [Proposed(one._replace(user=part(one.user)) if part else one) for one in heard]
    vector_of = vectors(core)
    for one in turns:
        by_rules(one, vector_of=vector_of)
    dropped = [drop for one in turns for drop in one.dropped]
    noted: list[Noted] = []

    def finish(writer: Writer, taken: list[Noted]) -> None:
        marks = set(seen(writer, hub.id))
        if any(mark_of(one.user) in marks for one in heard):
            raise Conflict("These turns were looked at meanwhile.")
        mark_seen(core, writer, hub.id, [one.user for one in heard])
        capture_stats.note(core, writer, hub.id, [*taken, *dropped])

    if heard:
        days = [turn.heard.at.date() for turn in turns if turn.proposals]
        with synced_files(core, home, hub, days):
            noted = take(core, hub, turns, finish, reason="captured before a compaction")
    return (*noted, *dropped)


def _unseen(core: Core, hub: Hub, heard: list[Heard]) -> tuple[list[Heard], int]:
    """The newest turns that were not processed yet, each once, oldest first; and the number of
    older ones."""
    with core.store.read() as reader:
        marks = set(seen(reader, hub.id))
    found: dict[str, Heard] = {}
    for one in heard[-TURNS_MAX:]:
        mark = mark_of(one.user)
        if mark not in marks:
            found.setdefault(mark, one)
    older = {mark_of(one.user) for one in heard[:-TURNS_MAX]}
    return list(found.values()), len(older - marks - found.keys())


def _from_log(core: Core, hub: Hub, session: str | None) -> list[Heard] | None:
    """The users' turns in the log, oldest first; None if somebody else may have said them."""
    with core.read() as reader:
        there = require_hub(reader, hub.id, hub.name)
        alone = core.permit is None and is_alone(reader, there, core.actor)
        if not alone or others_logged(reader, hub.id, core.actor):
            return None
        # Every other one is an assistant's.
        newest = reader.turns(hub.id, limit=2 * TURNS_MAX, session=session)
        hidden = Withheld(reader, Scope(core, hub.id, hub.name))
        newest = [turn for turn in newest if not hidden.parts(turn)]
    return [
        Heard(turn.content[:USER_CHARS_MAX], "", turn.at, turn.session, {"user": turn.id})
        for turn in reversed(newest)
        if turn.role == "user" and turn.trust == "user"
    ]


# A given conversation


def _from_conversation(
    core: Core, hub: Hub, messages: Iterable[Any] | str, session: str | None
) -> Iterator[Heard]:
    now = core.now()
    said = list(_messages_of_users(messages))
    spoken = core.redactor.conversation([words for _, words, _ in said])
    for (speaker, _, at), words in zip(said, spoken, strict=True):
        name = speaker.strip()
        if name.lower() in _NO_PEOPLE or not clean.is_visible(words):
            continue
        words = clean.clean_content(words, bytes_max=core.settings["content.bytes_max"])
        # Cleaned as in the log, so that it is recognised there.
        words = core.redactor.text(with_echo_marked(core, hub.id, words))
        named = "" if name.lower() in _USERS else name
        yield Heard(words[:USER_CHARS_MAX], "", at or now, session, speaker=named)


def _messages_of_users(messages: Iterable[Any] | str) -> Iterator[tuple[str, str, datetime | None]]:
    if isinstance(messages, str):
        from holdfast.text.capture.transcript import said_in

        found = said_in(without_private(messages))
        yield from ((one.speaker, one.words, one.at) for one in found)
        return
    if not hasattr(messages, "__iter__"):
        raise InvalidInput(f"The messages must be a list, not {type(messages).__name__}.")
    for one in messages:
        role = one.get("role") if isinstance(one, Mapping) else None
        if not isinstance(one, Mapping) or not isinstance(role, str) or not role.strip():
            raise InvalidInput(
                "A message must have a role and a content.",
                hint='For example: {"role": "user", "content": "Hello"}',
            )
        text = without_private(_text(one.get("content")))
        yield role, text, clean.clean_time(one.get("at"))


def _text(content: Any) -> str:
    """The text of a string or a list of parts. Other parts of a person's message, such as the
    result of a tool or a document, are not the person's words."""
    if isinstance(content, (list, tuple)):
        parts = [
            part.get("text") if isinstance(part, Mapping) else part
            for part in content
            if not isinstance(part, Mapping) or part.get("type", "text") in _TEXT_PARTS
        ]
        return "\n\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
