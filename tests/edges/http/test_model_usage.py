"""What language models cost, over REST and through the client."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast.api.hub import HubMemory
from holdfast.domain.results import UsageRow
from holdfast.engine.upkeep.model_usage import record
from holdfast.errors import InvalidInput
from holdfast.llm import Usage
from tests.edges.client.servers import served
from tests.edges.http.conftest import Asking, House


def _spend(hub: HubMemory, work: str = "journal", model: str = "openai:tiny") -> UsageRow:
    core = hub.core
    with core.store.write() as writer:
        record(core, writer, hub.id, work, model, Usage(2, 70, 30), failed=1)
    return UsageRow(core.now().date(), work, model, 2, 1, 70, 30)


def test_usage_is_reported_by_day_pass_and_model(house: House, ask: Asking) -> None:
    row = _spend(house.hub)
    answer = ask.get("/v1/model-usage")
    assert answer.status_code == 200
    assert answer.json() == {"data": [{**row._asdict(), "day": row.day.isoformat()}]}


def test_a_caller_is_not_told_where_a_model_is_served(house: House) -> None:
    _spend(house.hub, model="openai:tiny@http://10.0.0.7:8000/v1")
    assert house.hub.usage()[0].model == "openai:tiny@http://10.0.0.7:8000/v1"
    ask = house.ask(house.member("vera", "viewer"))
    assert ask.get("/v1/model-usage").json()["data"][0]["model"] == "openai:tiny"


@pytest.mark.parametrize("days", ["0", "401", "many"])
def test_days_beyond_what_is_kept_are_refused(ask: Asking, days: str) -> None:
    assert ask.get(f"/v1/model-usage?days={days}").status_code == 400


def test_a_client_tells_the_same_as_the_library(tmp_path: Path) -> None:
    with served(tmp_path) as server, holdfast.Client(server.url) as client:
        here = server.memory.hub()
        rows = [_spend(here, "consolidate"), _spend(here, "journal")]
        assert here.usage() == rows
        hub = client.hub()
        assert hub.usage() == rows
        for days in (0, 401):
            with pytest.raises(InvalidInput):
                hub.usage(days=days)
