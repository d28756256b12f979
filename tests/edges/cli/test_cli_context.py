"""context, as a shell sees it."""

from __future__ import annotations

import pytest

from holdfast.engine.context import build
from tests.edges.cli.cli_calls import Run


def test_the_context_block_is_printed(stocked: Run) -> None:
    ran = stocked("context", "--query", "tabs")
    assert ran.out.startswith('<memory hub="default">')
    assert "Prefers tabs over spaces" in ran.out
    assert stocked("context", "tabs").out == ran.out
    assert stocked("context", "--json").data["hub"] == "default"


def test_the_budget_holds_in_characters_and_in_tokens(stocked: Run) -> None:
    assert len(stocked("context", "--budget", "200").out) <= 200
    answer = stocked("context", "--budget", "120", "--tokens", "--json").data
    assert answer["unit"] == "tokens"
    assert answer["used"] <= answer["budget"] == 120


def test_each_style_is_printed_as_the_library_has_it(stocked: Run) -> None:
    first = {
        "plain": '<memory hub="default">',
        "xml": '<memory hub="default">',
        "max": "## Long-Term Memory",
        "maven": "# Long-term Memory",
        "minion": "---",
    }
    for style, line in first.items():
        assert stocked("context", "--style", style).out.splitlines()[0] == line


def test_a_style_that_has_nothing_to_say_prints_nothing(run: Run) -> None:
    assert run("context", "--style", "minion").out == ""


def test_explain_says_what_was_left_out_and_why(stocked: Run) -> None:
    for n in range(20):
        stocked("remember", f"Another fact, the one with number {n}")
    stocked("archive", "2")
    ran = stocked("context", "--budget", "500", "--explain")
    assert "of 500 characters" in ran.err
    assert "there is no room for it" in ran.err
    assert "Left out #2 The staging server is called Hilda: its state is archived." in ran.err
    assert "Left out" not in ran.out
    answer = stocked("context", "--budget", "500", "--explain", "--json").data
    left = {item["number"] for item in answer["left_out"]}
    assert left | set(answer["included"]) == set(range(1, 24))
    assert not left & set(answer["included"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--budget", "10"), "at least 200"),
        (("--budget", "10", "--tokens"), "at least 100"),
        (("--style", "mini"), "minion"),
        (("--tokenizer", "gpt"), "tiktoken:o200k_base"),
    ],
)
def test_a_mistake_is_a_sentence_and_exit_code_2(
    stocked: Run, words: tuple[str, ...], says: str
) -> None:
    ran = stocked("context", *words)
    assert ran.code == 2
    assert says in ran.err


def test_only_an_explanation_reads_what_is_left_out(
    stocked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    explained = stocked("context", "--budget", "200", "--explain")
    read: list[bool] = []
    whole = build._all_long_term
    monkeypatch.setattr(
        build, "_all_long_term", lambda *a, **k: read.append(True) or whole(*a, **k)
    )
    assert stocked("context", "--budget", "200").out == explained.out
    assert not read
    answer = stocked("context", "--budget", "200", "--json").data
    assert answer["text"] == explained.out
    assert read
