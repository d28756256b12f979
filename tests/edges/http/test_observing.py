"""Automatic memory over REST: a turn is shown, noted by the worker, and told of."""

from __future__ import annotations

from pathlib import Path

import holdfast
from holdfast.passes.work import work_until_done
from holdfast.text.clean import clean_time
from tests.edges.client.servers import served
from tests.edges.http.conftest import Asking, House


def test_a_turn_is_logged_queued_and_noted_in_the_name_of_who_sent_it(tmp_path: Path) -> None:
    with House(tmp_path, **{"shadowJournal.enabled": True}) as house:
        house.memory.core.set_has_worker(True)
        ask = house.ask(house.member("ben", "contributor"))
        body = {"user": "I use vim for everything.", "assistant": "Nice.", "session": "s1"}
        answer = ask.post("/v1/observe", body)
        assert answer.status_code == 201
        told = answer.json()["data"]
        assert (told["queued"], [turn["role"] for turn in told["turns"]]) == (
            True,
            ["user", "assistant"],
        )
        assert [job["work"] for job in ask.get("/v1/jobs").json()["data"]] == ["journal"]
        work_until_done(house.memory.core, house.memory.home)
        (made,) = house.hub.list(layer="journal")
        assert (made.content, made.owner) == ("Uses vim for everything", "ben")
        (day,) = ask.get("/v1/captured").json()["data"]
        assert day["outcomes"] == {"queued": 1, "stored": 1}


def test_a_fact_is_dated_by_when_it_was_said_not_stored(tmp_path: Path) -> None:
    with House(tmp_path, **{"shadowJournal.enabled": True}) as house:
        house.memory.core.set_has_worker(True)
        ask = house.ask()
        said_at = "2024-05-03T10:00:00Z"
        ask.post("/v1/observe", {"user": "I am allergic to nuts.", "assistant": "", "at": said_at})
        work_until_done(house.memory.core, house.memory.home)
        (made,) = house.hub.list(layer="long_term")
        assert (made.dated, made.event_at) == (clean_time(said_at), None)
        then = {"since": "2024-05-01T00:00:00Z", "until": "2024-06-01T00:00:00Z"}
        later = {"since": "2024-06-01T00:00:00Z"}
        assert made.number in [one.number for one in house.hub.list(**then)]  # type: ignore[arg-type]
        assert house.hub.list(**later) == []  # type: ignore[arg-type]
        for window, count in ((then, 1), (later, 0)):
            listed = ask.get("/v1/memories", params={**window, "layer": "long_term"}).json()["data"]
            assert len(listed) == count
            hits = house.hub.recall("allergic to nuts", **window)  # type: ignore[arg-type]
            assert bool([hit for hit in hits if hit.memory.id == made.id]) is bool(count)
        # Said again today in so many words, it is the same fact.
        assert isinstance(house.hub.remember(made.content), holdfast.Duplicate)


def test_the_same_request_twice_is_one_turn(house: House, ask: Asking) -> None:
    for _ in range(2):
        headers = {"Idempotency-Key": "once"}
        body = {"user": "I use vim for everything.", "assistant": ""}
        assert ask.post("/v1/observe", body, headers=headers).status_code == 201
    assert len(house.hub.turns()) == 1


def test_a_flush_gives_the_prompt_and_captures_once(house: House, ask: Asking) -> None:
    messages = [{"role": "user", "content": "I use vim for everything."}]
    first = ask.post("/v1/flush", {"messages": messages}).json()["data"]
    assert "`remember`" in first["prompt"]
    assert [one["outcome"] for one in first["noted"]] == ["stored"]
    assert ask.post("/v1/flush", {"messages": messages}).json()["data"]["turns"] == 0


def test_a_flush_takes_nothing_from_a_log_that_others_write(house: House) -> None:
    ben, olga = house.ask(house.member("ben", "contributor")), house.ask()
    ben.post("/v1/observe", {"user": "I moved to Berlin.", "assistant": "Nice."})
    told = olga.post("/v1/flush", {}).json()["data"]
    assert (told["turns"], told["noted"], told["left_out"]) == (0, [], 0)
    assert "not yours alone" in told["note"]
    messages = [{"role": "user", "content": f"My locker is {n}."} for n in range(203)]
    assert olga.post("/v1/flush", {"messages": messages}).json()["data"]["left_out"] == 3


def test_a_client_is_used_like_the_library(tmp_path: Path) -> None:
    settings = {"embed.model": "none", "actor": "ada"}

    def walk(hub: holdfast.HubMemory) -> list[object]:
        seen = hub.observe_turn("I use vim for everything.", "Nice.", at="2026-01-14T12:00:00Z")
        flushed = hub.flush()
        again = hub.flush("User: I live in Berlin.\n")
        day = hub.captured()[0]
        turns = [(turn.role, turn.content, turn.at) for turn in seen.turns]
        return [turns, seen[1:], flushed, again, day.outcomes, day.reasons]

    with holdfast.open(tmp_path / "here", settings=settings) as memory:
        here = walk(memory.hub())
    with served(tmp_path / "there") as server, holdfast.Client(server.url) as client:
        there = walk(client.hub())  # type: ignore[arg-type]
    assert here == there
