"""Conditions on metadata on the command line."""

from __future__ import annotations

import json

from tests.edges.cli.cli_calls import Run
from tests.edges.test_where import NOTES


def test_the_command_line_takes_several_conditions(run: Run) -> None:
    for content, metadata in NOTES:
        run("remember", content, "--metadata", json.dumps(metadata))
    ran = run("list", "--where", "team = core", "--where", "priority >= 2", "--json")
    assert [one["number"] for one in ran.data] == [1]
    ran = run("recall", "deploy", "--where", '{"team": "web"}')
    assert [row[0] for row in ran.rows] == ["#2"]
    wrong = run("list", "--where", "team")
    assert (wrong.code, "ends where an operator" in wrong.err) == (2, True)
