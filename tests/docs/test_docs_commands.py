"""Every command that a page names in passing exists, with the options it is given there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from holdfast.edges.cli.command import parser_of
from holdfast.edges.cli.table import GROUPS, find
from holdfast.errors import HoldfastError
from tests.docs.documentation import name_of, pages, prose_of

_SPAN = re.compile(r"`(holdfast [^`]+)`")


def problem_with(command: str) -> str:
    """What is wrong with a command as a page writes it; empty where nothing is."""
    words = shlex.split(command)[1:]
    if words[0].startswith("-"):
        return ""
    known = {word for group in GROUPS for word in (group.name, *group.words)}
    if words[0] == "help":
        return problem_with(" ".join(["holdfast", *words[1:]])) if words[1:] else ""
    if len(words) == 1 and (words[0] in known or words[0].isupper()):
        return ""
    try:
        found, _ = find(words)
    except HoldfastError as error:
        return str(error)
    options = parser_of(found).options
    missing = [word for word in words if word.startswith("--") and word not in options]
    return f"{found.name} has no {', '.join(missing)}" if missing else ""


# In the page of permissions, `holdfast` is the name of a dialect, and a tool comes after it.
_PAGES = [page for page in pages() if page.name != "permissions.md"]


@pytest.mark.parametrize("page", _PAGES, ids=name_of)
def test_a_command_named_in_passing_exists_with_its_options(page: Path) -> None:
    for command in _SPAN.findall(prose_of(page.read_text(encoding="utf-8"))):
        assert not problem_with(command), command


def test_a_command_that_does_not_exist_is_noticed() -> None:
    assert problem_with("holdfast rember") != ""
    assert problem_with("holdfast recall --nonsense") != ""
    assert problem_with("holdfast recall tabs --explain") == ""
    assert problem_with("holdfast hub create work") == ""
    assert problem_with("holdfast help rember") != ""
    assert problem_with("holdfast help admin") == ""
    assert problem_with("holdfast admin backup") == ""
