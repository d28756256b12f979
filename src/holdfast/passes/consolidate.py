"""Consolidation: what has shown in the journals that it lasts becomes long-term memory, what says
the same becomes one, and what no longer holds leaves. Here is the order of steps: gather, propose
(by rules, and by a model where there is one), check, bound, apply.

It is skipped where there is nothing in the journals, while another run is at it, and where nothing
has changed since the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.engine.core import Core
from holdfast.engine.scope import Scope
from holdfast.engine.upkeep.model_usage import limits_of, metered_model
from holdfast.errors import InvalidInput, InvalidSetting, ModelError
from holdfast.passes.consolidate_apply import apply, look_over
from holdfast.passes.consolidate_checks import misfit
from holdfast.passes.consolidate_material import (
    DAYS,
    Gathered,
    gather,
    last_hash,
    note_hash,
    note_run,
)
from holdfast.passes.consolidate_model import ask_model
from holdfast.passes.consolidate_plan import BY_RULES, Consolidated, Plan, Refused, with_sources
from holdfast.passes.consolidate_room import bounded
from holdfast.passes.consolidate_rules import once_each, propose
from holdfast.passes.consolidate_text import parse
from holdfast.passes.schedule import Periodic, taking_turn

if TYPE_CHECKING:
    from holdfast.engine.jobs.singleton import Singleton
    from holdfast.llm.base import Model
    from holdfast.passes.consolidate_plan import Step
    from holdfast.settings import Settings
    from holdfast.store.base import Writer

NAME = "consolidate"
NO_JOURNALS = f"there is no journal entry of the last {DAYS} days"
RUNNING = "another consolidation of this hub is running"
UNCHANGED = "nothing has changed since the last one"
# A run is a talk with a model, a minute at most, and a write. One that died is taken over soon.
_LASTS = timedelta(minutes=10)


def plan_consolidation(scope: Scope) -> Plan:
    """What a consolidation would do now, and what it would not and why. Writes nothing."""
    scope.require("manage")
    model = _model(scope.core, scope.hub_id)
    return _planned(scope.core, scope.hub, model, gather(scope, by=_name_of(model)))


def consolidate(
    scope: Scope,
    *,
    plan: Plan | str | None = None,
    dry_run: bool = False,
    backup: Callable[[], str | None] = lambda: None,
) -> Consolidated:
    """Does a plan: the one that is given, or one that is made now. `backup` keeps MEMORY.md as it
    is, before a write takes effect, and answers where."""
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
            hint=f"`holdfast --hub {plan.hub} consolidate --apply FILE` does it there.",
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
        return Consolidated(_planned(scope.core, scope.hub, model, gather(scope, by=by)))
    with taking_turn(scope.core, scope.hub_id, NAME, lasts=_LASTS) as free:
        if not free:
            return _skipped(scope, RUNNING)
        if plan is None:
            found = gather(scope, by=by)
            if not found.material.journal:
                return _skipped(scope, NO_JOURNALS)
            if found.hash == last_hash(scope.core, scope.hub_id):
                return _skipped(scope, UNCHANGED)
            plan = _planned(scope.core, scope.hub, model, found)
        done = _done(scope, plan, backup, free)
        note_hash(scope, gather(scope, by=by).hash)
    return done


def _without_secrets(core: Core, plan: Plan) -> Plan:
    """The words as they would be stored: so they are known again, and a preview shows no more."""
    clean = core.redactor.text
    return plan._replace(
        steps=tuple(step._replace(text=clean(step.text)) for step in plan.steps),
        sources=tuple(source._replace(text=clean(source.text)) for source in plan.sources),
    )


def _skipped(scope: Scope, why: str) -> Consolidated:
    with scope.core.store.read() as reader:
        # A hub that is gone is no reason to skip.
        scope.require_hub(reader)
    return Consolidated(Plan(scope.hub, scope.now()), skipped=why)


def _model(core: Core, hub_id: str) -> Model | None:
    return metered_model(core, hub_id, NAME, core.settings["memConsolidate.model"])


def _model_if_right(core: Core, hub_id: str) -> Model | None:
    """For a plan that is given: nobody is asked, and a setting that is wrong stops nothing."""
    try:
        return _model(core, hub_id)
    except (InvalidSetting, ModelError):
        return None


def _name_of(model: Model | None) -> str:
    return BY_RULES if model is None else model.name


def _planned(core: Core, hub: str, model: Model | None, found: Gathered) -> Plan:
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
    fitting = [step for step in ruled.steps if not misfit(step, material.memories, material.now)]
    # What a model has said about a memory comes first; rules that say the same add nothing.
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


def _done(
    scope: Scope, plan: Plan, backup: Callable[[], str | None], turn: Singleton
) -> Consolidated:
    spoken = {number for step in plan.steps for number in step.named}
    spoken |= {number for one in plan.refused for number in one.step.named}
    # Sources that no line speaks of any more belong to lines that a person took out.
    declined = {source.number for source in plan.sources} - spoken

    kept: str | None = None

    def noted(writer: Writer, change: str, steps: list[Step]) -> None:
        nonlocal kept
        turn.require(writer)
        note_run(scope.core, writer, scope.hub_id, change, steps, declined)
        if steps:
            # Only now is it certain that there is something to do: a plan that is given again must
            # not put MEMORY.md as it is now in the place of what it was.
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
