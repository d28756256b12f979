"""recall, get, list, related, timeline, as a shell sees them."""

from __future__ import annotations

import re
from datetime import timedelta, timezone
from pathlib import Path

import pytest

import holdfast
from holdfast.api.hub import HubMemory
from holdfast.domain.memory import Memory
from holdfast.domain.query import Hit, LeftOut, Recalled
from holdfast.edges.cli.output import Out
from tests.edges.cli.cli_calls import Run


def test_recall_prints_a_line_per_hit(stocked: Run) -> None:
    ran = stocked("recall", "tabs", "or", "spaces", "--words")
    assert ran.code == 0
    number, score, at, category, passage = ran.rows[0]
    assert (number, category, passage) == ("#1", "preference", "Prefers tabs over spaces")
    assert float(score) > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", at)


def _recalled(hits: list[Hit], left_out: int, memory: Memory) -> Recalled:
    gone = [LeftOut(memory._replace(number=n), "it is archived", 0.25) for n in range(left_out)]
    return Recalled(hits, left_out=gone)


def test_of_what_was_left_out_five_are_named_with_their_scores(
    stocked: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with holdfast.open(home) as memory:
        one = memory.hub().get(1)
    monkeypatch.setattr(HubMemory, "recall", lambda self, query, **_: _recalled([], 7, one))
    noted = stocked("recall", "tabs", "--explain").err.splitlines()
    assert noted[1] == "Left out #0 (0.25) Prefers tabs over spaces: it is archived."
    assert noted[5].startswith("Left out #4 ")
    assert noted[6:] == ["Left out 2 more; --json names them all."]


_PART = re.compile(r"(\w+) ([+-]\d+\.\d+)")


def test_the_parts_that_are_printed_add_up_to_the_score_that_is_printed(
    stocked: Run, screen: Run
) -> None:
    """Also those that all hits have alike, such as `voice` in a question that names nobody."""
    query = ("recall", "tabs or spaces?", "--explain")
    hits = stocked(*query, "--json").data
    lines = screen(*query).out.splitlines()
    explained = [line.split(":") for line in lines if line.startswith("    score ")]
    scores = [float(head.split()[1]) for head, _ in explained]
    printed = [dict(_PART.findall(parts)) for _, parts in explained]
    assert [set(parts) for parts in printed] == [set(hit["parts"]) for hit in hits]
    assert "voice" in printed[0]
    for score, parts in zip(scores, printed, strict=True):
        # The score has two decimals, each part three.
        assert abs(sum(map(float, parts.values())) - score) < 0.005 + 0.0005 * len(parts) + 1e-9


def test_explaining_adds_why(stocked: Run) -> None:
    ran = stocked("recall", "tabs", "--words", "--explain")
    assert "words: tab" in ran.rows[0][5]


def test_recall_as_json_has_everything(stocked: Run) -> None:
    answer = stocked("recall", "tabs", "--json").json
    assert answer["query"] == "tabs"
    hit = answer["data"][0]
    assert hit["memory"]["number"] == 1
    assert hit["memory"]["created_at"].endswith("Z")
    assert hit["passage"] == {
        "text": "Prefers tabs over spaces",
        "start": 0,
        "end": 24,
        "headings": [],
    }
    assert hit["why"]
    assert hit["parts"]
    assert "no embedding model" in answer["degraded"][0]
    assert isinstance(answer["filtered"], dict)


def test_nothing_found_is_said_and_is_no_error(stocked: Run) -> None:
    ran = stocked("recall", "zebra", "--words")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "Nothing found for “zebra”.\n"


def test_less_caution_shows_what_is_unlikely(stocked: Run) -> None:
    asked = ("recall", "does the captain's parrot of the ferry prefer breakfast at noon")
    nothing = stocked(*asked)
    assert not nothing.rows
    # Nothing was found, so nothing that 'was found' is left out.
    assert "compared with it and left out; add --explain to see why." in nothing.err
    assert stocked(*asked, "--caution", "0").rows[0][0] == "#1"
    assert "must be from 0 to 5" in stocked(*asked, "--caution", "9").err
    assert "“low” is not a number" in stocked(*asked, "--caution", "low").err


def test_a_person_is_shown_the_closest_memory_where_none_answers(stocked: Run, screen: Run) -> None:
    stocked("archive", "1")
    shown = screen("recall", "tabs", "--words").err
    assert "Nothing found for “tabs”." in shown
    assert "The closest is #1 Prefers tabs over spaces: its state is archived." in shown
    assert "The closest" not in stocked("recall", "tabs", "--words").err  # Nor in a pipe.


def test_a_degraded_answer_says_so(stocked: Run) -> None:
    assert "Degraded: there is no embedding model" in stocked("recall", "tabs").err
    assert stocked("recall", "tabs", "--words").err == ""


@pytest.mark.parametrize("query", ['"', "%", "_", "*", "- x", "NEAR", "a AND", "(", "O'Brien"])
def test_every_character_of_a_query_is_a_character_like_any_other(stocked: Run, query) -> None:
    assert stocked("recall", "--words", "--", query).code == 0


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--category", "preference"), ["#1"]),
        (("--category", "fact"), []),
        (("--kind", "episodic"), []),
        (("--tag", "servers"), []),
        (("--since", "yesterday"), ["#1"]),
        (("--until", "yesterday"), []),
        (("--until", "2020-01-01"), []),
        (("--layer", "library"), []),
        (("--session", "s1"), []),
        (("--as-of", "2020-01-01"), []),
        (("--as-of", "today"), ["#1"]),
        (("--limit", "1"), ["#1"]),
    ],
)
def test_recall_is_narrowed_by_filters(stocked: Run, options, found) -> None:
    ran = stocked("recall", "tabs", "--words", *options)
    assert [row[0] for row in ran.rows] == found


def test_a_future_moment_means_now(stocked: Run) -> None:
    stocked("remember", "The guest code is 4711", "--ttl", "1h")
    assert stocked("recall", "guest code", "--words", "--as-of", "tomorrow").rows[0][0] == "#4"


def test_archived_memories_are_for_those_who_ask(stocked: Run) -> None:
    stocked("archive", "1")
    assert stocked("recall", "tabs", "--words").out == ""
    assert stocked("recall", "tabs", "--words", "--all").rows[0][0] == "#1"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("recall",), 2, "needs WORD"),
        (("recall", " "), 2, ""),
        (("recall", "x", "--limit", "0"), 2, "limit"),
        (("recall", "x", "--limit", "1001"), 2, "limit"),
        (("recall", "x", "--kind", "episodical"), 2, "Did you mean 'episodic'"),
        (("recall", "x", "--since", "2026-02-30"), 2, "does not exist"),
        (("recall", "x", "--since", "2026-02-02", "--until", "2026-01-01"), 2, "window"),
        (("get", "9"), 3, "no memory 9"),
        (("get", " "), 2, "Say which memory"),
        (("get", "1", "--as-of", "2020-01-01"), 3, "was not there"),
        (("list", "--limit", "0"), 2, "limit"),
        (("list", "--cursor", "nonsense"), 2, "cursor"),
        (("list", "--order", "sideways"), 2, "order"),
        (("list", "--state", "gone"), 2, "state"),
        (("related", "9"), 3, "no memory 9"),
        (("timeline", "last", "week", "--since", "7d"), 2, "not both"),
        (("move", "--to", "/tmp/new.db"), 2, "sqlite:/tmp/new.db"),
        (("timeline", "once", "upon"), 2, "not a date"),
        (("timeline", "--limit", "0"), 2, "limit"),
    ],
)
def test_bad_input_is_a_sentence_and_an_exit_code(stocked: Run, words, code, message) -> None:
    ran = stocked(*words)
    if words == ("recall", " "):
        # A query without a word finds nothing; it is not an error.
        assert ran.code in (0, 2)
        return
    assert ran.code == code
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_get_shows_one_memory_and_counts_as_a_use(stocked: Run) -> None:
    ran = stocked("get", "indent")
    assert ran.out.startswith("#1  Prefers tabs over spaces\n")
    assert "key: indent\n" in ran.out
    assert ran.out.endswith("\n\nPrefers tabs over spaces\n")
    assert stocked("get", "1", "--no-access", "--json").data["access_count"] == 1
    assert stocked("get", "1", "--json").data["access_count"] == 2


def test_get_looks_at_the_past_without_counting(stocked: Run) -> None:
    stocked("update", "1", "Prefers spaces")
    before = stocked("history", "1", "--json").data[0]["at"]
    assert stocked("get", "1", "--as-of", before, "--content").out == "Prefers tabs over spaces\n"
    assert stocked("get", "1", "--no-access", "--json").data["access_count"] == 0


def test_content_comes_out_to_the_letter(run: Run) -> None:
    text = "tab\there\r\nback\\slash and “quotes”\n\nend"
    run("remember", "-", stdin=text)
    assert run("get", "1", "--content").out == text + "\n"
    assert run("get", "1", "--json").data["content"] == text


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), ["#3", "#2", "#1"]),
        (("--order", "number"), ["#1", "#2", "#3"]),
        (("--category", "preference"), ["#1"]),
        (("--tag", "servers"), ["#2"]),
        (("--since", "2024-05-01", "--until", "2024-05-31"), ["#3"]),
        (("--until", "2024-05-03"), ["#3"]),
        (("--until", "2024-05-02"), []),
        (("--since", "1h"), ["#2", "#1"]),
        (("--limit", "2"), ["#3", "#2"]),
        (("--pinned",), ["#2"]),
        (("--state", "archived"), ["#4"]),
        (("--state", "all", "--order", "number"), ["#1", "#2", "#3", "#4"]),
        (("--forgotten",), ["#5"]),
        (("--quarantined",), []),
        (("--source", "cli", "--limit", "1"), ["#3"]),
        (("--source", "web"), []),
        (("--as-of", "2020-01-01"), []),
    ],
)
def test_lists_are_narrowed_by_filters(stocked: Run, options, found) -> None:
    stocked("pin", "2")
    stocked("remember", "An old plan")
    stocked("archive", "4")
    stocked("remember", "A wrong thing")
    stocked("forget", "5")
    assert [row[0] for row in stocked("list", *options).rows] == found


def test_a_list_goes_on_where_its_cursor_points(stocked: Run) -> None:
    first = stocked("list", "--limit", "2", "--json").json
    assert [memory["number"] for memory in first["data"]] == [3, 2]
    rest = stocked("list", "--limit", "2", "--json", "--cursor", first["next_cursor"]).json
    assert [memory["number"] for memory in rest["data"]] == [1]
    assert rest["next_cursor"] is None
    assert "--page 2" in stocked("list", "--limit", "2").err
    assert [row[0] for row in stocked("list", "--limit", "2", "--page", "2").rows] == ["#1"]
    assert "There is no page 3." in stocked("list", "--limit", "2", "--page", "3").err


def test_a_list_in_a_pipe_is_whole(run: Run, tmp_path) -> None:
    files = []
    for number in range(520):
        path = tmp_path / f"{number}.txt"
        path.write_text(f"Note number {number}")
        files.append(str(path))
    run("remember", "--file", *files)
    rows = run("list", "--order", "number").rows
    assert [row[0] for row in rows] == [f"#{number}" for number in range(1, 521)]


def test_what_would_break_a_line_is_escaped(run: Run) -> None:
    run("remember", "-", "--title", "a\tb", stdin="one\ttwo\nthree \\ four")
    assert run("list").rows[0][-1] == "a\\tb"
    ran = run("recall", "three", "--words")
    assert ran.rows[0][4] == "one\\ttwo\\nthree \\\\ four"


def test_related_finds_what_is_near(stocked: Run) -> None:
    stocked("remember", "The staging server has tabs")
    assert stocked("related", "2").rows[0][0] == "#4"
    assert stocked("related", "2", "--json").data[0]["memory"]["number"] == 4


def test_a_timeline_is_ordered_by_when_things_happened(stocked: Run) -> None:
    ran = stocked("timeline", "--since", "2024-01-01")
    assert [(row[1], row[2]) for row in ran.rows] == [
        ("happened", "#3"),
        ("learnt", "#1"),
        ("learnt", "#2"),
    ]
    assert [row[2] for row in stocked("timeline", "May", "2024").rows] == ["#3"]
    assert [row[2] for row in stocked("timeline", "7d").rows] == ["#1", "#2"]
    assert [row[2] for row in stocked("timeline").rows] == ["#1", "#2"]
    assert stocked("timeline", "2024-05-03", "--json").data[0]["number"] == 3


def test_times_are_shown_in_the_persons_zone(stocked: Run, monkeypatch) -> None:
    monkeypatch.setenv("HOLDFAST_TIME_ZONE", "Asia/Tokyo")
    stocked("remember", "Tea at noon", "--occurred-at", "2026-05-27T12:00")
    memory = stocked("get", "4", "--json").data
    assert memory["occurred_at"] == "2026-05-27T03:00:00.000000Z"
    assert stocked("list", "--limit", "1").rows[0][1] == "2026-05-27T12:00:00+09:00"


def test_a_zone_that_does_not_exist_is_a_clear_error(stocked: Run, monkeypatch) -> None:
    monkeypatch.setenv("HOLDFAST_TIME_ZONE", "Mars/Base")
    ran = stocked("list")
    assert ran.code == 2
    assert "Europe/Berlin" in ran.err


def test_a_memory_names_its_successor_by_number(stocked: Run) -> None:
    stocked("remember", "Prefers spaces", "--supersedes", "1")
    assert "superseded by: #4\n" in stocked("get", "1").out
    assert "supersedes: #1\n" in stocked("get", "4").out


def test_uses_are_counted_in_words(stocked: Run) -> None:
    assert "used: never, shown never\n" in stocked("get", "1", "--no-access").out
    assert "used: once, shown never\n" in stocked("get", "1").out
    assert "used: 2 times, shown never\n" in stocked("get", "1").out


def test_when_it_was_forgotten_is_told_in_local_time_to_a_person(
    stocked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked("forget", "1")
    assert re.search(r"was forgotten at \S+T\S+Z\.", stocked("get", "1").err)
    monkeypatch.setattr(Out, "person_reads_errors", True)
    assert re.search(r"was forgotten at \d{4}-\d\d-\d\d \d\d:\d\d\.", stocked("get", "1").err)


def test_moments_in_a_message_are_shown_in_the_persons_zone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = Out(json=False, color=False, quiet=False)
    out.zone = timezone(timedelta(hours=9))
    text = "Forgotten at 2026-01-01T20:15:00.5Z."
    assert out.localised(text) == text
    monkeypatch.setattr(Out, "person_reads_errors", True)
    assert out.localised(text) == "Forgotten at 2026-01-02 05:15."


@pytest.mark.parametrize("command", [("recall", "tabs"), ("list",), ("timeline",)])
def test_a_window_that_ends_before_it_begins_is_refused_everywhere(stocked: Run, command) -> None:
    ran = stocked(*command, "--since", "2026-05-05", "--until", "2026-05-01")
    assert (ran.code, ran.out) == (2, "")
    assert "ends before it begins" in ran.err


def test_a_timeline_with_only_an_end_has_no_beginning(stocked: Run) -> None:
    assert [row[2] for row in stocked("timeline", "--until", "2024-12-31").rows] == ["#3"]


@pytest.mark.parametrize("limit", [(), ("--limit", "5")])
def test_an_empty_list_says_so_beside_the_pipe(run: Run, limit) -> None:
    ran = run("list", *limit)
    assert (ran.code, ran.out, ran.err) == (0, "", "Nothing here.\n")
    run("remember", "Something")
    assert run("list", *limit).err == ""


def test_a_person_sees_no_percentage_beside_a_hit_and_scores_are_explained(
    stocked: Run, screen: Run
) -> None:
    shown = screen("recall", "--words", "what is the staging server called").out
    assert re.search(r" · \d{4}-\d\d-\d\d \d\d:\d\d$", shown.splitlines()[0])
    assert "score" not in shown
    ran = screen("recall", "--words", "staging server", "--explain")
    assert re.search(r"score \d\.\d\d: ", ran.out)
    assert "Scores order the hits of one answer" in ran.err
    assert "Scores" not in screen("recall", "--words", "staging server").err


@pytest.mark.parametrize(
    ("probabilities", "weaker", "clear"),
    [
        ((0.45, 0.4), [False, False], True),
        ((0.9, 0.2), [False, True], True),
        ((0.05, 0.001), [False, True], False),
    ],
)
def test_weaker_matches_and_answers_without_a_clear_match_are_marked(
    stocked: Run,
    screen: Run,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    probabilities,
    weaker,
    clear,
) -> None:
    with holdfast.open(home) as memory:
        one = memory.hub().recall("tabs")[0]
    hits = Recalled(one._replace(probability=likely) for likely in probabilities)
    monkeypatch.setattr(HubMemory, "recall", lambda self, query, **_: hits)
    ran = screen("recall", "tabs")
    assert [line.endswith("weaker match") for line in ran.out.splitlines()] == weaker
    assert ("No clear match. The closest:" in ran.err) is not clear


def test_a_degraded_answer_names_the_command_that_mends_it(stocked: Run) -> None:
    ran = stocked("recall", "staging server")
    assert "only words were matched; `holdfast doctor` says why and how to get one." in ran.err
    degraded = stocked("recall", "staging server", "--json").json["degraded"]
    assert degraded == ["there is no embedding model, so only words were matched"]


def test_pages_of_a_list_count_from_one(stocked: Run) -> None:
    for page in ("0", "-1"):
        refused = stocked("list", "--page", page)
        assert refused.code == 2
        assert "Pages count from 1." in refused.err
    # Without --limit too: in a pipe it would be left unheard.
    assert "There is no page 2." in stocked("list", "--page", "2").err
