"""Pynchy's four tools, to the letter: keys, categories, plain search, files, archives, backends."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import holdfast
from holdfast import Holdfast, HubMemory
from holdfast.engine.writing.redacting_store import unguarded
from holdfast.errors import CallCancelled
from holdfast.store.inmemory import InMemoryStore
from holdfast.testing import FixedClock, HashEmbedder, open_for_tests

EXAMPLE = Path(__file__).parents[3] / "examples" / "json_store"


def call(hub: HubMemory, name: str, **args: Any) -> dict[str, Any]:
    reply = holdfast.tools("pynchy", hub, agent="pynchy").call(name, args)
    assert not reply.failed, reply.text
    assert reply.data is not None
    return reply.data


def refused(hub: HubMemory, name: str, **args: Any) -> str:
    reply = holdfast.tools("pynchy", hub).call(name, args)
    assert reply.failed, reply.text
    return reply.text


def save(hub: HubMemory, key: str, content: str, **more: Any) -> str:
    status: str = call(hub, "save_memory", key=key, content=content, **more)["status"]
    return status


def recalled(hub: HubMemory, query: str, **more: Any) -> list[str]:
    return [row["key"] for row in call(hub, "recall_memories", query=query, **more)["memories"]]


def listed(hub: HubMemory, **more: Any) -> list[str]:
    return [row["key"] for row in call(hub, "list_memories", **more)["memories"]]


# The table, row by row


def test_the_tools_their_parameters_and_defaults_are_those_of_the_table(hub: HubMemory) -> None:
    tools = {tool.name: tool for tool in holdfast.tools("pynchy", hub).tools}
    table = {
        "save_memory": [("key", True), ("content", True), ("category", False)],
        "recall_memories": [("query", True), ("category", False), ("limit", False)],
        "forget_memory": [("key", True)],
        "list_memories": [("category", False)],
    }
    assert list(tools) == list(table)
    for name, parameters in table.items():
        assert [(p.name, p.required) for p in tools[name].parameters] == parameters
    defaults = {p.name: p.default for tool in tools.values() for p in tool.parameters}
    assert defaults["limit"] == 5
    assert tools["save_memory"].parameters[2].default == "core"
    assert tools["save_memory"].parameters[2].choices == ("core", "daily", "conversation")


def test_saving_answers_with_the_key_and_whether_it_is_new(hub: HubMemory) -> None:
    assert call(hub, "save_memory", key="colour", content="Blue") == {
        "key": "colour",
        "status": "created",
    }
    assert call(hub, "save_memory", key="colour", content="Green") == {
        "key": "colour",
        "status": "updated",
    }
    assert save(hub, "colour", "Green") == "updated"
    kept = hub.get("colour")
    assert (kept.content, kept.category, kept.source_agent) == ("Green", "core", "pynchy")
    assert (kept.trust, kept.layer) == ("agent", "long_term")


def test_recalling_answers_with_these_fields_and_no_others(hub: HubMemory) -> None:
    save(hub, "colour", "The favourite colour is blue")
    found = call(hub, "recall_memories", query="favourite colour")
    (row,) = found["memories"]
    assert list(row) == ["key", "content", "category", "metadata", "updated_at", "score"]
    assert (row["key"], row["content"]) == ("colour", "The favourite colour is blue")
    assert (row["category"], row["metadata"]) == ("core", {})
    assert datetime.fromisoformat(row["updated_at"]).utcoffset() is not None
    assert row["updated_at"].endswith("Z")
    assert isinstance(row["score"], float)
    assert found["count"] == 1
    assert set(found) == {"memories", "count"}


def test_with_a_model_too_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        save(hub, "colour", "The favourite colour is blue")
        assert call(hub, "recall_memories", query="100%") == {"memories": [], "count": 0}
        assert call(hub, "recall_memories", query="ourite col")["count"] == 1


def test_better_hits_come_first_with_higher_scores(hub: HubMemory) -> None:
    save(hub, "both", "The project deadline is Friday")
    save(hub, "one", "The project has three people and a dog, who is called Bello, and a garden")
    rows = call(hub, "recall_memories", query="project deadline")["memories"]
    assert rows[0]["key"] == "both"
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_at_most_five_are_recalled_unless_asked_otherwise(hub: HubMemory) -> None:
    for number in range(8):
        save(hub, f"note-{number}", f"Tabs note {'abcdefgh'[number] * 5} {number}")
    assert len(recalled(hub, "tabs")) == 5
    assert len(recalled(hub, "tabs", limit=8)) == 8
    assert len(recalled(hub, "tabs", limit=1)) == 1


def test_forgetting_answers_whether_something_went(hub: HubMemory) -> None:
    save(hub, "colour", "Blue")
    assert call(hub, "forget_memory", key="colour") == {"removed": True}
    assert call(hub, "forget_memory", key="colour") == {"removed": False}
    assert call(hub, "forget_memory", key="never") == {"removed": False}
    assert recalled(hub, "Blue") == []
    assert listed(hub) == []


def test_what_was_forgotten_can_be_saved_again(hub: HubMemory) -> None:
    save(hub, "colour", "Blue")
    call(hub, "forget_memory", key="colour")
    assert save(hub, "colour", "Blue") == "created"
    assert recalled(hub, "Blue") == ["colour"]


def test_the_list_has_keys_categories_and_times_newest_first(
    hub: HubMemory, clock: FixedClock
) -> None:
    for key, category in (("a", "core"), ("b", "daily"), ("c", "conversation")):
        save(hub, key, f"Note {key}", category=category)
        clock.tick()
    save(hub, "a", "Note a, again")
    found = call(hub, "list_memories")
    assert [list(row) for row in found["memories"]] == [["key", "category", "updated_at"]] * 3
    assert [row["key"] for row in found["memories"]] == ["a", "c", "b"]
    times = [row["updated_at"] for row in found["memories"]]
    assert times == sorted(times, reverse=True)
    assert found["count"] == 3
    assert set(found) == {"memories", "count"}
    assert listed(hub, category="daily") == ["b"]


# Errors


@pytest.mark.parametrize(
    ("tool", "args", "text"),
    [
        ("save_memory", {}, "Error: Missing required fields: key, content"),
        ("save_memory", {"key": "a"}, "Error: Missing required fields: content"),
        ("save_memory", {"content": "a"}, "Error: Missing required fields: key"),
        (
            "save_memory",
            {"key": "", "content": " \n"},
            "Error: Missing required fields: key, content",
        ),
        ("save_memory", {"key": None, "content": "a"}, "Error: Missing required fields: key"),
        ("recall_memories", {}, "Error: Missing required fields: query"),
        ("recall_memories", {"query": "  "}, "Error: Missing required fields: query"),
        ("forget_memory", {}, "Error: Missing required fields: key"),
    ],
)
def test_missing_fields_are_named(
    hub: HubMemory, tool: str, args: dict[str, Any], text: str
) -> None:
    assert refused(hub, tool, **args) == text
    assert hub.changes() == []


@pytest.mark.parametrize(
    ("tool", "args", "part"),
    [
        ("save_memory", {"key": "a", "content": "b", "category": "fact"}, "core, daily, conv"),
        ("save_memory", {"key": 5, "content": "b"}, "key must be text"),
        ("save_memory", {"key": "a", "content": "b\0"}, "NUL"),
        ("save_memory", {"key": "a\nb", "content": "b"}, "invisible"),
        ("save_memory", {"key": "12", "content": "b"}, "Try 'key-12'"),
        ("save_memory", {"key": "a", "content": "b", "id": 1}, "no argument"),
        ("recall_memories", {"query": "a", "limit": 0}, "limit"),
        ("recall_memories", {"query": "a", "limit": "many"}, "limit"),
        ("remember", {}, "no tool"),
    ],
)
def test_every_error_reads_as_an_error_and_changes_nothing(
    hub: HubMemory, tool: str, args: dict[str, Any], part: str
) -> None:
    text = refused(hub, tool, **args)
    assert text.startswith("Error: ")
    assert part in text
    assert hub.changes() == []


# Keys


def test_the_same_content_under_two_keys_is_two_memories(hub: HubMemory) -> None:
    assert save(hub, "ana", "Blue") == "created"
    assert save(hub, "ben", "Blue") == "created"
    assert sorted(recalled(hub, "Blue")) == ["ana", "ben"]
    call(hub, "forget_memory", key="ana")
    assert recalled(hub, "Blue") == ["ben"]


def test_a_save_is_never_taken_for_a_document_that_says_the_same(hub: HubMemory) -> None:
    hub.remember("Deploys are on Monday", source_path="ops.md")
    assert save(hub, "deploys", "Deploys are on Monday") == "created"
    hub.remember("Deploys are on Friday", source_path="ops.md")
    assert hub.get("deploys").content == "Deploys are on Monday"


def test_a_key_for_what_was_known_without_one_is_new(hub: HubMemory) -> None:
    known = hub.remember("Prefers tabs over spaces").memory
    assert save(hub, "indent", "Prefers tabs over spaces") == "created"
    assert hub.get("indent").id == known.id
    assert recalled(hub, "tabs") == ["indent"]


KEYS = ["user/name", "what?", "it's", 'say "hi"', "100%_", "-x", "a b", "日本", "mem", "../x", "🎉"]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_may_hold_any_sign(hub: HubMemory, key: str) -> None:
    assert call(hub, "save_memory", key=key, content="Blue") == {"key": key, "status": "created"}
    assert save(hub, key, "Green") == "updated"
    assert listed(hub) == [key]
    assert call(hub, "forget_memory", key=key) == {"removed": True}


def test_what_has_no_key_is_given_under_its_id(hub: HubMemory) -> None:
    known = hub.remember("Prefers tabs over spaces").memory
    assert recalled(hub, "tabs") == [known.id]
    assert listed(hub) == [known.id]
    assert call(hub, "forget_memory", key=known.id) == {"removed": True}
    assert listed(hub) == []


@pytest.mark.parametrize("key", ["1", "#1", "01", " 1 "])
def test_a_number_is_no_key(hub: HubMemory, key: str) -> None:
    hub.remember("Prefers tabs over spaces")
    assert call(hub, "forget_memory", key=key) == {"removed": False}
    assert len(hub.list()) == 1


def test_two_keys_that_say_the_same_stay_two_beside_memory_md(hub: HubMemory) -> None:
    hub.sync()
    save(hub, "ana", "The favourite colour is blue")
    save(hub, "ben", "The favourite colour is blue")
    path = Path(hub.memory_md)
    assert path.read_text(encoding="utf-8").count("The favourite colour is blue") == 2
    call(hub, "forget_memory", key="ana")
    assert path.read_text(encoding="utf-8").count("The favourite colour is blue") == 1
    text = path.read_text(encoding="utf-8").replace("is blue", "is green")
    path.write_text(text, encoding="utf-8")
    (row,) = call(hub, "recall_memories", query="favourite colour")["memories"]
    assert (row["key"], row["content"]) == ("ben", "The favourite colour is green")


# Categories


def test_a_category_holds_to_the_letter_and_other_labels_are_kept(hub: HubMemory) -> None:
    save(hub, "core-one", "Tabs are core")
    save(hub, "daily-one", "Tabs are for today", category="daily")
    hub.remember("Tabs are preferred", category="preference", key="other")
    assert set(recalled(hub, "tabs")) == {"core-one", "daily-one", "other"}
    assert recalled(hub, "tabs", category="core") == ["core-one"]
    assert recalled(hub, "tabs", category="preference") == ["other"]
    assert listed(hub, category="core") == ["core-one"]
    labels = {row["key"]: row["category"] for row in call(hub, "list_memories")["memories"]}
    assert labels["other"] == "preference"


def test_metadata_is_that_of_the_memory(hub: HubMemory) -> None:
    hub.remember("Tabs are preferred", key="a", metadata={"from": {"line": 3}})
    (row,) = call(hub, "recall_memories", query="tabs")["memories"]
    assert row["metadata"] == {"from": {"line": 3}}


def test_daily_notes_cool_and_are_archived_by_the_lifecycle(
    hub: HubMemory, clock: FixedClock
) -> None:
    save(hub, "standup", "Standup moved to ten", category="daily")
    save(hub, "stack", "The stack is Python")
    clock.tick(days=3)
    hub.lifecycle()
    assert hub.get("standup").state == "cooling"
    assert recalled(hub, "standup") == ["standup"]
    clock.tick(days=5)
    hub.lifecycle()
    assert hub.get("standup").state == "archived"
    assert recalled(hub, "standup") == []
    assert "standup" not in listed(hub)
    assert recalled(hub, "stack") == ["stack"]
    # Nothing is lost: saved again it is back, and it is a note of today.
    assert save(hub, "standup", "Standup is at nine", category="daily") == "updated"
    hub.lifecycle()
    assert recalled(hub, "standup") == ["standup"]


def test_the_settings_say_how_long_a_daily_note_lasts(tmp_path: Path) -> None:
    clock = FixedClock()
    limits = {"lifecycle.daily_days": 20, "lifecycle.daily_archive_days": 30}
    with open_for_tests(tmp_path, clock=clock, settings=limits) as memory:
        hub = memory.hub()
        save(hub, "standup", "Standup moved to ten", category="daily")
        clock.tick(days=15)
        hub.lifecycle()
        assert hub.get("standup").state == "active"
        clock.tick(days=15)
        hub.lifecycle()
        assert hub.get("standup").state == "archived"


# Words first, then as it stands; every sign is a character


SIGNS = [
    ("https://example.org/a?b=c%20d", "example.org/a?b"),
    ("Growth was 100% this year", "100%"),
    ("Growth was 100% this year", "0% t"),
    ("The variable is snake_case_name", "ake_ca"),
    ("The variable is snake_case_name", "_"),
    ('He said "hello world" twice', '"hello world" twice'),
    ('He said "hello world" twice', '"'),
    ("Use rm -rf with care", "-rf"),
    ("Use rm -rf with care", "-rf care"),
    ("The label kind:nonsense is odd", "kind:nonsense"),
    ("Filter by tag:home please", "tag:home"),
    ("It's a * and a ? and a \\ too", "\\"),
    ("It's a * and a ? and a \\ too", "it's"),
    ("Favourite colour", "avouri"),
    ("東京に住んでいる", "東京"),
    ("C++ and C# are languages", "c#"),
    ("NEAR(a b) AND NOT c OR d", "near(a b) and not c"),
]


@pytest.mark.parametrize(("content", "query"), SIGNS)
def test_a_query_is_text_and_nothing_else(hub: HubMemory, content: str, query: str) -> None:
    save(hub, "wanted", content)
    save(hub, "other", "Something without any of it")
    assert recalled(hub, query)[:1] == ["wanted"]


@pytest.mark.parametrize("query", ["100%x", "snake%name", "s_ake", "%%%", "zzz*"])
def test_a_wildcard_stands_for_itself_alone(hub: HubMemory, query: str) -> None:
    save(hub, "a", "Growth was 1005 this year")
    save(hub, "b", "The variable is snakecasename")
    assert recalled(hub, query) == []


def test_a_dash_or_a_field_leaves_nothing_out(hub: HubMemory) -> None:
    save(hub, "a", "Tabs and spaces")
    assert recalled(hub, "tabs -spaces") == ["a"]
    assert recalled(hub, 'tabs "and spaces tabs"') == ["a"]
    assert recalled(hub, "tabs category:daily") == ["a"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(min_size=1, max_size=60))
def test_no_query_is_an_error(hub: HubMemory, query: str) -> None:
    if not any(m.key == "a" for m in hub.list()):
        save(hub, "a", 'Tabs and spaces: 100% "quoted" -dash _under_')
    reply = holdfast.tools("pynchy", hub).call("recall_memories", {"query": query})
    if reply.failed:
        assert not query.strip()
        assert reply.text == "Error: Missing required fields: query"


def test_a_recall_that_fails_is_an_error_and_not_an_empty_answer(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(hub, "a", "Tabs and spaces")

    def late(*_: object, **__: object) -> None:
        raise holdfast.DeadlineExceeded("The recall took longer than 5 seconds.")

    monkeypatch.setattr(HubMemory, "recall", late)
    assert refused(hub, "recall_memories", query="tabs").startswith("Error: The recall took longer")


# Files and archives of the group


def put(hub: HubMemory, name: str, text: str, age_s: int = 3_600) -> Path:
    path = Path(hub.folder) / "files" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    at = hub.core.now().timestamp() - age_s
    os.utime(path, (at, at))
    return path


def test_the_groups_files_are_read_before_every_search(hub: HubMemory) -> None:
    put(hub, "notes/deploy.md", "# Deploy\n\nThe staging server is called Hilda.")
    found = call(hub, "recall_memories", query="staging server")
    assert "Hilda" in found["memories"][0]["content"]
    put(hub, "notes/deploy.md", "# Deploy\n\nThe staging server is called Gertrud.", age_s=60)
    found = call(hub, "recall_memories", query="staging server")
    assert "Gertrud" in found["memories"][0]["content"]
    assert found["count"] == 1
    (Path(hub.folder) / "files" / "notes" / "deploy.md").unlink()
    assert recalled(hub, "staging server") == []


def test_of_a_long_file_the_part_that_matched_is_given(hub: HubMemory) -> None:
    filler = "\n\n".join(f"## Part {n}\n\n{'Nothing of note here. ' * 30}" for n in range(40))
    put(hub, "long.md", f"# Long\n\n{filler}\n\n## Servers\n\nThe staging server is Hilda.\n")
    (row,) = call(hub, "recall_memories", query="staging server Hilda", limit=1)["memories"]
    assert "Hilda" in row["content"]
    assert len(row["content"]) < 8_000


def test_taking_in_files_reports_and_stops_when_nobody_waits(hub: HubMemory) -> None:
    for number in range(3):
        put(hub, f"{number}.md", f"Note {number}")
    heard: list[tuple[int, int | None]] = []

    def report(done: int, total: int | None, note: str) -> None:
        heard.append((done, total))
        if done == 2:
            raise CallCancelled("Nobody waits.")

    tools = holdfast.tools("pynchy", hub)
    with pytest.raises(CallCancelled):
        tools.call("recall_memories", {"query": "note"}, report=report)
    assert heard == [(1, 3), (2, 3)]
    assert len(recalled(hub, "note")) == 3


def test_files_that_cannot_be_taken_in_do_not_keep_the_answer(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(hub, "a", "Tabs and spaces")

    def broken(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(HubMemory, "index_files", broken)
    found = call(hub, "recall_memories", query="tabs")
    assert found["count"] == 1
    assert any("could not be taken in" in note for note in found["degraded"])


def test_an_archived_conversation_is_a_memory_with_a_summary(hub: HubMemory) -> None:
    messages = [
        {"role": "user", "content": "How do we deploy to staging? " + "Tell me all. " * 300},
        {"role": "assistant", "content": "We decided to deploy with the blue script on Mondays."},
    ]
    done = hub.archive_conversation("s1", messages=messages, name="Deploy talk")
    assert done.path is not None
    assert done.path.endswith("conversations/2026-01-14-deploy-talk.md")
    assert recalled(hub, "deploy staging", category="conversation") == [
        "conversation-2026-01-14-deploy-talk"
    ]
    (row,) = call(hub, "recall_memories", query="deploy", category="conversation")["memories"]
    assert row["category"] == "conversation"
    assert "blue script" in row["content"], "a summary, not the first characters"
    assert len(row["content"]) < sum(len(message["content"]) for message in messages)


# No group sees another's


def test_no_group_sees_anothers_memories_files_or_keys(memory: Holdfast) -> None:
    one, two = memory.create_hub("one"), memory.create_hub("two")
    save(one, "secret", "The code is 4711")
    put(one, "notes.md", "The safe is behind the picture.")
    call(one, "recall_memories", query="safe")
    ids = listed(one)
    for query in ("code", "4711", "safe", "picture", "7"):
        assert recalled(two, query) == []
    assert listed(two) == []
    for key in ("secret", *ids):
        assert call(two, "forget_memory", key=key) == {"removed": False}
    assert save(two, "secret", "Another") == "created"
    assert one.get("secret").content == "The code is 4711"


# Any sequence of calls, against a plain dictionary


_KEY = st.sampled_from(("a", "b/c", "d?"))
_TEXT = st.sampled_from(("The sky is blue", "The sea is green", "The sun is red"))
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("save"), _KEY, _TEXT),
        st.tuples(st.just("forget"), _KEY, st.none()),
        st.tuples(st.just("remember"), st.none(), _TEXT),
    ),
    max_size=14,
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS)
def test_any_sequence_of_calls_does_what_a_dictionary_would(
    tmp_path: Path, steps: list[tuple[str, str | None, str | None]]
) -> None:
    with open_for_tests(tmp_path, store=InMemoryStore()) as memory:
        hub = memory.hub()
        kept: dict[str, str] = {}
        nameless: set[str] = set()
        for what, key, text in steps:
            if what == "save" and key and text:
                assert save(hub, key, text) == ("updated" if key in kept else "created")
                if key not in kept:
                    # What was known without a key has one now.
                    nameless.discard(text)
                kept[key] = text
            elif what == "forget" and key:
                assert call(hub, "forget_memory", key=key) == {"removed": key in kept}
                kept.pop(key, None)
            elif text:
                hub.remember(text)
                if text not in kept.values():
                    nameless.add(text)
            assert {key: hub.get(key).content for key in kept} == kept
            rows = call(hub, "list_memories")["memories"]
            assert {row["key"] for row in rows if not row["key"].startswith("mem_")} == set(kept)
            assert len(rows) == len(kept) + len(nameless)
            for word, said in (("sky", "The sky is blue"), ("sea", "The sea is green")):
                found = {name for name in recalled(hub, word) if not name.startswith("mem_")}
                assert found == {name for name, content in kept.items() if content == said}


# Every backend serves all four tools


@pytest.fixture(params=["sqlite", "in memory", "json plugin"])
def any_hub(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HubMemory]:
    if request.param == "json plugin":
        monkeypatch.syspath_prepend(str(EXAMPLE / "src"))
        project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
        ((name, value),) = project["entry-points"]["holdfast.stores"].items()
        point = EntryPoint(name, value, "holdfast.stores")

        def entry_points(*, group: str) -> EntryPoints:
            return EntryPoints([point]).select(group=group)

        monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
        url = f"json:{tmp_path}/memory.json"
        opened = open_for_tests(tmp_path, settings={"store.url": url})
        assert type(unguarded(opened.core.store)).__module__ == "holdfast_json_store"
    elif request.param == "in memory":
        opened = open_for_tests(tmp_path, store=InMemoryStore())
    else:
        opened = open_for_tests(tmp_path)
    with opened:
        yield opened.hub()
    for name in [name for name in sys.modules if name.startswith("holdfast_json_store")]:
        monkeypatch.delitem(sys.modules, name)


def test_a_swapped_in_backend_serves_all_four_tools(any_hub: HubMemory) -> None:
    hub = any_hub
    assert save(hub, "colour", "The favourite colour is blue") == "created"
    assert save(hub, "colour", "The favourite colour is 100% green") == "updated"
    assert save(hub, "today", "Standup at ten", category="daily") == "created"
    assert recalled(hub, "favourite colour") == ["colour"]
    assert recalled(hub, "0% gr") == ["colour"]
    assert recalled(hub, "blue") == []
    assert recalled(hub, "standup", category="core") == []
    put(hub, "notes.md", "The staging server is called Hilda.")
    assert len(recalled(hub, "Hilda")) == 1
    assert set(listed(hub)) >= {"colour", "today"}
    assert listed(hub, category="daily") == ["today"]
    assert call(hub, "forget_memory", key="colour") == {"removed": True}
    assert recalled(hub, "favourite colour") == []
    assert save(hub, "colour", "Red") == "created"


# What memory said itself comes back


def test_an_answer_that_is_saved_again_is_nothing_new(hub: HubMemory) -> None:
    save(hub, "colour", "The favourite colour is blue")
    tools = holdfast.tools("pynchy", hub)
    answer = tools.call("recall_memories", {"query": "colour"}).text
    text = refused(hub, "save_memory", key="copy", content=answer)
    assert text.startswith("Error: Already known: #1")
    assert listed(hub) == ["colour"]
    # The words themselves may have as many keys as one likes.
    assert save(hub, "copy", "The favourite colour is blue") == "created"


# With the other dialects


OTHERS = [
    ("holdfast", "remember", {"content": "The staging server is called Hilda"}),
    ("max", "remember", {"content": "The staging server is called Hilda", "category": "fact"}),
    ("maven", "remember", {"content": "The staging server is called Hilda"}),
    ("memax", "memax_push", {"content": "The staging server is called Hilda"}),
    (
        "minion",
        "memory_update",
        {"action": "append", "content": "- The staging server is called Hilda"},
    ),
]


@pytest.mark.parametrize(("dialect", "tool", "args"), OTHERS, ids=[row[0] for row in OTHERS])
def test_what_another_dialect_writes_is_recalled(
    hub: HubMemory, dialect: str, tool: str, args: dict[str, Any]
) -> None:
    from holdfast.agents.dialects import NAMES

    if dialect not in NAMES:
        pytest.skip(f"the dialect {dialect} is not part of this installation")
    reply = holdfast.tools(dialect, hub).call(tool, args)
    assert not reply.failed, reply.text
    found = call(hub, "recall_memories", query="staging server")["memories"]
    assert len(found) == 1
    assert "Hilda" in found[0]["content"]


def test_what_is_saved_here_is_found_there(hub: HubMemory) -> None:
    save(hub, "staging", "The staging server is called Hilda")
    said = holdfast.tools("holdfast", hub).call("recall", {"query": "staging server"})
    assert "Hilda" in said.text
    said = holdfast.tools("memax", hub).call("memax_recall", {"query": "staging server"})
    assert "Hilda" in said.text


def test_a_daily_note_that_is_over_is_neither_found_nor_listed(
    hub: HubMemory, clock: FixedClock
) -> None:
    tools = holdfast.tools("pynchy", hub)
    tools.call("save_memory", {"key": "k", "content": "Standup at nine", "category": "daily"})
    clock.tick(days=8)
    for name, args in (("recall_memories", {"query": "standup"}), ("list_memories", {})):
        hub.restore("k")
        clock.tick(days=8)
        told = tools.call(name, args).data
        assert told is not None
        assert told["count"] == 0, name
