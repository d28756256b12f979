"""A memory with mem0's interface."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Holdfast
from holdfast.adapters.hubs import Hubs
from holdfast.adapters.mem0 import AsyncMemory, Memory

MOVIES = [
    {"role": "user", "content": "I'm planning to watch a movie tonight. Any recommendations?"},
    {"role": "assistant", "content": "How about a thriller? They can be quite engaging."},
    {"role": "user", "content": "I'm not a big fan of thrillers but I love sci-fi movies."},
    {"role": "assistant", "content": "Got it! I'll avoid thrillers and suggest sci-fi."},
]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path, settings={"embed.model": "none"}) as memory:
        yield memory


@pytest.fixture
def m(home: Holdfast) -> Memory:
    return Memory(memory=home)


def texts(answer: dict[str, Any]) -> list[str]:
    return sorted(item["memory"] for item in answer["results"])


def test_a_conversation_becomes_the_facts_that_the_user_states(m: Memory) -> None:
    added = m.add(MOVIES, user_id="alice", metadata={"category": "movies"})
    assert texts(added) == ["Is not a big fan of thrillers", "Loves sci-fi movies"]
    assert {item["event"] for item in added["results"]} == {"ADD"}
    answer = m.search("Which movies does she love?", filters={"user_id": "alice"}, explain=True)
    found = answer["results"][0]
    assert found["memory"] == "Loves sci-fi movies"
    assert found["metadata"] == {"category": "movies"}
    assert found["user_id"] == "alice"
    assert 0 < found["score"] <= 1
    assert found["score_details"]["why"]


def test_a_threshold_takes_the_place_of_what_recall_finds_too_unlikely(tmp_path: Path) -> None:
    """As with mem0, whose search gives the nearest memories from a threshold on."""
    with holdfast.open(tmp_path) as memory:
        m = Memory(memory=memory)
        m.add("I love sushi and I live in Rome", user_id="zoe")
        zoe = {"user_id": "zoe"}
        assert m.search("what does she like", filters=zoe) == {"results": []}
        nearest = m.search("what does she like", filters=zoe, threshold=0)["results"]
        assert [item["memory"] for item in nearest] == ["Loves sushi", "Lives in Rome"]
        assert m.search("what does she like", filters=zoe, threshold=0.5) == {"results": []}


def test_a_statement_that_no_rule_knows_is_kept_and_a_question_is_not(m: Memory) -> None:
    assert texts(m.add("Likes to play cricket on weekends", user_id="alice")) == [
        "Likes to play cricket on weekends"
    ]
    assert m.add("What should I cook tonight?", user_id="alice") == {"results": []}


def test_without_infer_every_message_is_kept_as_it_is(m: Memory) -> None:
    m.add([{"role": "system", "content": "Be brief."}, *MOVIES], user_id="alice", infer=False)
    found = m.get_all(filters={"user_id": "alice"})["results"]
    assert sorted(item["memory"] for item in found) == sorted(one["content"] for one in MOVIES)
    assert {item["role"] for item in found} == {"user", "assistant"}


def test_the_same_again_adds_nothing_and_a_new_value_updates(m: Memory) -> None:
    m.add("I live in Berlin", user_id="alice")
    [again] = m.add("I live in Berlin", user_id="alice")["results"]
    assert again["event"] == "NONE"
    [moved] = m.add("I live in Rome now", user_id="alice")["results"]
    assert (moved["event"], moved["previous_memory"]) == ("UPDATE", "Lives in Berlin")


@pytest.mark.parametrize("other", ["bob", "Alice", "alice.x", "ali", "älice"])
def test_users_see_nothing_of_each_other(m: Memory, other: str) -> None:
    m.add("I live in Berlin", user_id="alice")
    m.add("I live in Rome", user_id=other)
    assert texts(m.get_all(filters={"user_id": "alice"})) == ["Lives in Berlin"]
    assert texts(m.search("Where does she live?", filters={"user_id": other})) == ["Lives in Rome"]
    m.delete_all(user_id=other)
    assert texts(m.get_all(filters={"user_id": "alice"})) == ["Lives in Berlin"]
    assert m.get_all(filters={"user_id": other}) == {"results": []}


def test_agents_and_runs_are_scopes_of_their_own_and_within_users(m: Memory) -> None:
    m.add("Likes tea", user_id="alice", agent_id="cook", infer=False)
    m.add("Likes rice", user_id="bob", agent_id="cook", run_id="r1", infer=False)
    m.add("Speaks politely", agent_id="cook", infer=False)
    m.add("Was about tickets", run_id="r1", infer=False)

    def found(**scope: str) -> list[str]:
        return texts(m.get_all(filters=scope))

    assert found(user_id="alice") == ["Likes tea"]
    assert found(agent_id="cook") == ["Likes rice", "Likes tea", "Speaks politely"]
    assert found(run_id="r1") == ["Likes rice", "Was about tickets"]
    assert found(user_id="bob", agent_id="cook", run_id="r1") == ["Likes rice"]
    assert found(user_id="alice", run_id="r1") == []
    assert texts(m.search("What does it like?", agent_id="cook")) == ["Likes rice", "Likes tea"]
    m.delete_all(agent_id="cook")
    assert found(agent_id="cook") == []
    assert found(run_id="r1") == ["Was about tickets"]


def test_filters_have_mem0s_operators(m: Memory) -> None:
    for n, kind in ((1, "work"), (5, "home"), (9, "work")):
        metadata = {"priority": n, "category": kind, "tags": ["a", f"t{n}"], "a.b": n}
        m.add(f"Note number {n}", user_id="alice", metadata=metadata, infer=False)
    m.add("Without any", user_id="alice", infer=False)

    def numbers(**filters: Any) -> str:
        found = texts(m.get_all(filters={"user_id": "alice", **filters}))
        return "".join(text[-1] for text in found)

    assert numbers(category="work") == "19"
    assert numbers(priority={"gte": 5, "lt": 9}) == "5"
    assert numbers(priority={"in": [1, 9]}) == "19"
    assert numbers(priority={"nin": [1, 9]}) == "5y"
    assert numbers(category={"ne": "work"}) == "5y"
    assert numbers(category={"icontains": "WOR"}) == "19"
    assert numbers(tags={"contains": "t5"}) == "5"
    assert numbers(category="*") == "159"
    assert numbers(OR=[{"priority": 1}, {"priority": 5}]) == "15"
    assert numbers(NOT=[{"category": "work"}]) == numbers(NOT={"category": "work"}) == "5y"
    assert numbers(**{"$or": [{"priority": 1}, {"priority": 5}]}) == "15"
    assert numbers(created_at={"gte": "2020-01-01"}) == "159y"
    assert numbers(created_at={"lt": date(2020, 1, 1)}) == ""
    assert numbers(AND=[{"category": "work"}, {"priority": {"gt": 1}}]) == "9"
    assert numbers(**{"a.b": 5}) == "5"
    both = m.search("Note", filters={"AND": [{"user_id": "alice"}, {"priority": 9}]})
    assert texts(both) == ["Note number 9"]


def test_update_delete_and_history(m: Memory) -> None:
    [added] = m.add("Likes tea", user_id="alice", metadata={"a": 1}, infer=False)["results"]
    done = m.update(added["id"], text="Likes green tea", metadata={"b": 2, "user_id": "bob"})
    assert done == {"message": "Memory updated successfully!"}
    got = m.get(added["id"])
    assert got is not None
    assert (got["memory"], got["metadata"]) == ("Likes green tea", {"a": 1, "b": 2})
    assert got["user_id"] == "alice"
    m.update(added["id"], data="Likes oolong")
    m.delete(added["id"])
    assert m.get(added["id"]) is None
    names = ("event", "old_memory", "new_memory")
    history = [tuple(one[name] for name in names) for one in m.history(added["id"])]
    assert history == [
        ("ADD", None, "Likes tea"),
        ("UPDATE", "Likes tea", "Likes green tea"),
        ("UPDATE", "Likes green tea", "Likes oolong"),
        ("DELETE", "Likes oolong", None),
    ]
    with pytest.raises(ValueError, match="not found"):
        m.delete(added["id"])


def test_an_expired_memory_is_hidden_unless_it_is_asked_for(m: Memory) -> None:
    m.add("Old news", user_id="alice", infer=False, expiration_date="2020-01-31")
    m.add("New news", user_id="alice", infer=False, expiration_date=date(2999, 1, 31))
    [shown] = m.get_all(filters={"user_id": "alice"})["results"]
    assert (shown["memory"], shown["expiration_date"]) == ("New news", "2999-01-31")
    everything = m.get_all(filters={"user_id": "alice"}, show_expired=True)
    assert texts(everything) == ["New news", "Old news"]


def test_the_last_day_of_the_calendar_stands_for_never(m: Memory) -> None:
    m.add("Likes tea", user_id="alice", infer=False, expiration_date="9999-12-31")
    [shown] = m.get_all(filters={"user_id": "alice"})["results"]
    assert shown["expiration_date"] == "9999-12-31"


def test_reset_takes_nothing_that_was_not_added_here(m: Memory, home: Holdfast) -> None:
    home.hub().remember("A note of my own")
    m.add("Likes tea", user_id="alice", infer=False)
    home.hub("agents.user.alice").remember("Remembered by another program")
    assert len(m.get_all(filters={"user_id": "alice"})["results"]) == 2
    m.reset()
    assert texts(m.get_all(filters={"user_id": "alice"})) == ["Remembered by another program"]
    assert len(home.hub().list()) == 1


@pytest.mark.parametrize("wrong", ["mem_1@default", "x", "mem_1@agents.user.bob", "", "@", 3])
def test_an_id_reaches_no_hub_outside_of_the_app(m: Memory, home: Holdfast, wrong: Any) -> None:
    kept = home.hub().remember("A note of my own").memory
    assert m.get(wrong) is None
    assert m.get(f"{kept.id}@default") is None
    assert m.history(f"{kept.id}@default") == []


def test_what_is_wrong_is_said(m: Memory) -> None:
    for call in (
        lambda: m.add("x"),
        lambda: m.add("x", user_id="a b"),
        lambda: m.add(3, user_id="a"),  # type: ignore[arg-type]
        lambda: m.add("x", user_id="a", memory_type="other"),
        lambda: m.add("x", user_id="a", expiration_date="soon"),
        lambda: m.search(" ", filters={"user_id": "a"}),
        lambda: m.search("x", filters={"category": "work"}),
        lambda: m.search("x", filters=[{"user_id": "a"}]),  # type: ignore[arg-type]
        lambda: m.search("x", filters={"user_id": "a", "OR": [5]}),
        lambda: m.search("x", filters={"user_id": "*"}),
        lambda: m.search("x", filters={"user_id": {"in": ["a", "b"]}}),
        lambda: m.search("x", filters={"user_id": "a"}, threshold=3),
        lambda: m.search("x", filters={"user_id": "a"}, colour="red"),
        lambda: m.get_all(filters={"user_id": "a"}, top_k=-1),
        lambda: m.delete_all(),
        lambda: m.update("mem_1@agents.user.a", text="x"),
    ):
        with pytest.raises(ValueError, match=r"."):
            call()


def test_calls_in_the_style_of_older_versions_work(m: Memory) -> None:
    m.add("Likes tea", user_id=7, infer=False)
    assert texts(m.get_all(user_id=7, limit=1)) == ["Likes tea"]
    assert texts(m.search("tea", user_id=7, limit=1)) == ["Likes tea"]


def test_the_async_memory_does_the_same(home: Holdfast) -> None:
    async def steps() -> None:
        memory = AsyncMemory(memory=home)
        added = await memory.add(messages=MOVIES, user_id="alice")
        assert len(added["results"]) == 2
        first = added["results"][0]["id"]
        assert await memory.get(memory_id=first)
        await memory.update(memory_id=first, text="Avoids thrillers")
        assert len(await memory.history(memory_id=first)) == 2
        found = await memory.search("thrillers", filters={"user_id": "alice"})
        assert found["results"][0]["memory"] == "Avoids thrillers"
        await memory.delete(first)
        assert len((await memory.get_all(filters={"user_id": "alice"}))["results"]) == 1
        await memory.delete_all(user_id="alice")
        await memory.reset()

    asyncio.run(steps())


def test_a_memory_of_its_own_opens_the_default_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    with Memory.from_config({"llm": {"provider": "openai"}}) as memory:
        memory.add("Likes tea", user_id="alice", infer=False)
    with Memory() as memory:
        assert texts(memory.get_all(user_id="alice")) == ["Likes tea"]


def test_what_was_said_at_a_time_is_of_that_time(m: Memory, home: Holdfast) -> None:
    said = datetime(2026, 3, 2, 9, tzinfo=UTC)
    m.add("I went to the dentist yesterday.", user_id="alice", timestamp=said.timestamp())
    m.add("I love sci-fi movies", user_id="alice", timestamp="2026-03-02T09:00:00Z")
    again = m.add("I love sci-fi movies", user_id="alice", timestamp=date(2026, 4, 2))
    assert [item["event"] for item in again["results"]] == ["NONE"]
    m.add("Lunch?", user_id="bob", infer=False, timestamp=said)
    kept = {one.content: one for one in Hubs(home).user("alice").list()}
    assert kept["Loves sci-fi movies"].valid_from == said
    dentist = next(one for text, one in kept.items() if "dentist" in text)
    assert dentist.occurred_at is not None
    assert dentist.occurred_at.date() == date(2026, 3, 1)
    assert Hubs(home).user("bob").list()[0].occurred_at == said
    for wrong in ("gestern", True, "2026-13-01", 10**30, [1]):
        with pytest.raises(ValueError, match=r"timestamp .* is not a time"):
            m.add("Likes tea", user_id="alice", timestamp=wrong)  # type: ignore[arg-type]


def test_a_search_may_be_asked_from_another_day(m: Memory) -> None:
    m.add("Fixed the roof", user_id="a", infer=False, timestamp="2026-03-01")
    m.add("Fixed the door", user_id="a", infer=False, timestamp="2026-04-01")
    for day, first in (("2026-03-02", "Fixed the roof"), ("2026-04-02", "Fixed the door")):
        found = m.search("what was fixed yesterday", user_id="a", reference_date=day)
        assert found["results"][0]["memory"] == first
    with pytest.raises(ValueError, match=r"reference_date .* is not a time"):
        m.search("roof", user_id="a", reference_date="soon")
