"""Archives: one file and one memory per session, and nothing that blocks a compaction."""

from __future__ import annotations

import errno
import multiprocessing
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import Holdfast, HubMemory, StoreBusy, engine
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.files import conversation_archive, conversation_archive_format
from holdfast.files.conversation_archive_format import (
    Message,
    add,
    make,
    message_of,
    read,
    session_of,
    slug_of,
)
from holdfast.testing import FixedClock, open_for_tests
from holdfast.text.clean import clean_key


@pytest.fixture
def talked(hub: HubMemory) -> HubMemory:
    """A hub whose log has a session of two turns, and a turn of another."""
    hub.log_turn("user", "Fix the JWT expiry bug.", source="telegram", session="s1")
    hub.log_turn("assistant", "The token's expiry is compared in local time.", session="s1")
    hub.log_turn("user", "Lunch?", session="s2")
    return hub


def text_of(archived: conversation_archive.Archived) -> str:
    assert archived.path is not None, archived.notes
    return Path(archived.path).read_text(encoding="utf-8")


# The file and the memory


def test_a_session_becomes_a_file_and_a_memory(talked: HubMemory) -> None:
    done = talked.archive_conversation("s1")
    assert done.notes == ()
    assert done.path == f"{talked.folder}/conversations/2026-01-14-fix-the-jwt-expiry-bug.md"
    assert text_of(done) == (
        "# Fix the JWT expiry bug\n\n"
        '<!-- session "s1" -->\n\n'
        "- Session: s1\n- Date: 2026-01-14\n- Messages: 2\n\n"
        "## Summary\n\n"
        "- User: Fix the JWT expiry bug.\n"
        "- Assistant: The token's expiry is compared in local time.\n\n"
        "## Conversation\n\n"
        "<!-- message trn_00000001 -->\n"
        "**User** (telegram, 2026-01-14 12:00 UTC)\n\n"
        "> Fix the JWT expiry bug.\n\n"
        "<!-- message trn_00000002 -->\n"
        "**Assistant** (2026-01-14 12:00 UTC)\n\n"
        "> The token's expiry is compared in local time.\n"
    )
    kept = done.memory
    assert kept is not None
    assert kept.key == "conversation-2026-01-14-fix-the-jwt-expiry-bug"
    assert (kept.category, kept.layer, kept.session) == ("conversation", "library", "s1")
    assert kept.source_path == "conversations/2026-01-14-fix-the-jwt-expiry-bug.md"
    assert kept.content == (
        "User: Fix the JWT expiry bug.\nAssistant: The token's expiry is compared in local time."
    )
    assert talked.recall("token expiry")[0].memory.id == kept.id
    assert os.stat(done.path).st_mode & 0o777 == 0o600


def test_archiving_again_with_the_same_turns_changes_nothing(
    talked: HubMemory, clock: FixedClock
) -> None:
    first = talked.archive_conversation("s1")
    assert first.path is not None
    before = os.stat(first.path).st_mtime_ns
    clock.tick(days=3)
    second = talked.archive_conversation("s1")
    assert second == first
    assert os.stat(first.path).st_mtime_ns == before
    assert len(talked.changes()) == 1


SAID = [
    {"role": "user", "content": "Fix the JWT expiry bug."},
    {"role": "assistant", "content": "The token's expiry is compared in local time."},
]


@pytest.mark.parametrize("order", [("log", "given"), ("given", "log"), ("log", "given", "log")])
def test_a_session_from_the_log_and_as_messages_is_archived_once(
    talked: HubMemory, order: tuple[str, ...]
) -> None:
    done = [
        talked.archive_conversation("s1", messages=None if way == "log" else SAID) for way in order
    ]
    assert text_of(done[-1]).count("<!-- message ") == 2
    # When it was said, only the log knows.
    last, second = done[-1], done[1]
    assert last == second and last.path == done[0].path
    assert [one.content for one in talked.list()] == [last.memory.content if last.memory else ""]


def test_what_was_said_twice_is_archived_twice_whichever_way_it_comes(hub: HubMemory) -> None:
    hub.log_turn("user", "ok", session="s1")
    hub.archive_conversation("s1")
    twice = [("user", "ok"), ("user", "ok")]
    for _ in range(2):
        done = hub.archive_conversation("s1", messages=twice)
        assert text_of(done).count("\n> ok\n") == 2
    hub.log_turn("user", "ok", session="s1")
    assert text_of(hub.archive_conversation("s1")).count("\n> ok\n") == 2
    hub.log_turn("user", "ok", session="s1")
    assert text_of(hub.archive_conversation("s1")).count("\n> ok\n") == 3


def test_a_turn_that_says_what_one_that_left_the_log_said_is_another_message(
    tmp_path: Path,
) -> None:
    with open_for_tests(tmp_path, settings={"log.keep": 1, "log.prune_every": 1}) as memory:
        hub = memory.create_hub("work")
        for _ in range(3):
            hub.log_turn("user", "ok", session="s1")
            done = hub.archive_conversation("s1")
        assert text_of(done).count("\n> ok\n") == 3


def test_more_turns_are_added_to_the_same_file_and_memory(
    talked: HubMemory, clock: FixedClock
) -> None:
    first = talked.archive_conversation("s1")
    clock.tick(days=1)
    talked.log_turn("user", "Thanks, the expiry works now.", session="s1")
    second = talked.archive_conversation("s1")
    assert second.path == first.path
    assert first.memory and second.memory and second.memory.id == first.memory.id
    assert (second.memory.version, second.memory.key) == (2, first.memory.key)
    assert "the expiry works now" in second.memory.content
    assert second.memory.occurred_at == datetime(2026, 1, 14, 12, tzinfo=UTC)
    assert second.memory.occurred_until == datetime(2026, 1, 15, 12, tzinfo=UTC)
    text = text_of(second)
    assert "- Messages: 3\n" in text and text.count("## Summary") == 1
    assert text.index("local time.\n") < text.index("> Thanks, the expiry works now.")


def test_what_the_log_has_dropped_stays_in_the_archive(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"log.keep": 2, "log.prune_every": 1}) as memory:
        hub = memory.create_hub("work")
        for number in range(6):
            hub.log_turn("user", f"line {number}", session="s1")
            done = hub.archive_conversation("s1")
        assert [message.text for message in read(text_of(done))] == [f"line {n}" for n in range(6)]
        assert len(hub.list(category="conversation")) == 1


def test_what_a_person_wrote_in_the_archive_stays(talked: HubMemory) -> None:
    first = talked.archive_conversation("s1")
    assert first.path is not None
    path = Path(first.path)
    mine = path.read_text().replace("## Conversation", "## Conversation\n\nNote to self: tea.")
    mine = mine.replace("- User: Fix the JWT expiry bug.", "- My own summary.")
    data = mine.replace("\n", "\r\n").encode()
    path.write_bytes(data)
    assert talked.archive_conversation("s1").memory == first.memory
    assert path.read_bytes() == data
    talked.log_turn("user", "More.", session="s1")
    text = text_of(talked.archive_conversation("s1"))
    assert "Note to self: tea." in text and "> More." in text
    assert [message.text for message in read(text)][-1] == "More."


def test_two_sessions_of_one_name_are_two_archives(talked: HubMemory) -> None:
    talked.log_turn("user", "Fix the JWT expiry bug.", session="s3")
    one, two = talked.archive_conversation("s1"), talked.archive_conversation("s3")
    assert one.memory and two.memory and two.path
    assert two.path.endswith("/2026-01-14-fix-the-jwt-expiry-bug-2.md")
    assert two.memory.key == "conversation-2026-01-14-fix-the-jwt-expiry-bug-2"
    assert one.memory.id != two.memory.id
    assert talked.archive_conversation("s3") == two


def test_a_name_and_a_time_can_be_given(talked: HubMemory) -> None:
    done = talked.archive_conversation("s1", name="Auth: fix/it", at="2026-05-27T23:30:00-05:00")
    assert done.memory and done.path
    assert done.path.endswith("/conversations/2026-05-28-auth-fix-it.md")
    assert done.memory.key == "conversation-2026-05-28-auth-fix-it"
    assert done.memory.title == "Auth: fix/it"


def test_a_forgotten_archive_can_be_made_again(talked: HubMemory) -> None:
    first = talked.archive_conversation("s1")
    assert first.memory is not None
    talked.forget(first.memory.id)
    second = talked.archive_conversation("s1")
    assert second.memory and second.memory.id != first.memory.id
    assert (second.path, second.memory.key) == (first.path, first.memory.key)


def test_a_purged_archive_takes_its_file_along(talked: HubMemory) -> None:
    first = talked.archive_conversation("s1")
    other = talked.archive_conversation("s2")
    assert first.memory and first.path and other.path
    talked.forget(first.memory.id)
    assert os.path.exists(first.path)
    talked.purge(first.memory.id)
    assert not os.path.exists(first.path) and os.path.exists(other.path)


@pytest.mark.parametrize("way", ["log", "messages"])
@pytest.mark.parametrize("purge", [False, True])
def test_what_is_forgotten_of_the_log_is_in_no_archive(
    hub: HubMemory, way: str, purge: bool
) -> None:
    said = [
        ("user", "The vault code hangs beside the heron painting."),
        ("assistant", "I will look there."),
        ("user", "The nightly backup goes to Oslo."),
    ]
    first, *_ = [hub.log_turn(role, content, session="s1").id for role, content in said]
    hub.log_turn("user", "The billing gateway restarts at night.", session="s2")
    messages = None if way == "log" else said
    done = hub.archive_conversation("s1", messages=messages)
    other = text_of(hub.archive_conversation("s2"))
    assert done.memory and done.path
    text = text_of(done).replace("> I will look there.\n", "> I will look there.\n\nMy own note.\n")
    Path(done.path).write_text(text, encoding="utf-8")
    told = hub.forget_turns(turns=[first], purge=purge, dry_run=True)
    assert [one.id for one in told.memories] == [done.memory.id]
    hub.forget_turns(turns=[first], purge=purge)
    assert all("heron" not in hit.memory.content for hit in hub.recall("heron painting"))
    if not purge:
        text = text_of(done)
        assert "heron" not in text and "Messages: 2\n" in text and "My own note." in text
        assert [one.text for one in read(text)] == ["I will look there.", said[2][1]]
    hub.forget_turns(session="s1", purge=purge)
    assert not os.path.exists(done.path)
    assert text_of(hub.archive_conversation("s2")) == other


def test_what_is_purged_everywhere_is_in_no_archive(hub: HubMemory) -> None:
    hub.log_turn("user", "The vault code hangs beside the heron painting.", session="s1")
    done = hub.archive_conversation("s1")
    fact = hub.remember("The vault code hangs beside the heron painting").memory
    assert done.path
    hub.purge(fact.id, everywhere=True)
    assert not os.path.exists(done.path) and hub.list() == []


def test_a_purge_leaves_the_file_of_an_archive_that_was_made_again(talked: HubMemory) -> None:
    first = talked.archive_conversation("s1")
    assert first.memory and first.path
    talked.forget(first.memory.id)
    talked.archive_conversation("s1")
    talked.purge(first.memory.id)
    assert os.path.exists(first.path)


def test_a_file_that_was_deleted_is_written_again(talked: HubMemory) -> None:
    first = talked.archive_conversation("s1")
    before = text_of(first)
    assert first.path is not None
    os.unlink(first.path)
    assert text_of(talked.archive_conversation("s1")) == before


# Messages that are handed in


def test_messages_come_in_the_shapes_that_agents_have(hub: HubMemory) -> None:
    messages: list[Any] = [
        {"role": "user", "content": "Hello there, agent."},
        {"role": "assistant", "content": [{"type": "text", "text": "Hi."}, {"type": "image"}]},
        ("user", "A pair."),
        {"role": "tool", "content": "ok", "at": "2026-01-01T00:00:00Z", "source": "tui"},
        hub.log_turn("system", "A turn.", session="x"),
    ]
    done = hub.archive_conversation("s9", messages=messages)
    assert done.notes == ()
    found = read(text_of(done))
    assert [(message.who, message.text) for message in found] == [
        ("User", "Hello there, agent."),
        ("Assistant", "Hi."),
        ("User", "A pair."),
        ("Tool", "ok"),
        ("System", "A turn."),
    ]
    assert found[3].about == "tui, 2026-01-01 00:00 UTC"
    assert hub.archive_conversation("s9", messages=messages) == done


def test_after_a_compaction_only_what_is_new_is_added(hub: HubMemory) -> None:
    told = [("user", f"Message number {n}.") for n in range(4)]
    hub.archive_conversation("s1", messages=told)
    done = hub.archive_conversation("s1", messages=[*told[2:], ("user", "The newest.")])
    texts = [message.text for message in read(text_of(done))]
    assert texts == [text for _, text in told] + ["The newest."]


def test_a_message_is_cut_at_two_thousand_characters(hub: HubMemory) -> None:
    done = hub.archive_conversation("s1", messages=[("user", "🐍" * 2_000), ("user", "x" * 2_001)])
    assert [message.text for message in read(text_of(done))] == ["🐍" * 2_000, "x" * 2_000 + "…"]


def test_what_cannot_be_read_is_left_out_with_a_note(hub: HubMemory) -> None:
    bad = [
        None,
        5,
        {},
        {"role": "user"},
        ("user", ""),
        ("", "x"),
        ("user", "a\0b"),
        ("u", "\ud800"),
    ]
    bad.append({"role": "user", "content": "x", "at": "noon"})
    done = hub.archive_conversation("s1", messages=[*bad, ("user", "fine")])
    assert [message.text for message in read(text_of(done))] == ["fine"]
    assert done.notes == (
        "9 messages were left out: no role and text, or characters that are none.",
    )


# Nothing blocks compaction


@pytest.mark.parametrize(
    ("given_", "note"),
    [
        ({"session": "nobody"}, "nothing to archive"),
        ({"session": ""}, "Name the session"),
        ({"session": None}, "Name the session"),
        ({"session": 7}, "named by text"),
        ({"session": "a\0"}, "not text"),
        ({"session": "s1", "messages": []}, "nothing to archive"),
        ({"session": "s1", "messages": 5}, "must be a list"),
        ({"session": "s1", "messages": "text"}, "left out"),
        ({"session": "s1", "name": 5}, "name must be text"),
        ({"session": "s1", "at": "noon"}, "not a date"),
    ],
)
def test_a_mistake_is_a_note_and_not_an_error(
    talked: HubMemory, given_: dict[str, Any], note: str
) -> None:
    done = talked.archive_conversation(**given_)
    assert (done.memory, done.path) == (None, None)
    assert any(note in said for said in done.notes)
    assert not os.path.exists(talked.folder + "/conversations")


def test_without_a_file_there_is_still_a_memory(talked: HubMemory) -> None:
    os.makedirs(talked.folder)
    Path(talked.folder, "conversations").write_text("in the way")
    done = talked.archive_conversation("s1")
    assert done.path is None and done.memory is not None
    assert any("There is no file of it" in note for note in done.notes)
    os.unlink(Path(talked.folder, "conversations"))
    again = talked.archive_conversation("s1")
    assert again.path and again.memory and again.memory.id == done.memory.id


def test_in_a_folder_that_cannot_be_written_there_is_still_a_memory(
    talked: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str, *_: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    with monkeypatch.context() as patched:
        # Permissions do not hold for root, as whom tests may run.
        patched.setattr(os, "mkdir", refused)
        done = talked.archive_conversation("s1")
    assert done.path is None and done.memory is not None
    assert any("There is no file of it" in note for note in done.notes)
    again = talked.archive_conversation("s1")
    assert again.path and again.memory and again.memory.id == done.memory.id


def test_without_a_memory_there_is_still_a_file(
    talked: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any) -> None:
        raise StoreBusy("The store is busy.")

    with monkeypatch.context() as patched:
        patched.setattr(engine.remember, "remember", busy)
        done = talked.archive_conversation("s1")
    assert done.memory is None and done.path is not None
    assert done.notes == ("The store is busy.",)
    again = talked.archive_conversation("s1")
    assert again.path == done.path and again.memory is not None


def test_a_link_that_leads_out_is_refused(talked: HubMemory, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    os.makedirs(talked.folder)
    Path(talked.folder, "conversations").symlink_to(outside)
    done = talked.archive_conversation("s1")
    assert done.path is None and os.listdir(outside) == []
    assert any("leads out" in note for note in done.notes)


def test_a_file_that_is_no_archive_is_not_touched(talked: HubMemory) -> None:
    folder = Path(talked.folder, "conversations")
    folder.mkdir(parents=True)
    mine = folder / "2026-01-14-fix-the-jwt-expiry-bug.md"
    mine.write_text("my own notes\n")
    done = talked.archive_conversation("s1")
    assert done.path is not None and done.path.endswith("-bug-2.md")
    assert mine.read_text() == "my own notes\n"


def test_a_hub_that_is_gone_is_a_note(memory: Holdfast, talked: HubMemory) -> None:
    memory.delete_hub("work")
    done = talked.archive_conversation("s1")
    assert done.memory is None and "not there any more" in done.notes[0]


def _archive(folder: str) -> None:
    with open_for_tests(folder, clock=SystemClock(), ids=TimeIds(SystemClock())) as memory:
        done = memory.hub("work").archive_conversation("s1")
        assert done.memory and not done.notes


def test_processes_that_archive_at_once_make_one_archive(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        memory.create_hub("work").log_turn("user", "Hello there.", session="s1")
    context = multiprocessing.get_context("spawn")
    crowd = [context.Process(target=_archive, args=(str(tmp_path),)) for _ in range(3)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(60)
    assert [process.exitcode for process in crowd] == [0, 0, 0]
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub("work")
        assert len(os.listdir(f"{hub.folder}/conversations")) == 1
        assert len(hub.list(category="conversation")) == 1


# Names


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Auth fix", "auth-fix"),
        ("../../etc/passwd", "etc-passwd"),
        ("..\\..\\x:y", "x-y"),
        ("a\0b\nc", "a-b-c"),
        ("Überprüfung der Straße", "überprüfung-der-straße"),
        ("会議の記録", "会議の記録"),
        ("สวัสดีครับ", "สวัสดีครับ"),
        ("नमस्ते दुनिया", "नमस्ते-दुनिया"),
        ("🐍 snake", "snake"),
        ("e\u0301te\u0301", "été"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full-width"),
        ("---", ""),
        ("\u202egnp.exe", "gnp-exe"),
        ("one two " * 20, "one-two-one-two-one-two-one-two-one-two-one-two"),
        ("x" * 80, "x" * 50),
    ],
)
def test_a_slug_is_the_name_as_far_as_a_file_can_have_it(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@given(st.text())
def test_any_name_is_safe_as_a_file_and_as_a_key(name: str) -> None:
    slug = slug_of(name)
    assert len(slug) <= 50
    assert not set(slug) & set('/\\:*?"<>|.\0\n\r ')
    assert slug == slug.strip("-")
    key = f"conversation-2026-01-14-{slug or 'x'}"
    assert clean_key(key) == key
    assert len(f"2026-01-14-{slug}.md".encode()) < 220


def test_a_session_of_any_name_stays_in_its_folder(hub: HubMemory) -> None:
    for session in ("../../x", "a/b", "-->\n# x", '"', "`" * 9, "…" * 300):
        done = hub.archive_conversation(session, messages=[("user", session)], name=session)
        assert done.path is not None and done.memory is not None, done.notes
        assert os.path.dirname(done.path) == f"{hub.folder}/conversations"
        assert session_of(text_of(done)) == session.strip()


# The text


MESSAGES = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "system", "we*ird_", "<b>"]),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)
        | st.sampled_from(
            ["```\nopen", "<!-- message x -->", "## Conversation", "> a\r\n> b", "#"]
        ),
    ).filter(lambda said: said[1].strip("\r\n")),
    min_size=1,
    max_size=8,
)


def messages_of(said: list[tuple[str, str]]) -> list[Message]:
    ids = conversation_archive_format.ids_of(said)
    return [message_of(id_, *one) for id_, one in zip(ids, said, strict=True)]


@given(MESSAGES, MESSAGES, st.text())
def test_any_messages_are_read_back_and_added_to(
    first: list[tuple[str, str]], more: list[tuple[str, str]], title: str
) -> None:
    every = messages_of(first + more)
    begun = every[: len(first)]
    text = make(title, "s1", "2026-01-14", begun)
    assert read(text) == begun
    assert session_of(text) == "s1"
    assert add(text, begun) == text
    longer = add(text, every)
    assert read(longer) == every
    assert longer == make(title, "s1", "2026-01-14", every)
    assert add(longer, begun) == longer


@given(MESSAGES)
def test_no_message_reaches_beyond_its_quotation(said: list[tuple[str, str]]) -> None:
    text = make("Title", "s1", "2026-01-14", messages_of(said))
    begun = text.partition("## Conversation\n")[2]
    ours = re.compile(r"<!-- message [0-9a-f]{12}(-\d+)? -->|\*\*.+\*\*|>.*|", re.DOTALL)
    assert all(ours.fullmatch(line) for line in re.split("\r\n|\r|\n", begun))


def test_the_summary_fits_and_names_who_spoke() -> None:
    said = [("user", f"Point {n} about the audit log of the shop {n % 5}.") for n in range(300)]
    summary = conversation_archive_format.summary_of(messages_of(said))
    assert 600 < len(summary) <= 1_200
    assert all(line.startswith("user: ") for line in summary.split("\n"))
