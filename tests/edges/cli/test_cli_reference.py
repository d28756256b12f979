"""The reference of the command line is complete, because it is made from the commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.reference.cli import page

from holdfast.edges.cli.command import Command, parser_of
from holdfast.edges.cli.table import all_commands
from holdfast.errors import HoldfastError

_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"


def test_the_page_is_what_the_commands_say() -> None:
    assert _PAGE.read_text(encoding="utf-8") == page(), "run `make reference`"


@pytest.mark.parametrize("command", all_commands(), ids=lambda command: command.name)
def test_every_command_and_option_is_in_the_reference(command: Command) -> None:
    text = _PAGE.read_text(encoding="utf-8")
    _, heading, rest = text.partition(f"### holdfast {command.name}\n")
    assert heading
    section = rest.partition("\n### ")[0]
    parser = parser_of(command)
    assert command.example in section
    for name, option in parser.options.items():
        assert f"`{name}" in (text if option.everywhere else section)
    for option in parser.words:
        assert f"`{option.shown}" in section


def test_every_exit_code_is_in_the_reference() -> None:
    text = _PAGE.read_text(encoding="utf-8")
    kinds = [HoldfastError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    for code in {kind.exit_code for kind in kinds} | {0, 130, 141}:
        assert f"| {code} | " in text
