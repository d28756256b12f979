"""Errors of the library do not advise commands: they say in `command` what the command line shows.

What only the command line can do is excepted, such as making a database ready or mending a store.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import holdfast
from holdfast import errors

ROOT = Path(holdfast.__file__).parent
# Edges render commands, and a dialect tells a model what to ask of its person.
_ABOVE = ("edges", "agents", "testing", "evaluation")
_COMMAND = re.compile(r"holdfast ([a-z][a-z-]*)")
# An option beside no command, as in 'choose another with --home'.
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")
# Options of `holdfast store`, which is administration, and of PostgreSQL's createdb.
_OF_STORE = {"--citus", "--role", "--url", "--encoding", "--template"}
_ADMINISTRATION = {"store", "doctor", "backup", "restore-backup", "move", "serve"}
_ERRORS = {name for name, kind in vars(errors).items() if isinstance(kind, type)}


def _advice(tree: ast.AST) -> list[str]:
    """The commands that messages and hints of raised errors name."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in _ERRORS:
            continue
        texts = [*node.args, *(one.value for one in node.keywords if one.arg == "hint")]
        for text in texts:
            said = ast.unparse(text)
            named = _COMMAND.findall(said)
            found += named or _OPTION.findall(said)
    return [name for name in found if name not in _ADMINISTRATION | _OF_STORE]


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] not in _ABOVE],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_error_of_the_library_advises_a_command(path: Path) -> None:
    assert _advice(ast.parse(path.read_text())) == []


def test_the_check_finds_one() -> None:
    text = "raise NotFound(f'No {x}.', hint=f'`holdfast list {x}`', command='holdfast get')"
    assert _advice(ast.parse(text)) == ["list"]
    text = "raise StoreReadOnly('No.', hint='Choose another --home.', command='Use --home.')"
    assert _advice(ast.parse(text)) == ["--home"]


def test_a_command_is_for_the_command_line_alone() -> None:
    error = errors.NotFound("There is no hub.", hint="Create it.", command="`holdfast hub create`.")
    assert str(error) == "There is no hub. Create it."


def test_each_error_has_a_code_of_its_own() -> None:
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.HoldfastError)
    ]
    assert all("code" in vars(kind) for kind in kinds)
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert errors.code_of(errors.StoreBusy("Busy.")) == "busy"
    assert errors.code_of(errors.StoreError("Lost.", in_doubt=True)) == "in_doubt"
    assert errors.code_of(errors.Forbidden("No.", act="write")) == "no_write_access"


def test_why_an_answer_is_degraded_names_no_command() -> None:
    from holdfast.recall import gather

    text = Path(gather.__file__).read_text(encoding="utf-8")
    assert not _COMMAND.search(text)
