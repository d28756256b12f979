"""The cost of language models, by day, pass and model; and the daily limit.

A metered model refuses to answer when the day's tokens are used up, and records the tokens of each
answer. No text and no key is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from holdfast.domain.records import NO_HUB, Record
from holdfast.domain.results import UsageRow
from holdfast.engine.core import Scope
from holdfast.errors import InvalidInput, ModelError
from holdfast.llm import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.engine.core import Core
    from holdfast.llm import Answer, Message, Model, ModelTool
    from holdfast.llm.tool_loop import Limits
    from holdfast.store.base import Reader, Writer

# Attachments count their bytes under `usage`.
KIND = "model-usage"
# A year and one month, to compare months of two years.
KEPT_DAYS = 400
# A name comes from a setting; a longer one would only make the rows large.
_NAME_CHARS_MAX = 200
_PAGE = 500
# Expired rows are removed with the next write, a few at a time.
_DROPPED_AT_ONCE = 50


def metered_model(core: Core, hub_id: str, work: str, name: str = "") -> Model | None:
    """The model for a pass in a hub, as `core.model` finds it, which records its cost."""
    model = core.model(name)
    return None if model is None else _Metered(core, hub_id, work, model)


def limits_of(core: Core, *, rounds: int = 2) -> Limits:
    """The limits of one conversation with a model, from the settings; the pass gives the number of
    rounds."""
    # The client of HTTP takes 20 ms to load, and most have no model.
    from holdfast.llm.tool_loop import Limits

    settings = core.settings
    return Limits(
        rounds=rounds,
        requests=settings["llm.requests_max"],
        tokens_in=settings["llm.tokens_in_max"],
        tokens_out=settings["llm.tokens_out_max"],
        seconds=settings["llm.seconds_max"],
    )


class _Metered:
    """A model that checks the daily limit and records its use."""

    def __init__(self, core: Core, hub_id: str, work: str, model: Model) -> None:
        self._core = core
        self._hub_id = hub_id
        self._work = work
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def ask(
        self,
        system: str,
        messages: Sequence[Message],
        *,
        tools: Sequence[ModelTool] = (),
        tokens_max: int,
        timeout_s: float,
    ) -> Answer:
        refuse_over_cap(self._core)
        try:
            answer = self._model.ask(
                system, messages, tools=tools, tokens_max=tokens_max, timeout_s=timeout_s
            )
        except ModelError as error:
            self._record(Usage(error.requests), failed=1)
            raise
        self._record(answer.usage, failed=0)
        return answer

    def _record(self, usage: Usage, *, failed: int) -> None:
        with self._core.store.write(hub=self._hub_id) as writer:
            record(self._core, writer, self._hub_id, self._work, self.name, usage, failed=failed)


def record(
    core: Core,
    writer: Writer,
    hub_id: str,
    work: str,
    model: str,
    usage: Usage,
    *,
    failed: int = 0,
) -> None:
    """Adds the tokens that a language model used to the row of today, this pass and this model, and
    to the day's sum of all hubs, which is limited."""
    now = core.now()
    day = _day(now)
    spent = {
        "requests": usage.requests,
        "failed": failed,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
    }
    name = model[:_NAME_CHARS_MAX]
    about = {"work": work, "model": name}
    # If the hub was deleted meanwhile, only the day's sum is written.
    if writer.hub_by_id(hub_id) is not None:
        _add(writer, hub_id, f"{day}/{work}/{name}", now, spent, about)
    _add(writer, NO_HUB, str(day), now, spent, {})
    for owner in (hub_id, NO_HUB):
        for old in writer.due_records(KIND, now, limit=_DROPPED_AT_ONCE, hub_id=owner):
            writer.drop_record(old.hub_id, KIND, old.id)


def _add(
    writer: Writer,
    hub_id: str,
    record_id: str,
    now: datetime,
    spent: Mapping[str, int],
    about: Mapping[str, Any],
) -> None:
    there = writer.record(hub_id, KIND, record_id)
    before = there.body if there is not None else {}
    sums = {name: before.get(name, 0) + count for name, count in spent.items()}
    due = now + timedelta(days=KEPT_DAYS)
    writer.put_record(Record(hub_id, KIND, record_id, now, {**about, **sums}, due=due))


def usage(scope: Scope, *, days: int) -> list[UsageRow]:
    """The model usage of a hub's passes in the last days including today; the newest day first,
    then by pass and model."""
    if not 1 <= days <= KEPT_DAYS:
        raise InvalidInput(
            f"You asked for {days} days; usage is kept for {KEPT_DAYS}.",
            hint=f"Give a number from 1 to {KEPT_DAYS}.",
        )
    first = _day(scope.now()) - timedelta(days=days - 1)
    with scope.read_unfiltered() as reader:
        rows = [_row(one) for one in _since(reader, scope.hub_id, first)]
    if scope.core.permit is not None:
        # The server of a model is shown only to the owner of the machine.
        rows = [row._replace(model=row.model.partition("@http")[0]) for row in rows]
    rows.sort(key=lambda row: (row.work, row.model))
    rows.sort(key=lambda row: row.day, reverse=True)
    return rows


def spent_today(core: Core) -> int:
    """The tokens of the language model of this UTC day, in and out, of all hubs."""
    with core.store.read() as reader:
        there = reader.record(NO_HUB, KIND, str(_day(core.now())))
    return 0 if there is None else there.body["tokens_in"] + there.body["tokens_out"]


def refuse_over_cap(core: Core) -> None:
    """Raises ModelError if the language model's tokens of the day are used up. The call that
    exceeds the limit is the last."""
    cap = core.settings["llm.tokens_per_day"]
    if cap and (spent := spent_today(core)) >= cap:
        raise ModelError(
            f"The {cap:,} tokens of language models for today are used up ({spent:,} were spent).",
            hint="It goes on tomorrow (UTC); `llm.tokens_per_day` sets how many there are.",
            requests=0,
        )


def _since(reader: Reader, hub_id: str, first: date) -> list[Record]:
    """The rows of that day and later: ids begin with the day, so they sort by day."""
    out: list[Record] = []
    after = str(first)
    while page := reader.records(hub_id, KIND, limit=_PAGE, after=after):
        out += page
        after = page[-1].id
    return out


def _row(one: Record) -> UsageRow:
    body = one.body
    return UsageRow(
        date.fromisoformat(one.id[:10]),
        body["work"],
        body["model"],
        body["requests"],
        body["failed"],
        body["tokens_in"],
        body["tokens_out"],
    )


def _day(now: datetime) -> date:
    return now.astimezone(UTC).date()
