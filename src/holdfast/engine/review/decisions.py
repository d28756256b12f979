"""Questions for a person: an agent asks one with a few options, a person chooses one, and the
answer becomes a memory that recall finds.

An open question is stored like a memory that is held for review: neither recalled nor injected,
because it is not a fact yet. Open questions are counted inside the transaction that adds one, so
that two processes together cannot exceed the limit. Each step is a change set, and can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast.domain.memory import AWAITS, Draft, Memory, Source, Trust
from holdfast.domain.query import SHOWN_STATES, Filter
from holdfast.domain.results import (
    CATEGORY,
    DECIDES,
    OPEN_MAX,
    OPTIONS_LEAST,
    OPTIONS_MOST,
    Decision,
    decision_of,
    to_metadata,
)
from holdfast.engine.core import Scope
from holdfast.engine.reading.lookup import Reference, find_memory
from holdfast.engine.writing.drafts import clean_draft, clean_label, compose, prepare
from holdfast.engine.writing.recorder import Recorder
from holdfast.engine.writing.remember import store_draft
from holdfast.errors import Conflict, InvalidInput
from holdfast.store.values import every_memory
from holdfast.text.clean import is_visible

if TYPE_CHECKING:
    from holdfast.store.base import Reader

# A question and an option must fit on one line of a terminal or a phone; details belong in the
# context.
_QUESTION_CHARS_MAX = 500
_OPTION_CHARS_MAX = 200
_CONTEXT_CHARS_MAX = 4_000


def request_decision(
    scope: Scope,
    question: str,
    options: Sequence[str],
    context: str = "",
    *,
    trust: Trust = "agent",
    source: Source = "sdk",
    source_agent: str | None = None,
) -> Decision:
    """Asks a person to decide a question. If the same question with the same options is open
    already, it is not asked again."""
    redacted = scope.core.redactor.text
    asked = redacted(_line("question", question, _QUESTION_CHARS_MAX))
    choices = tuple(map(redacted, _options(options)))
    around = redacted(_context(context))
    draft = Draft(
        _asked_text(asked, choices, around),
        title=asked,
        category=CATEGORY,
        kind="rationale",
        tags=(),
        layer="library",
        trust=trust,
        source=source,
        source_agent=source_agent,
    )
    draft = clean_draft(scope.core, draft)
    bare = compose(draft, scope.core, scope.hub_id)._replace(quarantine=AWAITS)
    wanted = Decision(bare, asked, choices, around, "open")
    new = bare._replace(metadata=to_metadata(wanted))
    with scope.write() as writer:
        waiting = list(_open(writer, scope.hub_id))
        for other in waiting:
            if other.memory.content_hash == new.content_hash:
                return other
        if len(waiting) >= OPEN_MAX:
            numbers = ", ".join(f"#{other.memory.number}" for other in waiting)
            raise Conflict(
                f"There are {len(waiting)} open decisions in this hub already: {numbers}.",
                hint="Wait until a person has answered or withdrawn one.",
                command="Answer or withdraw one first: `holdfast decisions` shows them.",
            )
        recorder = Recorder(scope, writer, "remember", reason="asked for a decision")
        memory = recorder.add(new)
    recorder.embed()
    return wanted._replace(memory=memory)


def decisions(scope: Scope, *, every: bool = False) -> list[Decision]:
    """The questions for a person that are open, oldest first; with `every`, also those that were
    decided or withdrawn."""
    with scope.read() as reader:
        found = list(_open(reader, scope.hub_id))
        if every:
            settled = Filter(states=("archived",), categories=(CATEGORY,))
            found += _among(reader, scope.hub_id, settled)
    return sorted(found, key=lambda decision: decision.memory.number)


def decide(
    scope: Scope, reference: Reference, option: str | int, *, note: str = "", source: Source = "sdk"
) -> Decision:
    """Records a person's answer: an option by its text or number, and a note. It becomes a memory
    of its own, and the question is archived."""
    note = scope.core.redactor.text(clean_label("note", note))
    if isinstance(option, str):
        option = scope.core.redactor.text(option)
    with scope.read() as reader:
        seen = _undecided(find_memory(reader, scope, reference))
    chosen = _chosen(seen, option)
    draft = Draft(
        _answer_text(seen, chosen, note),
        title=f"Decided: {chosen} ({seen.question})",
        category=CATEGORY,
        kind="rationale",
        tags=(),
        trust="user",
        source=source,
        parent=seen.memory.id,
        metadata={DECIDES: seen.memory.id},
    )
    # Embedded before the transaction begins.
    (item,) = prepare(scope, [draft])
    with scope.write() as writer:
        current = _require_open(writer, scope, seen)
        recorder = Recorder(scope, writer, "remember", reason=f"decided: {chosen}")
        answer = store_draft(writer, recorder, scope, item).memory
        decided = current._replace(status="decided", option=chosen, note=note, answer=answer.id)
        memory = _archive_question(recorder, decided, f"decided: {chosen}")
    recorder.embed()
    return decided._replace(memory=memory)


def withdraw_decision(scope: Scope, reference: Reference, *, note: str = "") -> Decision:
    """Withdraws an unanswered question for a person; it stays stored, but is no longer open."""
    note = scope.core.redactor.text(clean_label("note", note))
    with scope.write() as writer:
        current = _undecided(find_memory(writer, scope, reference))
        recorder = Recorder(scope, writer, "archive", reason="withdrew a question")
        withdrawn = current._replace(status="withdrawn", note=note)
        memory = _archive_question(
            recorder, withdrawn, f"withdrawn: {note}" if note else "withdrawn"
        )
    return withdrawn._replace(memory=memory)


# Finding questions


def _open(reader: Reader, hub_id: str) -> Iterator[Decision]:
    wanted = Filter(states=SHOWN_STATES, categories=(CATEGORY,), quarantined=True)
    return (found for found in _among(reader, hub_id, wanted) if found.status == "open")


def _among(reader: Reader, hub_id: str, wanted: Filter) -> Iterator[Decision]:
    found = map(decision_of, every_memory(reader, hub_id, wanted))
    return (one for one in found if one is not None)


def _undecided(memory: Memory) -> Decision:
    found = decision_of(memory)
    if found is None:
        raise InvalidInput(
            f"Memory #{memory.number} is no question for you to decide.",
            hint="List the decisions to see which are open.",
            command="`holdfast decisions` shows those that are open.",
        )
    if found.status != "open":
        said = f"decided already: {found.option}" if found.status == "decided" else "withdrawn"
        raise Conflict(
            f"Decision #{memory.number} was {said}.",
            hint="Undo takes back what was done last; or let the agent ask again.",
            command="`holdfast undo` takes back what was done last; or let the agent ask again.",
        )
    return found


def _require_open(reader: Reader, scope: Scope, seen: Decision) -> Decision:
    """The question inside the write transaction; it must still be the one that was answered."""
    current = _undecided(find_memory(reader, scope, seen.memory.id))
    if (current.question, current.options) != (seen.question, seen.options):
        raise Conflict(
            f"Decision #{seen.memory.number} was changed while you decided.",
            hint="Look at it again.",
        )
    return current


def _archive_question(recorder: Recorder, decision: Decision, reason: str) -> Memory:
    return recorder.revise(
        decision.memory,
        quarantine="",
        state="archived",
        state_reason=reason,
        metadata=to_metadata(decision),
    )


# Texts


def _line(what: str, text: str, chars_max: int) -> str:
    if not isinstance(text, str) or not is_visible(text):
        raise InvalidInput(f"The {what} is empty.", hint=f"Write the {what} in a few words.")
    line = " ".join(text.split())
    if len(line) > chars_max:
        raise InvalidInput(
            f"The {what} has {len(line)} characters; at most {chars_max} are allowed.",
            hint="Keep it to a line, and put the rest into the context.",
        )
    return clean_label(what, line)


def _options(options: Sequence[str]) -> tuple[str, ...]:
    if isinstance(options, str) or not OPTIONS_LEAST <= len(options) <= OPTIONS_MOST:
        count = "one text" if isinstance(options, str) else str(len(options))
        raise InvalidInput(
            f"A decision has {OPTIONS_LEAST} to {OPTIONS_MOST} options, not {count}.",
            hint="Name the ones worth choosing between.",
        )
    lines = tuple(_line("option", option, _OPTION_CHARS_MAX) for option in options)
    if len({line.casefold() for line in lines}) < len(lines):
        raise InvalidInput(
            "Two options are the same.", hint="Each option must be one that differs from the rest."
        )
    return lines


def _context(text: str) -> str:
    if not isinstance(text, str):
        raise InvalidInput(f"The context must be text, not {type(text).__name__}.")
    if len(text) > _CONTEXT_CHARS_MAX:
        raise InvalidInput(
            f"The context has {len(text)} characters; at most {_CONTEXT_CHARS_MAX} are allowed.",
            hint="Say what the person needs to know to decide, and no more.",
        )
    return text.strip()


def _chosen(decision: Decision, option: str | int) -> str:
    """By its text first: an option may be a number itself."""
    said = " ".join(str(option).split())
    for choice in decision.options:
        if choice.casefold() == said.casefold():
            return choice
    place = said.removeprefix("#")
    if place.isdecimal() and 1 <= int(place[:3]) <= len(decision.options):
        return decision.options[int(place[:3]) - 1]
    listed = "; ".join(f"{at}: {choice}" for at, choice in enumerate(decision.options, 1))
    raise InvalidInput(
        f"{said[:80]!r} is no option of #{decision.memory.number}.", hint=f"Options are {listed}."
    )


def _asked_text(question: str, options: Sequence[str], context: str) -> str:
    lines = [question, "", *(f"{at}. {option}" for at, option in enumerate(options, 1))]
    return "\n".join([*lines, "", context] if context else lines)


def _answer_text(decision: Decision, chosen: str, note: str) -> str:
    others = "; ".join(option for option in decision.options if option != chosen)
    lines = [decision.question, f"Decided: {chosen}"]
    if note:
        lines.append(f"Why: {note}")
    return "\n".join([*lines, f"Not chosen: {others}"])
