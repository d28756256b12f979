"""`holdfast tools` prints what an agent gets, `holdfast call` runs one tool as an agent would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.reference.tools import page

from holdfast import tools
from holdfast.agents.dialects import NAMES
from holdfast.agents.toolset import FORMATS
from holdfast.testing import open_for_tests
from tests.edges.cli.cli_calls import Run

_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "tools.md"


def test_the_page_of_tools_is_what_the_tables_say() -> None:
    assert _PAGE.read_text(encoding="utf-8") == page(), "run `make reference`"


@pytest.mark.parametrize("form", FORMATS)
def test_schemas_are_printed_as_json(run: Run, form: str) -> None:
    printed = json.loads(run("tools", "--format", form).out)
    names = [spec.get("function", spec)["name"] for spec in printed]
    assert names == ["remember", "recall", "forget", "memory_get", "memory_context"]


def test_printing_schemas_makes_no_store(run: Run, home: Path) -> None:
    assert run("tools", "--format", "mcp").code == 0
    assert not home.exists()


def test_for_people_it_lists_names_and_parameters(run: Run) -> None:
    answer = run("tools", "--read-only")
    assert "recall(query, limit?, category?, kind?, since?, until?, as_of?, where?)" in answer.out
    assert "remember(" not in answer.out
    assert "memory_list(" in run("tools", "--all-tools").out


def test_an_unknown_dialect_or_format_is_refused(run: Run) -> None:
    assert run("tools", "--dialect", "mavn").code == 2
    assert "openai-responses" in run("tools", "--format", "yaml").err


def test_a_call_prints_what_the_agent_reads(run: Run) -> None:
    given = json.dumps({"content": "Prefers tabs", "category": "preference"})
    answer = run("call", "remember", "--args", given, "--agent", "claude-code")
    assert answer.code == 0
    assert answer.out.startswith("Remembered #1 (preference")
    assert run("get", "1", "--json").data["source_agent"] == "claude-code"
    assert "> Prefers tabs" in run("call", "recall", "--args", "-", stdin='{"query": "tabs"}').out


def test_a_call_that_fails_ends_with_1_and_says_why(run: Run) -> None:
    answer = run("call", "recall")
    assert (answer.code, answer.out) == (1, "recall: query must be given.\n")
    told = json.loads(run("call", "recall", "--json").out)
    assert told == {"text": "recall: query must be given.", "data": None, "failed": True}


def test_arguments_that_are_not_json_are_refused(run: Run) -> None:
    answer = run("call", "recall", "--args", "{query: tabs}")
    assert answer.code == 2
    assert "--args is not JSON" in answer.err


@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.parametrize("options", [(), ("--read-only",), ("--all-tools", "--read-only")])
def test_what_is_listed_is_what_a_server_offers(
    run: Run, tmp_path: Path, dialect: str, options: tuple[str, ...]
) -> None:
    printed = json.loads(run("tools", "--dialect", dialect, "--format", "mcp", *options).out)
    with open_for_tests(tmp_path / "other") as memory:
        offered = tools(
            dialect,
            memory.hub(),
            all_tools="--all-tools" in options,
            read_only="--read-only" in options,
        )
        assert [spec["name"] for spec in printed] == list(offered.names)


def test_the_arguments_of_a_call_may_follow_the_tool(run: Run) -> None:
    assert run("call", "remember", '{"content": "Prefers tabs"}').code == 0
    ran = run("call", "remember", '{"content": "a"}', "--args", '{"content": "b"}')
    assert "given twice" in ran.err
