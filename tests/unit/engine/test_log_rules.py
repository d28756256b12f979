"""A person decides what is logged, and can forget what was said."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Conflict, HubMemory, InvalidInput
from holdfast.domain.memory import Origin
from holdfast.engine.writing import edit
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock, HashEmbedder, open_for_tests
from tests.homes.traces import kept_in


def said(hub: HubMemory) -> list[str]:
    return [turn.content for turn in hub.turns(limit=100)][::-1]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("My code is <private>1234</private> today", "My code is  today"),
        ("a <PRIVATE reason='x'>b\nc</Private > d", "a  d"),
        ("a <private>b</private> c <private>d", "a  c "),
        ("a <private>b <private>c</private> 1234</private> d", "a  d"),
        ("is 1234</private> d", "d"),
        ("a < private >1234</ private > d", "a  d"),
        ("a &lt;private&gt;1234&lt;/private&gt; d", "a  d"),
        ("a ＜private＞1234＜/private＞ d", "a  d"),
        ("a <pri\u200bvate>1234</private> d", "a  d"),
        ("a <private why='x>y'>1234</private> d", "a  d"),
        # Letters and brackets that look like these, and other ways to escape them.
        ("a <рrivаtе>1234</рrivаtе> d", "a  d"),
        ("a <𝐩𝐫𝐢𝐯𝐚𝐭𝐞>1234</ｐｒｉｖａｔｅ> d", "a  d"),
        ("a <prívate>1234</pri\u0301vate> d", "a  d"),
        ("a ‹private›1234⟨/private⟩ 〈private〉1234＜／private＞ d", "a   d"),
        ("a &#60;private&#x3E;1234&amp;lt;/private&amp;gt; d", "a  d"),
        (r"a \<private\>1234\</private\> \u003cprivate\u003e1234%3C/private%3E d", "a   d"),
        ("a <private because 1234", "a "),
        ("a <private x='1>1234</private> d", "a  d"),
        ("> a <private>\n> 1234\n> </private>\n> d", "> a \n> d"),
        ("a\n```\n<private>1234</private>\n```\nd", "a\n```\n\n```\nd"),
        ("nothing to hide, 1 < 2", "nothing to hide, 1 < 2"),
        ("vector<private_t> & <privates> ‹été› 50%3", "vector<private_t> & <privates> ‹été› 50%3"),
    ],
)
def test_private_passages_are_not_logged(hub: HubMemory, text: str, kept: str) -> None:
    assert hub.observe_turn(text, "").turns[0].content.strip() == kept.strip()
    assert hub.log_turn("user", text).content.strip() == kept.strip()
    assert hub.recall("1234") == [] and hub.search_turns("1234") == []


def test_a_turn_that_is_all_private_is_not_logged(hub: HubMemory) -> None:
    seen = hub.observe_turn("<private>My code is 1234</private>", "<private>ok</private>")
    assert seen.turns == () and seen.reason == "all of it is private"
    with pytest.raises(InvalidInput):
        hub.log_turn("user", "<private>x</private>")
    assert said(hub) == []


@pytest.mark.parametrize(
    "said",
    [
        "Off the record: I have a second job at night",
        "between us, the firm is for sale",
        "Please don't remember this, but my knee hurts",
        "Unter uns: der Chef geht",
        "ganz unter uns, merk dir das nicht: der Chef geht",
        "ne retiens pas ça : le Chef part",
    ],
)
def test_a_message_that_asks_not_to_be_kept_is_not_logged(hub: HubMemory, said: str) -> None:
    seen = hub.observe_turn(said, "Noted, second job, knee, firm, Chef.", session="s")
    assert [turn.role for turn in seen.turns] in ([], ["assistant"])
    assert "night" not in str(hub.turns()) and "knee" not in str(hub.turns())
    assert hub.observe_turn(said, "", session="s").reason == "all of it is private"


@pytest.mark.parametrize(
    "said",
    [
        "off the record",
        "I don't remember this function",
        "don't remember that, forget it",
        "The split between us and them is odd",
        "Between us and the sea lies a dune",
    ],
)
def test_such_words_elsewhere_are_logged(hub: HubMemory, said: str) -> None:
    assert hub.observe_turn(said, "", session="s").turns


def test_a_reply_that_repeats_a_private_passage_is_logged_without_it(hub: HubMemory) -> None:
    asked = "Which lock fits the door? <private>My code is 4417.</private>"
    hub.observe_turn(asked, "Any lock fits the door. With 4417 as the code, use a dial. Ask Ann.")
    assert said(hub) == ["Which lock fits the door? ", "Any lock fits the door. Ask Ann."]
    given = [("Ann", asked), ("Bot", "Keep 4417 to yourself. Any lock fits."), ("Bot", "Not 4417.")]
    kept = hub.archive_conversation("s1", messages=given).memory
    assert kept is not None and "Any lock fits." in kept.content and "4417" not in kept.content


def test_a_pause_during_a_turn_holds_for_it(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.engine.log import observe, turns

    def pausing(*given: object, **named: object) -> str:
        hub.pause_log()
        return ""

    for module in (observe, turns):
        monkeypatch.setattr(module, "last_said", pausing)
    assert hub.observe_turn("The heron is back.", "").reason == "the log is paused"
    hub.resume_log()
    with pytest.raises(Conflict, match="paused"):
        hub.log_turn("user", "The heron is back.")
    assert said(hub) == []


def test_a_folder_is_known_by_any_of_its_names(hub: HubMemory, tmp_path: Path) -> None:
    (tmp_path / "Taxes" / "2026").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "Taxes")
    hub.set_log_aside(folders=[str(tmp_path / "link")], sessions=["Draft[1]", "work-*"])
    for name in ("link", "link/2026", "Taxes", "taxes/2026/", "Taxes/2026/../x", "link/../Taxes"):
        assert hub.observe_turn("Hello.", "", folder=f"{tmp_path}/{name}").turns == (), name
    for session in ("Draft[1]", "draft[1]", "WORK-7"):
        assert hub.observe_turn("Hello.", "", session=session).turns == (), session
    assert hub.observe_turn("Hello.", "", folder=f"{tmp_path}/Taxes2", session="other").turns


@pytest.mark.parametrize(
    ("aside", "folder", "logged"),
    [
        ("~/taxes", "{home}/taxes/2025", False),
        ("{home}/taxes", "~/taxes", False),
        ("C:\\Users\\Me\\Secret", "c:/users/me/secret/x", False),
        ("C:/Users/Me/Secret/", "C:\\Users\\Me\\Secret\\x", False),
        ("C:/Users/Me/Secret", "C:\\Users\\Me\\Secrets", True),
        ("~/taxes", "{home}/taxes2", True),
    ],
)
def test_a_folder_is_known_by_its_home_and_its_drive(
    hub: HubMemory, aside: str, folder: str, logged: bool
) -> None:
    home = str(Path.home())
    hub.set_log_aside(folders=[aside.format(home=home)])
    seen = hub.observe_turn("Our taxes", "Fine", folder=folder.format(home=home))
    assert bool(seen.turns) is logged


@pytest.mark.parametrize("name", ["\u202ework", "\x07work", "work\u2066"])
def test_a_session_is_known_by_the_name_that_it_was_given(hub: HubMemory, name: str) -> None:
    hub.observe_turn("I like peas", "Fine", session=name)
    assert hub.forget_turns(session=name, dry_run=True).total == 2
    assert len(hub.turns(session=name)) == 2
    hub.set_log_aside(sessions=["work"])
    assert hub.observe_turn("I like beans", "Fine", session=name).turns == ()


def test_private_passages_are_not_noted_either(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("work")
        text = "I live in Porto. <private>I am allergic to nuts.</private>"
        hub.observe_turn(text, "", noted=text)
        work_until_done(memory.core, memory.home)
        everything = " ".join(one.content for one in hub.list())
        assert "nuts" not in everything


SECRET_PART = "Remember that I live in Porto <private>and am allergic to nuts</private>."
CONVERSATIONS = [
    [{"role": "user", "content": SECRET_PART}],
    [{"role": "user", "content": [{"type": "text", "text": SECRET_PART}]}],
    [
        {"role": "user", "content": "<private>I am allergic to nuts."},
        {"role": "user", "content": "I live in Porto."},
    ],
]


def everything_in(hub: HubMemory) -> str:
    kept = [one.content for one in (*hub.list(), *hub.list(quarantined=True))]
    files = [one.read_text() for one in Path(hub.folder).rglob("*") if one.is_file()]
    return "\n".join([*kept, *files, *(turn.content for turn in hub.turns(limit=100))])


@pytest.mark.parametrize("messages", [*CONVERSATIONS, f"User: {SECRET_PART}\nAssistant: Noted."])
def test_a_flush_does_not_capture_private_passages(hub: HubMemory, messages: object) -> None:
    hub.flush(messages)  # type: ignore[arg-type]
    assert "Porto" in everything_in(hub) and "nuts" not in everything_in(hub)


@pytest.mark.parametrize("messages", CONVERSATIONS)
def test_an_archive_holds_no_private_passages(
    hub: HubMemory, messages: list[dict[str, object]]
) -> None:
    assert hub.archive_conversation("s1", messages=messages).notes == ()
    assert "Porto" in everything_in(hub) and "nuts" not in everything_in(hub)


def test_a_conversation_that_is_all_private_is_not_archived(hub: HubMemory) -> None:
    hidden = [{"role": "user", "content": "<private>I am allergic to nuts.</private>"}]
    done = hub.archive_conversation("s1", messages=hidden)
    assert done.memory is None and "nothing to archive" in done.notes[0]


def test_a_conversation_that_is_remembered_is_without_its_private_passages(
    hub: HubMemory,
) -> None:
    text = f"User: {SECRET_PART}\nAssistant: Noted, you live in Porto.\nUser: Yes, since May."
    stored = hub.remember(text, content_type="chat").memory
    assert "Porto" in stored.content and "nuts" not in everything_in(hub)


def test_a_paused_log_takes_nothing_in_until_it_is_resumed(
    hub: HubMemory, clock: FixedClock
) -> None:
    assert hub.log_rules().paused is False
    hub.pause_log()
    assert hub.observe_turn("one", "two").reason == "the log is paused"
    with pytest.raises(Conflict):
        hub.log_turn("user", "one")
    hub.resume_log()
    hub.observe_turn("three", "")
    hub.pause_log(clock.now() + timedelta(hours=1))
    hub.observe_turn("four", "")
    clock.tick(hours=2)
    hub.observe_turn("five", "")
    assert said(hub) == ["three", "five"]
    with pytest.raises(InvalidInput):
        hub.pause_log(clock.now() - timedelta(hours=1))


def test_sessions_and_folders_that_were_set_aside_are_not_logged(hub: HubMemory) -> None:
    hub.set_log_aside(sessions=["health-*"], folders=["/home/ana/taxes/"])
    assert hub.observe_turn("a", "", session="health-7").reason == "its session was set aside"
    assert hub.observe_turn("b", "", folder="/home/ana/taxes/2026").reason
    assert not hub.observe_turn("c", "", folder="/home/ana/taxes-old").reason.startswith("its")
    hub.observe_turn("d", "", session="work")
    assert said(hub) == ["c", "d"]
    rules = hub.set_log_aside(sessions=["health-*"], remove=True)
    assert (rules.sessions, rules.folders) == ((), ("/home/ana/taxes",))
    hub.observe_turn("e", "", session="health-7")
    assert said(hub)[-1] == "e"
    with pytest.raises(InvalidInput):
        hub.set_log_aside()


@pytest.fixture
def talked(hub: HubMemory, clock: FixedClock) -> HubMemory:
    turn = hub.observe_turn("My doctor is called Ines", "Noted", session="health").turns[0]
    hub.remember("Doctor is Ines", origin=Origin(turn.id, 0, 20, ""))
    hub.remember("Ines likes tea")
    clock.tick(days=1)
    hub.observe_turn("The deploy failed", "Sorry", session="work")
    return hub


def test_a_preview_says_what_would_go_and_changes_nothing(talked: HubMemory) -> None:
    told = talked.forget_turns(session="health", dry_run=True)
    assert (told.total, told.dry_run) == (2, True)
    assert [turn.content for turn in told.turns] == ["My doctor is called Ines", "Noted"]
    assert [memory.content for memory in told.memories] == ["Doctor is Ines"]
    assert len(said(talked)) == 4 and len(talked.list()) == 2


def test_a_session_is_forgotten_with_the_memories_made_from_it(talked: HubMemory) -> None:
    talked.forget_turns(session="health")
    assert said(talked) == ["The deploy failed", "Sorry"]
    assert [memory.content for memory in talked.list()] == ["Ines likes tea"]
    assert all(hit.turn is None for hit in talked.recall("doctor called Ines"))
    talked.undo()
    assert len(talked.list()) == 2


@pytest.mark.parametrize("purge", [False, True])
def test_what_another_process_notes_meanwhile_is_forgotten_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, purge: bool
) -> None:
    with open_for_tests(tmp_path, settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("work")
        hub.remember("The xylophone is in the hall")
        hub.observe_turn("I prefer the xylophone to the harp.", "Why?")
        name = "purge" if purge else "forget"
        act, noted = getattr(edit, name), []

        def then_noted(*given: object, **named: object) -> object:
            done = act(*given, **named)
            work_until_done(memory.core, memory.home)
            noted.extend(one.content for one in hub.list())
            return done

        monkeypatch.setattr(edit, name, then_noted)
        hub.forget_turns(about="xylophone", purge=purge)
        assert any("harp" in one for one in noted)
        assert hub.list() == []


def test_the_last_hour_is_forgotten(talked: HubMemory, clock: FixedClock) -> None:
    talked.forget_turns(since=clock.now() - timedelta(hours=1))
    assert said(talked) == ["My doctor is called Ines", "Noted"]


def test_everything_about_a_word_is_forgotten(talked: HubMemory) -> None:
    told = talked.forget_turns(about="ines", purge=True)
    assert told.total == 1 and len(told.memories) == 2
    assert talked.recall("Ines") == [] and talked.list() == []
    assert "My doctor is called Ines" not in said(talked)


def test_what_to_forget_has_to_be_said(talked: HubMemory) -> None:
    for wrong in ({}, {"about": " "}, {"about": "!!!"}, {"about": "x" * 300}):
        with pytest.raises(InvalidInput):
            talked.forget_turns(**wrong)
    assert len(said(talked)) == 4


@pytest.mark.parametrize(
    ("about", "said", "kept"),
    [
        ("Schwester", "Meine Schwestern mögen Schokolade.", "Das Schwesternheim ist zu."),
        ("Rechnung", "Die Rechnungen sind alle bezahlt.", "Der Rechner ist zu langsam."),
        ("sorella", "Le mie sorelle vivono a Bari.", "La sorellastra non viene."),
        ("hermana", "Mis hermanas viven en Lugo.", "El hermanastro no viene."),
        ("afspraak", "De afspraken zijn niet gelukt.", "Het afspreken is niet gelukt."),
    ],
)
@pytest.mark.parametrize("purge", [False, True])
def test_other_forms_of_a_word_are_forgotten_in_other_languages(
    hub: HubMemory, about: str, said: str, kept: str, purge: bool
) -> None:
    for text in (said, kept):
        hub.observe_turn(text, "", session="s")
    memory = hub.remember(said).memory
    told = hub.forget_turns(about=about, dry_run=True)
    assert [turn.content for turn in told.turns] == [said]
    assert [one.id for one in told.memories] == [memory.id]
    hub.forget_turns(about=about, purge=purge, dry_run=False)
    assert [turn.content for turn in hub.turns()] == [kept]
    assert hub.list() == []


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ("Roberta", "Roberto ha chiamato mio fratello e viene a cena con la moglie."),
        ("paola", "Domani viene Paolo con la moglie e mio fratello."),
        ("Daniel", "Mi hermana y Daniela viven en la casa de mi madre."),
    ],
)
def test_the_name_of_somebody_else_is_no_form_of_a_name(
    hub: HubMemory, about: str, said: str
) -> None:
    hub.observe_turn(said, "", session="s")
    assert hub.forget_turns(about=about, dry_run=True).total == 0


@pytest.mark.parametrize(
    ("about", "gone"),
    [
        ("Ines", ["Ask INES, not Al", "Ines's kite"]),
        ("al", ["Ask INES, not Al"]),
        ("東京", ["私は東京に住んでいます"]),
        ("r", ["Written in R"]),
    ],
)
def test_what_is_about_a_word_has_the_word_and_not_its_letters(
    hub: HubMemory, about: str, gone: list[str]
) -> None:
    texts = ["The machines all run", "Ask INES, not Al", "Ines's kite", "私は東京に住んでいます"]
    for text in (*texts, "Written in R"):
        hub.log_turn("user", text)
        hub.remember(text)
    told = hub.forget_turns(about=about, dry_run=True)
    assert [turn.content for turn in told.turns] == gone
    assert [one.content for one in told.memories] == gone


def test_nothing_is_left_of_what_was_forgotten(tmp_path: Path) -> None:
    settings = {"shadowJournal.enabled": True}
    with open_for_tests(tmp_path, settings=settings, embedder=HashEmbedder()) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("work")
        hub.observe_turn("The xylophone rehearsal is on Monday", "Fine")
        hub.observe_turn("I bought a quokka poster", "Nice")
        hub.recall("xylophone")
        memory.core.wait()
        hub.forget_turns(about="xylophone", purge=True)
        assert memory.core.store.check() == []
    kept = {place: data.lower() for place, data in kept_in(tmp_path)}
    assert [place for place, data in kept.items() if b"xylophon" in data] == []
    assert any("memory.db" in place and b"quokka" in data for place, data in kept.items())


def test_a_question_that_was_forgotten_is_not_in_the_note_of_its_answer(tmp_path: Path) -> None:
    settings = {"shadowJournal.enabled": True}
    with open_for_tests(tmp_path, settings=settings) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("work")
        hub.observe_turn("Hello", "Do you play the xylophone?", session="s")
        hub.observe_turn("Every day.", "Nice", session="s")
        assert [job.about.get("question", "") for job in hub.jobs()] == [
            "",
            "Do you play the xylophone?",
        ]
        hub.forget_turns(about="xylophone")
        # The answer is still to be noted, without the question.
        assert [job.about.get("question") for job in hub.jobs()] == [None]
    assert [place for place, data in kept_in(tmp_path) if b"xylophone" in data] == []


def test_a_word_that_is_purged_is_gone_from_history_and_from_what_was_forgotten(
    tmp_path: Path,
) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.create_hub("work")
        changed = hub.remember("The xylophone is in the hall", tags=["xylophone", "hall"]).memory
        hub.update(changed.number, content="The quokka poster is in the hall", tags=["hall"])
        gone = hub.remember("Tune the xylophone in May").memory
        hub.forget(gone.number, reason="no xylophone any more")
        noted = hub.remember("The tuba", metadata={"by": [{"xylophone": "No xylophone"}]}).memory
        hub.update(noted.number, metadata={"by": ["Kim"]})
        kept = hub.remember("The trumpet is in the hall").memory
        hub.update(kept.number, content="The trumpet is in the attic")
        others = [
            hub.remember("A", summary="On the xylophone").memory.number,
            hub.remember("B", key="xylophone-tuner").memory.number,
        ]
        would = hub.forget_turns(about="xylophone", purge=True, dry_run=True)
        assert [one.number for one in would.memories] == [gone.number, *others]
        hub.forget_turns(about="xylophone", purge=True)
        assert memory.core.store.check() == []
        assert hub.get(changed.number).content == "The quokka poster is in the hall"
        assert len(hub.history(changed.number)) == len(hub.history(kept.number)) == 2
    held = {place: data.lower() for place, data in kept_in(tmp_path)}
    assert [place for place, data in held.items() if b"xylophon" in data] == []
    assert any(b"trumpet is in the hall" in data for data in held.values())


def test_a_word_that_is_purged_leaves_fields_that_holdfast_fills(hub: HubMemory) -> None:
    number = hub.remember("The tuba", category="decision", boundary="hub").memory.number
    hub.update(number, boundary="team", category="fact", kind="episodic")
    hub.archive(number)
    hub.restore(number)
    before = [entry.revision.fields for entry in hub.history(number)]
    for word in ("team", "hub", "episodic", "decision", "fact", "active"):
        assert hub.forget_turns(about=word, purge=True).memories == ()
    assert [entry.revision.fields for entry in hub.history(number)] == before
    assert hub.recall("tuba")


def test_everything_is_kept_and_a_year_is_forecast(hub: HubMemory, clock: FixedClock) -> None:
    for _ in range(73):
        hub.observe_turn("x" * 900, "y" * 100)
        clock.tick(days=1)
    size = hub.log_size()
    assert (size.turns, size.text_bytes) == (146, 73_000)
    assert size.store_bytes == 146 * 1_000 + 73_000 * 5
    assert size.year_bytes == pytest.approx(size.store_bytes * 365 / 72, rel=0.01)


def test_the_log_can_be_bounded_by_age_and_by_size(tmp_path: Path, clock: FixedClock) -> None:
    settings = {"log.days": 10, "log.prune_every": 1}
    with open_for_tests(tmp_path / "days", settings=settings, clock=clock) as memory:
        hub = memory.create_hub("work")
        for number in range(20):
            hub.log_turn("user", f"day {number}")
            clock.tick(days=1)
        assert said(hub) == [f"day {number}" for number in range(9, 20)]
    settings = {"log.megabytes": 1, "log.prune_every": 1}
    with open_for_tests(tmp_path / "size", settings=settings, clock=clock) as memory:
        hub = memory.create_hub("work")
        for number in range(15):
            hub.log_turn("user", f"{number} " + "word " * 20_000)
        assert 8 <= len(said(hub)) <= 10 and said(hub)[-1].startswith("14 ")
        assert memory.core.store.check() == []


def test_the_tools_of_max_keep_200_turns_unless_a_setting_says_otherwise(tmp_path: Path) -> None:
    for settings, kept in (({}, 200), ({"log.keep": 0}, 260)):
        with open_for_tests(tmp_path / str(kept), settings=settings) as memory:
            hub = memory.create_hub("work")
            holdfast.tools("holdfast", hub)
            for number in range(210):
                hub.log_turn("user", f"turn {number}")
            assert len(hub.turns(500)) == 210
            holdfast.tools("max", hub, read_only=True)
            hub.log_turn("user", "a reader cuts nothing")
            holdfast.tools("max", hub)
            for number in range(49):
                hub.log_turn("user", f"later turn {number}")
            # Cut at the 250th turn, and ten came since.
            assert len(hub.turns(500)) == (210 if kept == 200 else 260)


def test_what_was_taken_in_last_from_a_session_is_forgotten_at_once(
    hub: HubMemory, clock: FixedClock
) -> None:
    hub.remember("Prefers tabs", session="s")
    clock.tick(minutes=1)
    last = [
        hub.remember(text, session="s").memory.id
        for text in ("The door code is on the fridge", "Has a cat")
    ]
    told = hub.forget_last("s", dry_run=True)
    assert {one.id for one in told} == set(last)
    assert len(hub.list()) == 3
    assert {one.id for one in hub.forget_last("s", reason="as asked")} == set(last)
    assert [one.content for one in hub.list()] == ["Prefers tabs"]
    hub.undo()
    assert len(hub.list()) == 3
    assert hub.forget_last("another") == []
    with pytest.raises(InvalidInput):
        hub.forget_last(" ")


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "The xylophone"},
        {"summary": "It has a xylophone"},
        {"tags": ["xylophone"]},
        {"tags": ["a xylophone"]},
        {"key": "my xylophone"},
        {"category": "xylophone"},
    ],
)
def test_forgetting_about_a_word_finds_it_beside_the_content_too(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.create_hub("music")
        hub.remember("Something else", title="Another")
        found = hub.remember("It hangs on the wall", **fields).memory
        seen = hub.forget_turns(about="xylophone", dry_run=True)
        assert [one.id for one in seen.memories] == [found.id]
        hub.forget_turns(about="xylophone", purge=True)
        assert [one.content for one in hub.list()] == ["Something else"]
        assert not [place for place, data in kept_in(tmp_path) if b"xylophone" in data.lower()]
