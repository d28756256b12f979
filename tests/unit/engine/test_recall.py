"""Recall through the library: what is found, why, and what is said when a part is missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast import EmbedderError, HubMemory, InvalidInput, NotFound
from holdfast.domain.clock import TimeIds
from holdfast.engine.writing.indexing import embed_missing
from holdfast.passes.work import work_until_done
from holdfast.recall import weights
from holdfast.testing import FixedClock, HashEmbedder, open_for_tests


def numbers(hits: Sequence[Any]) -> list[int]:
    return [hit.memory.number for hit in hits]


@pytest.fixture
def notes(hub: HubMemory) -> HubMemory:
    hub.remember("Prefers tabs over spaces", category="preference", tags=["editor"])
    hub.remember("The deploy runs every Thursday at noon", tags=["ops"])
    hub.remember("New York office has no parking")
    hub.remember("York has a new office", key="york-office")
    hub.remember("Why we chose Postgres: row level security", kind="rationale")
    return hub


def test_a_hit_has_its_memory_passage_score_and_reasons(notes: HubMemory) -> None:
    hit = notes.recall("tabs or spaces?", limit=5)[0]
    assert hit.memory.number == 1
    assert hit.passage.text == "Prefers tabs over spaces"
    assert hit.score == pytest.approx(sum(hit.parts.values()), abs=1e-5)
    assert "words: tab, space" in hit.why


def test_the_same_question_gives_the_same_answer(notes: HubMemory) -> None:
    assert notes.recall("office in York") == notes.recall("office in York")


def test_a_quoted_phrase_must_stand_there(notes: HubMemory) -> None:
    assert numbers(notes.recall('"new york" office')) == [3]
    assert set(numbers(notes.recall("new york office"))) == {3, 4}


def test_an_excluded_word_must_not(notes: HubMemory) -> None:
    assert numbers(notes.recall("office -parking")) == [4]
    assert numbers(notes.recall('office -"new office"')) == [3]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tabs tag:editor", [1]),
        ("tabs tag:ops", []),
        ("office key:york-office", [4]),
        ("tabs category:preference", [1]),
        ("tabs category:fact", []),
        ("postgres kind:rationale", [5]),
        ("postgres -kind:rationale", []),
        ("tabs source:sdk", [1]),
        ("tabs source:cli", []),
    ],
)
def test_a_question_can_hold_filters(notes: HubMemory, query: str, found: list[int]) -> None:
    assert numbers(notes.recall(query)) == found


def test_a_time_in_the_question_boosts_and_does_not_hide(hub: HubMemory, clock: FixedClock) -> None:
    hub.remember("Ran a race in the park", occurred_at=datetime(2025, 3, 2, tzinfo=UTC))
    hub.remember("Ran a race on the beach", occurred_at=datetime(2025, 9, 7, tzinfo=UTC))
    assert numbers(hub.recall("which race did I run in March 2025")) == [1, 2]
    assert numbers(hub.recall("which race did I run in September 2025")) == [2, 1]


def test_before_and_after_hide(hub: HubMemory) -> None:
    hub.remember("Ran a race in the park", occurred_at=datetime(2025, 3, 2, tzinfo=UTC))
    hub.remember("Ran a race on the beach", occurred_at=datetime(2025, 9, 7, tzinfo=UTC))
    assert numbers(hub.recall("race after:2025-06-01")) == [2]
    assert numbers(hub.recall("race before:2025-06-01")) == [1]
    assert numbers(hub.recall("race", since="2025-06-01T00:00:00Z")) == [2]
    with pytest.raises(InvalidInput):
        hub.recall("race after:2025-06-01 before:2025-01-01")
    with pytest.raises(InvalidInput, match="ends before it begins"):
        hub.recall("race", since="2025-06-01T00:00:00Z", until="2025-01-01T00:00:00Z")


SCRIPTS = [
    ("我住在里斯本，喜欢喝茶", "里斯本"),
    ("我住在里斯本，喜欢喝茶", "茶"),
    ("東京タワーの近くに住んでいる", "タワー"),
    ("ฉันชอบกินข้าวผัด", "ข้าวผัด"),
    ("أحب القهوة العربية في الصباح", "القهوة"),
    ("أُحِبُّ القَهْوَةَ", "القهوة"),
    ("İstanbul'da ılık bir gün", "istanbul"),
    ("İstanbul'da ılık bir gün", "ilik"),
    ("Crème brûlée in Orléans", "creme brulee"),
    ("Straße nach Zürich", "strasse zurich"),
    ("The bug is in getUserById of the api", "getUserById"),
    ("The bug is in getUserById of the api", "user by id"),
    ("The bug is in getUserById of the api", "getUser"),
    ("The bug is in getUserById of the api", "serByI"),
    ("see https://example.com/v2?x=1 for details", "https://example.com/v2?x=1"),
    ("see https://example.com/v2?x=1 for details", "example.com"),
    ("the config is in ~/dev/api/src/auth.ts", "~/dev/api/src/auth.ts"),
    ("the config is in ~/dev/api/src/auth.ts", "src/auth"),
    ("authentication is handled upstream", "authent"),
    ("authentication is handled upstream", "hentica"),
    ("Uses C++ and C# at work", "C++"),
    ("the set is 100% done", "100%"),
    ("snake_case_name is used", "snake_case"),
    ("Привет из Москвы, столицы России", "москва"),
]


@pytest.mark.parametrize(("text", "query"), SCRIPTS)
def test_any_script_symbol_and_part_of_a_word_is_found(
    hub: HubMemory, text: str, query: str
) -> None:
    hub.remember_many(["The weather was fine", "Lunch with Ana", "Fix the printer soon"])
    wanted = hub.remember(text).memory.number
    assert numbers(hub.recall(query))[:1] == [wanted]


@pytest.mark.parametrize(
    "query",
    [
        *"\"%_*-()^'\\",
        "NEAR",
        "NEAR(a b, 2)",
        "a AND",
        "OR",
        "a:b:c",
        "?!.",
        "a*",
        "{x}",
        "tag:",
        "日" * 5_000,
        "the of and",
        "x" * 100_000,
        chr(0xD83D),
    ],
)
def test_no_query_is_syntax_and_none_breaks(notes: HubMemory, query: str) -> None:
    for hit in notes.recall(query):
        assert hit.memory.visible


def test_a_percent_sign_is_a_character(hub: HubMemory) -> None:
    hub.remember("A discount of 50% is given")
    hub.remember("A discount of 500 is given")
    assert numbers(hub.recall("50%"))[:1] == [1]


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_query_is_an_error(notes: HubMemory, query: str) -> None:
    with pytest.raises(InvalidInput, match="what to look for"):
        notes.recall(query)


@pytest.mark.parametrize("limit", [0, -1, 1_001, True, "5"])
def test_a_limit_out_of_bounds_is_an_error(notes: HubMemory, limit: Any) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        notes.recall("tabs", limit=limit)


def test_the_same_words_under_two_keys_are_both_found(hub: HubMemory) -> None:
    hub.remember("The favourite colour is blue", key="ana")
    hub.remember("The favourite colour is blue", key="ben")
    assert {hit.memory.key for hit in hub.recall("favourite colour")} == {"ana", "ben"}


def test_what_has_a_key_is_found_beside_what_says_the_same_without_one(hub: HubMemory) -> None:
    hub.remember("The favourite colour is blue")
    hub.remember("The favourite colour is green", key="ana")
    hub.remember("The favourite colour is blue", key="ana")
    assert "ana" in {hit.memory.key for hit in hub.recall("favourite colour blue")}


def test_near_identical_hits_collapse(hub: HubMemory) -> None:
    hub.remember("Standup is at 9:30 in the morning")
    hub.remember("In the morning, standup is at 9:30!")
    hub.remember("Standup moved to the big room")
    found = hub.recall("standup")
    assert len(found) == 2
    assert found.filtered == {"a better hit says the same": 1}


def test_an_explanation_names_what_was_left_out_and_why(notes: HubMemory) -> None:
    notes.archive(1)
    assert notes.recall("tabs").left_out == []
    explained = notes.recall("tabs", explain=True)
    assert [(left.memory.number, left.reason) for left in explained.left_out] == [
        (1, "its state is archived")
    ]


def test_a_turn_beside_an_answer_is_lifted_and_a_named_speaker_preferred(hub: HubMemory) -> None:
    for speaker, text in [
        ("Nate", "Guess what happened with my turtles"),
        ("Ana", "No idea, tell me"),
        ("Nate", "I finally got a third turtle"),
        ("Ana", "I would love a turtle as well"),
    ]:
        hub.remember(text, session="s1", speaker=speaker)
    hit = hub.recall("How many turtles does Nate have?")[0]
    assert hit.memory.speaker == "Nate"
    assert "said by Nate" in hit.why


class _CountingEmbedder(HashEmbedder):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Any:
        self.asked.append(text)
        return super().embed_query(text)


def test_a_question_that_is_asked_of_two_hubs_is_embedded_once(tmp_path: Path) -> None:
    embedder = _CountingEmbedder()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        for name in ("home", "work"):
            memory.create_hub(name).remember(f"Tea is drunk at {name}")
        answers = [memory.hub(name).recall("where is tea drunk?") for name in ("home", "work")]
    assert [len(hits) for hits in answers] == [1, 1]
    assert embedder.asked == ["where is tea drunk?"]


def test_of_many_questions_the_last_ones_are_kept(tmp_path: Path) -> None:
    embedder = _CountingEmbedder()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        memory.hub().remember("Tea is drunk at home")
        for number in (*range(100), 99, 0):
            memory.hub().recall(f"tea number {number}")
    assert len(embedder.asked) == 101
    assert embedder.asked[-2:] == ["tea number 99", "tea number 0"]


class FailingEmbedder(HashEmbedder):
    identity = "failing"

    def embed_query(self, text: str) -> Any:
        raise EmbedderError("The endpoint did not answer within 1 s.")

    embed_passages = embed_query  # type: ignore[assignment]


def test_a_dead_model_degrades_to_words_and_says_so(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=FailingEmbedder()) as memory:
        hub = memory.hub()
        hub.remember("Prefers tabs")
        found = hub.recall("tabs")
        assert numbers(found) == [1]
        assert any("no vector" in note for note in found.degraded)


def test_a_model_that_dies_later_degrades_to_words_and_says_so(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.hub()
        hub.remember("Prefers tabs")
        assert "vector" in hub.recall("which tabs?")[0].parts
        embedder.embed_query = FailingEmbedder().embed_query  # type: ignore[method-assign]
        assert not hub.recall("which tabs?").degraded, "the vector of this question is kept"
        found = hub.recall("tabs")
        assert numbers(found) == [1]
        assert any("did not answer" in note for note in found.degraded)


class ShorterEmbedder(HashEmbedder):
    """Another model behind the same name."""

    dimensions = 32

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return super().embed_passages(texts)[:, :32] + 0.01


def test_vectors_of_another_length_degrade_to_words_and_say_so(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        memory.hub().remember("Prefers tabs")
    clock = FixedClock()
    with open_for_tests(
        tmp_path, embedder=ShorterEmbedder(), clock=clock, ids=TimeIds(clock)
    ) as memory:
        memory.hub().remember("Prefers spaces")
        found = memory.hub().recall("tabs or spaces")
        assert set(numbers(found)) == {1, 2}
        assert "length 32" in found.degraded[0]


def test_without_a_model_words_answer_and_say_so(notes: HubMemory) -> None:
    assert "there is no embedding model" in notes.recall("tabs").degraded[0]
    assert notes.recall("tabs", meaning=False).degraded == ()


class OtherEmbedder(HashEmbedder):
    """The same texts in another space: mixing the two would make nonsense."""

    identity = "other-space"

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return super().embed_passages(texts)[:, ::-1].copy()


def test_another_model_starts_over_and_words_answer_meanwhile(tmp_path: Path) -> None:
    settings = {"embed.background": False}
    with open_for_tests(tmp_path, embedder=HashEmbedder(), settings=settings) as memory:
        memory.hub().remember_many([f"Note {n} about topic {n % 7}" for n in range(150)])
        assert memory.unembedded() == 0
    with open_for_tests(tmp_path, embedder=OtherEmbedder(), settings=settings) as memory:
        hub = memory.hub()
        found = hub.recall("topic 3")
        assert found
        assert all("vector" not in hit.parts for hit in found)
        assert "150 passages" in found.degraded[0]
        seen: list[tuple[int, int]] = []
        assert memory.embed_missing(lambda done, total: seen.append((done, total))) == 150
        assert seen[-1] == (150, 150)
        assert len(seen) > 1
        assert "vector" in hub.recall("topic 3")[0].parts
        assert hub.recall("topic 3").degraded == ()
    with open_for_tests(tmp_path, embedder=HashEmbedder(), settings=settings) as memory:
        assert memory.unembedded() == 0


def test_missing_vectors_are_made_in_the_background(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        memory.hub().remember_many([f"Note {n}" for n in range(30)])
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        assert memory.hub().recall("note").degraded
        memory.core.wait()
        assert memory.unembedded() == 0


def test_the_vector_cache_follows_every_change(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember_many(["alpha beta", "gamma delta", "epsilon zeta"])

        def near(text: str) -> list[int]:
            return [h.memory.number for h in hub.recall(text) if h.parts.get("vector", 0) > 0.5]

        assert near("alpha beta") == [1]
        hub.remember("alpha beta gamma")
        assert 4 in near("alpha beta gamma")
        hub.update(1, content="omega psi")
        assert near("omega psi") == [1]
        assert 1 not in near("alpha beta")
        hub.forget(1)
        assert near("omega psi") == []
        hub.undo()
        assert near("omega psi") == [1]
        hub.purge(1)
        assert near("omega psi") == []


def test_related_memories_are_near_and_not_itself(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember_many(["cats and dogs", "dogs and birds", "taxes and forms"])
        assert numbers(hub.related(1))[0] == 2
        assert 1 not in numbers(hub.related(1))


@pytest.mark.parametrize("embedder", [None, HashEmbedder()])
def test_what_a_memory_was_made_from_is_not_related_to_it(
    tmp_path: Path, embedder: HashEmbedder | None
) -> None:
    settings = {"shadowJournal.enabled": True}
    with open_for_tests(tmp_path, embedder=embedder, settings=settings) as memory:
        memory.core.set_has_worker(True)
        hub = memory.hub()
        for said in ("No, use uv, not pip.", "No, use tabs, not spaces.", "No, use vim, not pico."):
            hub.observe_turn(said, "", session="s")
        work_until_done(hub.core, hub.home)
        embed_missing(hub.core)
        said_so = {one.content for one in hub.list()}
        assert len(hub.list()) == 6 and len(said_so) == 3
        for one in hub.list():
            near = [hit.memory.content for hit in hub.related(one.id)]
            assert sorted(near) == sorted(said_so - {one.content})


def test_related_works_on_words_without_a_model(notes: HubMemory) -> None:
    assert numbers(notes.related(3))[0] == 4


def test_a_successor_is_held_to_what_the_question_excludes(hub: HubMemory) -> None:
    hub.remember("Works at Initech as a programmer")
    hub.remember("New job at Globex", supersedes=1, tags=["job"])
    assert 2 in numbers(hub.recall("Initech programmer"))
    assert 2 not in numbers(hub.recall("Initech programmer -globex"))
    assert 2 not in numbers(hub.recall("Initech programmer -tag:job"))


def test_a_memory_without_a_vector_is_found_by_its_words_among_those_that_have_one(
    tmp_path: Path,
) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock, ids=TimeIds(clock)) as memory:
        memory.hub().remember("Zebulon repairs the coffee machine")
    with open_for_tests(
        tmp_path,
        clock=clock,
        ids=TimeIds(clock),
        embedder=HashEmbedder(),
        settings={"embed.background": False},
    ) as memory:
        hub = memory.hub()
        hub.remember_many([f"Note {n} on the machine in room {n}" for n in range(30)])
        assert numbers(hub.recall("who is Zebulon and what does he repair?"))[0] == 1
        assert numbers(hub.recall("Zebulon")) == [1]


def test_a_past_text_is_found_among_those_that_have_a_vector(
    tmp_path: Path, clock: FixedClock
) -> None:
    with open_for_tests(tmp_path, clock=clock, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember("The password manager is Bitwarden", key="pm")
        hub.remember_many([f"The office of team {n} is in room {n}" for n in range(30)])
        then = clock.now()
        clock.tick(days=1)
        hub.update("pm", content="The password manager is 1Password")
        hub.remember_many([f"Bitwarden password manager tip {n}" for n in range(400)])
        for query in ("what password manager do we use?", "bitwarden"):
            hit = hub.recall(query, as_of=then)[0]
            assert hit.memory.content == "The password manager is Bitwarden"


def test_a_narrow_filter_reaches_past_the_nearest(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember_many([f"kitten {n} sitting on the rug" for n in range(500)])
        wanted = hub.remember("A feline in the house", tags=["pets"]).memory.number
        assert numbers(hub.recall("kitten sitting on the rug", tags=["pets"])) == [wanted]


def test_a_name_is_looked_up_rather_than_guessed(hub: HubMemory) -> None:
    filler = "The team meets to talk about plans and releases. " * 20
    hub.remember(f"{filler} Ask Rosa about budgets. {filler}")
    hub.remember_many([f"The plan of team {n} is ready" for n in range(20)])
    assert numbers(hub.recall("Rosa")) == [1]


def test_conditions_alone_list_what_meets_them(notes: HubMemory) -> None:
    assert numbers(notes.recall("tag:editor")) == [1]
    assert set(numbers(notes.recall("category:preference"))) == {1}
    assert 1 not in numbers(notes.recall("-tag:editor category:fact"))


def test_a_question_cannot_widen_what_the_caller_asked_for(notes: HubMemory) -> None:
    assert notes.recall("category:fact office", category="preference") == []
    assert notes.recall("kind:rationale postgres", kind="procedural") == []


def test_what_belongs_to_the_project_at_hand_comes_first(hub: HubMemory) -> None:
    hub.remember("Deploys with make ship", source_path="/home/ada/site/README.md")
    hub.remember("Deploys with make push", source_path="/home/ada/siteB/README.md")
    hub.remember("Deploys with make send", tags=["api"])
    query = "how are deploys made?"
    assert numbers(hub.recall(query, project="/home/ada/site"))[0] == 1
    assert numbers(hub.recall(query, project="/home/ada/siteB/"))[0] == 2
    assert numbers(hub.recall(query, project="api"))[0] == 3


def test_signs_alone_mean_nothing(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        memory.hub().remember("Prefers tabs")
        assert memory.hub().recall("?!…") == []


def test_a_long_text_is_kept_at_once_and_embedded_later(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember("A sentence about many things of note. " * 900 + "The zebra is striped.")
        assert memory.unembedded() > 0
        assert numbers(hub.recall("zebra")) == [1]
        memory.core.wait()
        assert memory.unembedded() == 0


def test_only_the_default_hub_is_made_by_itself(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"hub": "ghost"}) as memory:
        with pytest.raises(NotFound, match="ghost"):
            memory.hub()
        assert memory.hub("ghost", create=True).name == "ghost"
        assert memory.hub().name == "ghost"


def test_a_long_document_is_found_by_a_passage_in_its_middle(hub: HubMemory) -> None:
    filler = "\n\n".join(f"## Part {n}\n\n" + "Nothing of note here. " * 60 for n in range(12))
    text = filler + "\n\n## Rollback\n\nTo roll back run `ship undo` twice, then tell the channel"
    text += " what was undone and why, and open a ticket for the cause of it.\n\n"
    text += filler
    hub.remember(text, content_type="markdown")
    hit = hub.recall("how do I roll back?")[0]
    assert "ship undo" in hit.passage.text
    assert hit.passage.headings[-1] == "Rollback"
    assert text[hit.passage.start : hit.passage.end] == hit.passage.text
    assert len(hit.passage.text) < 3_000


def test_hubs_do_not_see_each_other(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        one, two = memory.create_hub("one"), memory.create_hub("two")
        one.remember("The zebra crossing code is striped", speaker="Zed")
        alone = two.remember("A zebra is in the zoo").memory
        before = two.recall("zebra")
        one.remember_many([f"zebra {n}" for n in range(50)])
        assert two.recall("zebra") == before
        assert {hit.memory.id for hit in two.recall("zebra crossing striped Zed")} == {alone.id}


def test_the_best_word_score_counts_its_whole_weight_whatever_the_length_of_the_question(
    tmp_path: Path,
) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember_many(["The red boat is moored in Oslo", "Bread needs flour and water"])
        long = "red boat moored " + " ".join(f"filler{n}" for n in range(40))
        for question in ("red boat moored", long):
            assert hub.recall(question)[0].parts["words"] == weights.LEXICAL_WEIGHT


def test_one_word_of_a_small_hub_counts_a_part_of_the_weight(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember_many(["The red boat is moored in Oslo", "Bread needs flour and water"])
        found = {hit.memory.number: hit for hit in hub.recall("where do they keep the boat")}
        assert 0 < found[1].parts["words"] < 0.6 * weights.LEXICAL_WEIGHT


def test_a_prompt_of_several_sentences_prefers_the_newer_of_two_equal_notes(
    tmp_path: Path,
) -> None:
    clock = FixedClock(datetime(2026, 3, 1, tzinfo=UTC))
    with open_for_tests(tmp_path, clock=clock) as memory:
        hub = memory.hub()
        hub.remember("The trip plan has three stops", occurred_at=datetime(2026, 2, 28, tzinfo=UTC))
        hub.remember("The trip plan has five stops", occurred_at=datetime(2025, 2, 28, tzinfo=UTC))
        prompt = "Good, that is settled now. What about the stops of the trip plan?"
        hits = hub.recall(prompt)
        assert numbers(hits) == [1, 2]
        assert hits[0].parts["recent"] > hits[1].parts.get("recent", 0.0) + 0.05
        assert "recent" not in hub.recall("stops of the trip plan?")[0].parts


def test_notes_of_one_session_lend_each_other_nothing_and_turns_do(tmp_path: Path) -> None:
    for speaker, neighbours in ((None, False), ("Ann", True)):
        home = tmp_path / str(speaker)
        with open_for_tests(home, embedder=HashEmbedder()) as memory:
            hub = memory.hub()
            hub.remember("We sail to Oslo", session="s", speaker=speaker)
            hub.remember("Great, sail it is", session="s", speaker=speaker)
            hub.remember_many(["Bread needs flour", "Trains run late"])
            hits = hub.recall("sail to Oslo")
            assert any("neighbour" in hit.parts for hit in hits) == neighbours


class Reads(HashEmbedder):
    """Keeps the texts it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return super().embed_passages(texts)


def test_the_model_reads_a_speakers_name_and_no_role(tmp_path: Path) -> None:
    embedder = Reads()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.hub()
        hub.remember("I sail on Mondays", speaker="Ann", session="s")
        hub.remember("I row on Tuesdays", speaker="user", session="s")
        hub.remember("Skates in winter")
    assert embedder.texts == ["Ann: I sail on Mondays", "I row on Tuesdays", "Skates in winter"]
