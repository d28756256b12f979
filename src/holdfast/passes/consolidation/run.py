"""Consolidation: promotes lasting facts from the journals to long-term memory, merges memories that
say the same, and retires outdated ones. The steps: gather, propose (by rules, and by a model if
there is one), check, limit, apply.

A plan is applied in one transaction as one change set, which one undo reverts. A promoted memory is
new and refers to its sources, which stay in the journal. Merged or retired memories are archived or
superseded with a link. Nothing is deleted, and a step that is no longer possible is refused by
itself.

A run is skipped if the journals are empty, if another run is active, or if nothing has changed
since the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.memory import MADE_FROM, TRUSTS, Draft, Memory, made_from
from holdfast.engine.core import Core, Scope
from holdfast.engine.upkeep.model_usage import limits_of, metered_model
from holdfast.engine.writing.drafts import Prepared, prepare
from holdfast.engine.writing.recorder import Recorder
from holdfast.errors import InvalidInput, InvalidSetting, ModelError
from holdfast.passes.consolidation import (
    BY_RULES,
    HASH_CHARS,
    Consolidated,
    Done,
    Plan,
    Refused,
    Step,
    parse,
    with_sources,
)
from holdfast.passes.consolidation.checks import bounded, survivor, why_not_applicable
from holdfast.passes.consolidation.material import (
    DAYS,
    Gathered,
    gather,
    last_hash,
    note_hash,
    note_run,
    origin_of,
    said_at,
    voice,
)
from holdfast.passes.consolidation.model import ask_model
from holdfast.passes.consolidation.rules import once_each, propose
from holdfast.passes.schedule import Periodic, taking_turn
from holdfast.text.clean import TAGS_MAX

if TYPE_CHECKING:
    from holdfast.llm import Model
    from holdfast.passes.schedule import Singleton
    from holdfast.settings import Settings
    from holdfast.store.base import Reader, Writer


# Applying a plan


class Applied(NamedTuple):
    """The applied and the refused steps of a consolidation, the change set, and the differences in
    long-term memory."""

    done: tuple[Done, ...]
    refused: tuple[Refused, ...]
    change: str | None
    diff: tuple[str, ...]


def apply(scope: Scope, plan: Plan, *, noted: Callable[[Writer, str, list[Step]], None]) -> Applied:
    """Applies the steps of a plan of consolidation that are still possible. `noted` is called in
    the transaction, with the applied steps and their change set."""
    hashes = {source.number: source.hash for source in plan.sources}
    ready, refused = _looked_over(scope, plan)
    done: list[Done] = []
    diff: list[str] = []
    with scope.write() as writer:
        reason = f"consolidated by {plan.by}"
        recorder = Recorder(scope, writer, "consolidate", reason=reason)
        for step, made in ready:
            # Read again: others may have written, and so have the steps before.
            now = _memories_named(writer, scope.hub_id, [step])
            why = _reason_outdated(step, now, hashes) or why_not_applicable(step, now, scope.now())
            why = why or _reason_known(writer, scope.hub_id, step, now)
            if why:
                refused.append(Refused(step, why))
                continue
            doing = _Doing(recorder, now, made)
            done.append(Done(step, doing.do(step)))
            diff += doing.diff
        change = recorder.change.id if recorder.written else None
        noted(writer, recorder.change.id, [one.step for one in done])
    recorder.embed()
    refused.sort(key=lambda one: plan.steps.index(one.step))
    return Applied(tuple(done), tuple(refused), change, tuple(diff))


def look_over(scope: Scope, plan: Plan) -> tuple[Refused, ...]:
    """The steps of a plan of consolidation that would be refused now. Writes nothing."""
    return tuple(_looked_over(scope, plan)[1])


def _looked_over(
    scope: Scope, plan: Plan
) -> tuple[list[tuple[Step, Prepared | None]], list[Refused]]:
    """The possible steps, each with the memory that it adds; and the refused ones."""
    hashes = {source.number: source.hash for source in plan.sources}
    with scope.read() as reader:
        memories = _memories_named(reader, scope.hub_id, plan.steps)
        said = {
            step: _reason_known(reader, scope.hub_id, step, memories)
            for step in plan.steps
            if not why_not_applicable(step, memories, scope.now())
        }
    ready: list[tuple[Step, Prepared | None]] = []
    refused: list[Refused] = []
    for step in plan.steps:
        why = _reason_outdated(step, memories, hashes) or why_not_applicable(
            step, memories, scope.now()
        )
        why = why or said[step]
        made = None
        if not why:
            made, why = _prepared(scope, step, memories)
        if why:
            refused.append(Refused(step, why))
        else:
            ready.append((step, made))
    return ready, refused


def _memories_named(reader: Reader, hub_id: str, steps: Iterable[Step]) -> dict[int, Memory]:
    numbers = dict.fromkeys(number for step in steps for number in step.named)
    found = ((number, reader.memory_by_number(hub_id, number)) for number in numbers)
    return {number: memory for number, memory in found if memory is not None}


def _reason_outdated(step: Step, memories: Mapping[int, Memory], hashes: Mapping[int, str]) -> str:
    """The reason why the memories of a step differ from the plan."""
    for number in step.named:
        if number not in hashes:
            return f"#{number} is not among the sources of the plan"
        memory = memories.get(number)
        if memory is not None and not memory.content_hash.startswith(hashes[number][:HASH_CHARS]):
            return f"#{number} says something else since the plan was made; make a new one"
    return ""


def _reason_known(reader: Reader, hub_id: str, step: Step, memories: Mapping[int, Memory]) -> str:
    if step.kind != "promote":
        return ""
    from holdfast.text.clean import content_hash

    source = voice(memories[step.sources[0]])
    for other in reader.memories_by_hash(hub_id, content_hash(step.text)):
        shown = other.layer == "long_term" and other.visible and other.state != "archived"
        if shown and other.superseded_by is None and voice(other) == source:
            return f"#{other.number} says so already"
    return ""


# New memories


def _prepared(
    scope: Scope, step: Step, memories: Mapping[int, Memory]
) -> tuple[Prepared | None, str]:
    """The new memory of a step, checked and embedded before the transaction; or the reason why
    there cannot be one."""
    sources = [memories[number] for number in step.sources]
    if step.kind == "retire" or (step.kind == "merge" and survivor(step, sources)):
        return None, ""
    try:
        made = next(iter(prepare(scope, [_draft(step, sources)])))
    except InvalidInput as error:
        return None, error.message.rstrip(".").lower()
    if made.memory.quarantine:
        return None, f"it would wait for review: {made.memory.quarantine}"
    return made, ""


def _draft(step: Step, sources: Sequence[Memory]) -> Draft:
    """A memory made from others is at most as trusted, and visible to at most the same people, as
    they are."""
    first = sources[0]
    speakers = {memory.speaker for memory in sources}
    tags = dict.fromkeys(tag for memory in sources for tag in memory.tags)
    return Draft(
        content=step.text,
        category=step.category or first.category,
        tags=tuple(tags)[:TAGS_MAX],
        kind=first.kind if first.kind != "episodic" else None,
        boundary=first.boundary,
        layer="long_term",
        pinned=any(memory.pinned for memory in sources),
        trust=max((memory.trust for memory in sources), key=TRUSTS.index),
        source="extraction",
        speaker=first.speaker if len(speakers) == 1 else None,
        parent=first.id,
        # Like a fact that is promoted when it is said: valid since then, at the latest.
        valid_from=min(map(said_at, sources)) if step.kind == "promote" else None,
        occurred_at=max(map(said_at, sources)),
        metadata=origin_of(sources),
    )


class _Doing:
    """One step inside the transaction."""

    def __init__(
        self, recorder: Recorder, memories: Mapping[int, Memory], made: Prepared | None
    ) -> None:
        self._recorder, self._memories, self._made = recorder, memories, made
        self.diff: list[str] = []

    def do(self, step: Step) -> Memory:
        sources = [self._memories[number] for number in step.sources]
        if step.kind == "promote":
            return self._promote(step)
        if step.kind == "merge":
            return self._merge(step, sources)
        return self._retire(step, sources)

    def _add(self, supersedes: str | None) -> Memory:
        assert self._made is not None, "prepared for every step that makes a memory"
        new = self._made.memory._replace(supersedes=supersedes)
        memory = self._recorder.add(new, self._made.indexed)
        self.diff.append(_diff_line("+", memory))
        return memory

    def _promote(self, step: Step) -> Memory:
        if step.replaces is None:
            return self._add(None)
        old = self._memories[step.replaces]
        memory = self._add(old.id)
        newest = max((self._memories[number] for number in step.sources), key=said_at)
        self._supersede(old, memory, newest)
        return memory

    def _supersede(self, old: Memory, by: Memory, since: Memory) -> None:
        """Ends the old memory at the time when the new words were said."""
        ended = old.valid_until or said_at(since)
        if old.valid_from is not None and ended < old.valid_from:
            ended = self._recorder.change.at
        self._recorder.revise(old, superseded_by=by.id, valid_until=ended)
        self.diff.append(_diff_line("-", old))

    def _merge(self, step: Step, sources: Sequence[Memory]) -> Memory:
        stays = survivor(step, sources)
        ids = [memory.id for memory in sources if memory is not stays]
        if stays is None:
            memory = self._add(ids[0])
        else:
            memory = self._recorder.revise(stays, **_taken_over(stays, sources, ids))
        reason = f"merged into #{memory.number}"
        for old in sources:
            if old is not stays:
                self._recorder.revise(
                    old, superseded_by=memory.id, state="archived", state_reason=reason
                )
                self.diff.append(_diff_line("-", old))
        return memory

    def _retire(self, step: Step, sources: Sequence[Memory]) -> Memory:
        by = None if step.replaced_by is None else self._memories[step.replaced_by]
        for memory in sources:
            if by is not None and by.supersedes is None:
                by = self._recorder.revise(by, supersedes=memory.id)
                self._supersede(memory, by, by)
                continue
            # A memory supersedes one; for the others it is only the reason.
            reason = step.reason or "it was retired"
            if by is not None:
                reason = f"replaced by #{by.number}"
            self._recorder.revise(memory, state="archived", state_reason=reason)
            self.diff.append(_diff_line("-", memory))
        return by or sources[0]


def _taken_over(stays: Memory, sources: Sequence[Memory], ids: list[str]) -> dict[str, Any]:
    tags = dict.fromkeys(tag for memory in (stays, *sources) for tag in memory.tags)
    return {
        "tags": tuple(tags)[:TAGS_MAX],
        "supersedes": stays.supersedes or ids[0],
        "metadata": {**stays.metadata, MADE_FROM: [*made_from(stays), *ids][-_SOURCES_KEPT:]},
    }


# Metadata is bounded; more than this many are found by their links in the other direction.
_SOURCES_KEPT = 500


def _diff_line(sign: str, memory: Memory) -> str:
    words = " ".join(memory.content.split())
    return f"{sign} #{memory.number} [{memory.category}] {words}"


# Running


NAME = "consolidate"
NO_JOURNALS = f"there is no journal entry of the last {DAYS} days"
RUNNING = "another consolidation of this hub is running"
UNCHANGED = "nothing has changed since the last one"
# A run calls a model for at most a minute, and writes. After this time, one that died is replaced.
_LASTS = timedelta(minutes=10)


def plan_consolidation(scope: Scope) -> Plan:
    """The plan of a consolidation now, with the refused steps and reasons. Writes nothing."""
    scope.require("manage")
    model = _model(scope.core, scope.hub_id)
    return _make_plan(scope.core, scope.hub, model, gather(scope, by=_name_of(model)))


def consolidate(
    scope: Scope,
    *,
    plan: Plan | str | None = None,
    dry_run: bool = False,
    backup: Callable[[], str | None] = lambda: None,
) -> Consolidated:
    """Applies the given plan of consolidation, or makes one. `backup` copies MEMORY.md before the
    first write, and returns the path."""
    scope.require("manage")
    if isinstance(plan, str):
        plan = parse(plan)
    if plan is not None and not isinstance(plan, Plan):
        raise InvalidInput(
            f"A plan must be a Plan or its text, not {type(plan).__name__}.",
            hint="`plan_consolidation()` makes one.",
        )
    if plan is not None and plan.hub != scope.hub:
        raise InvalidInput(
            f"This plan is for the hub `{plan.hub}`, and not for `{scope.hub}`.",
            hint=f"Apply it to the hub `{plan.hub}`.",
            command=f"`holdfast --hub {plan.hub} consolidate --apply FILE` does it there.",
        )
    plan = plan and _without_secrets(scope.core, plan)
    if dry_run and plan is not None:
        return Consolidated(plan, refused=look_over(scope, plan))
    model = (
        _model(scope.core, scope.hub_id)
        if plan is None
        else _model_if_right(scope.core, scope.hub_id)
    )
    by = _name_of(model)
    if dry_run:
        return Consolidated(_make_plan(scope.core, scope.hub, model, gather(scope, by=by)))
    with taking_turn(scope.core, scope.hub_id, NAME, lasts=_LASTS) as free:
        if not free:
            return _skipped(scope, RUNNING)
        if plan is None:
            found = gather(scope, by=by)
            if not found.material.journal:
                return _skipped(scope, NO_JOURNALS)
            if found.hash == last_hash(scope.core, scope.hub_id):
                return _skipped(scope, UNCHANGED)
            plan = _make_plan(scope.core, scope.hub, model, found)
        done = _apply_plan(scope, plan, backup, free)
        note_hash(scope, gather(scope, by=by).hash)
    return done


def _without_secrets(core: Core, plan: Plan) -> Plan:
    """The plan with redacted texts: then they equal stored ones, and a preview reveals no
    secret."""
    clean = core.redactor.text
    return plan._replace(
        steps=tuple(step._replace(text=clean(step.text)) for step in plan.steps),
        sources=tuple(source._replace(text=clean(source.text)) for source in plan.sources),
    )


def _skipped(scope: Scope, why: str) -> Consolidated:
    with scope.core.store.read() as reader:
        # A removed hub is an error, not a reason to skip.
        scope.require_hub(reader)
    return Consolidated(Plan(scope.hub, scope.now()), skipped=why)


def _model(core: Core, hub_id: str) -> Model | None:
    return metered_model(core, hub_id, NAME, core.settings["memConsolidate.model"])


def _model_if_right(core: Core, hub_id: str) -> Model | None:
    """None for a given plan, so that an invalid model setting does not matter."""
    try:
        return _model(core, hub_id)
    except (InvalidSetting, ModelError):
        return None


def _name_of(model: Model | None) -> str:
    return BY_RULES if model is None else model.name


def _make_plan(core: Core, hub: str, model: Model | None, found: Gathered) -> Plan:
    material, notes = found.material, list(found.notes)
    if not material.journal:
        return Plan(hub, material.now, _name_of(model), notes=(f"{NO_JOURNALS.capitalize()}.",))
    steps: list[Step] = []
    refused: list[Refused] = []
    by = BY_RULES
    if model is not None:
        try:
            heard = ask_model(model, material, limits_of(core), core.redactor.text)
        except ModelError as error:
            notes.append(f"The model could not be asked, so the rules made this plan: {error}")
        else:
            by = model.name
            steps, refused = heard.steps, heard.refused
            notes += heard.notes
    ruled = propose(material)
    fitting = [
        step
        for step in ruled.steps
        if not why_not_applicable(step, material.memories, material.now)
    ]
    # The model's steps take precedence; rules that say the same add nothing.
    kept = bounded(once_each([*steps, *fitting], material.memories), material)
    plan = Plan(
        hub,
        material.now,
        by,
        tuple(kept.steps),
        (*refused, *ruled.refused, *kept.refused),
        notes=(*notes, *kept.notes),
    )
    return with_sources(plan, material.memories)


def _apply_plan(
    scope: Scope, plan: Plan, backup: Callable[[], str | None], turn: Singleton
) -> Consolidated:
    spoken = {number for step in plan.steps for number in step.named}
    spoken |= {number for one in plan.refused for number in one.step.named}
    # Sources that no step names belong to lines that a person removed.
    declined = {source.number for source in plan.sources} - spoken

    kept: str | None = None

    def noted(writer: Writer, change: str, steps: list[Step]) -> None:
        nonlocal kept
        turn.require(writer)
        note_run(scope.core, writer, scope.hub_id, change, steps, declined)
        if steps:
            # Only now is it certain that there is something to do: applying a plan again must not
            # overwrite the backup with the current MEMORY.md.
            kept = backup()

    applied = apply(scope, plan, noted=noted)
    return Consolidated(
        plan,
        applied.done,
        applied.refused,
        applied.change,
        diff=applied.diff,
        backup=kept if applied.change else None,
    )


def _every(settings: Settings) -> timedelta | None:
    if not settings["memConsolidate.enabled"]:
        return None
    return timedelta(hours=settings["memConsolidate.intervalHours"])


PERIODIC = Periodic(NAME, _every, lambda hub: hub.consolidate())
