"""The reference names everything there is: settings, errors, public names, methods, weights."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import errors
from holdfast.recall import weights
from holdfast.settings import SETTINGS, Setting
from holdfast.store.sqlite import schema
from tests.docs.documentation import ROOT

REFERENCE = ROOT / "docs" / "reference"


def read(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """The cells of every row of every table."""
    found = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found]


def row_of(text: str, name: str, column: int = 0) -> list[str]:
    for cells in rows(text):
        if len(cells) > column and f"`{name}`" in cells[column]:
            return cells
    raise AssertionError(f"no row names `{name}`")


def all_errors() -> list[type[errors.HoldfastError]]:
    found = [errors.HoldfastError]
    for kind in found:
        found += kind.__subclasses__()
    return [kind for kind in found if kind.__module__ == errors.__name__]


def public_methods(kind: type[Any]) -> list[str]:
    return [name for name, _ in inspect.getmembers(kind) if not name.startswith("_")]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_is_in_the_reference_with_its_default_and_variable(setting: Setting) -> None:
    name, default, variable, meaning = row_of(read("settings.md"), setting.name)
    assert name == f"`{setting.name}`"
    shown = setting.default
    if isinstance(shown, bool):
        shown = str(shown).lower()
    assert default == (f"`{shown}`" if shown != "" else "empty")
    assert variable == f"`{setting.variable}`"
    assert meaning


def test_the_reference_names_no_setting_that_is_gone() -> None:
    named = [cells[0].strip("`") for cells in rows(read("settings.md")) if "`HOLDFAST_" in cells[2]]
    assert named == [setting.name for setting in SETTINGS]


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_is_in_the_reference_with_its_exit_code(
    kind: type[errors.HoldfastError],
) -> None:
    cells = row_of(read("errors.md"), kind.__name__)
    assert cells[-1] == str(kind.exit_code)


def test_every_error_is_public() -> None:
    assert {kind.__name__ for kind in all_errors()} <= set(holdfast.__all__)


@pytest.mark.parametrize("name", holdfast.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    text = read("library.md") + read("errors.md")
    assert re.search(rf"`(holdfast\.)?{re.escape(name)}\b", text), name


@pytest.mark.parametrize("name", public_methods(holdfast.Holdfast))
def test_every_name_of_an_open_memory_is_in_the_reference(name: str) -> None:
    part = read("library.md").partition("## `Holdfast`")[2].partition("\n## ")[0]
    assert f"`{name}(" in part or f"`{name}`" in part, name


@pytest.mark.parametrize("name", public_methods(holdfast.HubMemory))
def test_every_name_of_a_hub_is_in_the_reference(name: str) -> None:
    part = read("library.md").partition("## `HubMemory`")[2].partition("\n## ")[0]
    is_called = callable(getattr(holdfast.HubMemory, name))
    row = f"`{name}(" if is_called else f"`{name}`"
    assert row in part, f"add {row} to `HubMemory` in docs/reference/library.md"


@pytest.mark.parametrize("method", ["remember", "recall", "list", "update", "undo", "export"])
def test_every_argument_of_a_method_is_in_the_reference(method: str) -> None:
    part = read("library.md").partition("## `HubMemory`")[2].partition("\n## ")[0]
    names = inspect.signature(getattr(holdfast.HubMemory, method)).parameters
    for name in set(names) - {"self", "changes"}:
        assert re.search(rf"\b{name}\b", part), f"{method}({name}=…)"


@pytest.mark.parametrize("name", list(holdfast.Memory._fields))
def test_every_field_of_a_memory_is_in_the_reference(name: str) -> None:
    assert f"`{name}`" in read("library.md") or name == "content", name


def test_every_weight_is_explained_with_the_value_it_has() -> None:
    text = (ROOT / "docs/explanation/how-recall-ranks.md").read_text(encoding="utf-8")
    table = {cells[0].strip("`"): cells[1] for cells in rows(text) if len(cells) == 3}
    for name, value in vars(weights).items():
        if not name.isupper():
            continue
        shown = str(value)
        if isinstance(value, dict):
            shown = ", ".join(f"{key} {part}" for key, part in value.items())
        assert table.pop(name, None) == shown, f"{name} is {shown} in recall/weights.py"
    assert set(table) <= {"weight", "---"}, "the page names weights that are gone"


def test_every_table_of_the_store_is_in_the_file_layout() -> None:
    sql = "".join(migration.sql for migration in schema.MIGRATIONS)
    made = re.findall(r"CREATE (?:VIRTUAL )?TABLE (\w+)", sql)
    text = read("file-layout.md")
    for name in made:
        assert f"`{name}`" in text, name


def test_the_changelog_speaks_of_the_version_at_hand() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in text
    assert holdfast.__version__ in text


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda p: p.name)
def test_every_page_can_be_found_from_the_index(page: Path) -> None:
    index = ROOT / "docs" / "index.md"
    if page != index:
        assert f"({page.relative_to(index.parent).as_posix()})" in index.read_text(encoding="utf-8")


# Pages for people. Reference pages are looked up, and decisions are about the code.
_FOR_PEOPLE = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.parent.name not in ("reference", "decisions") and page.name != "index.md"
]
# Words that make a riddle of a sentence: name the person, the program or the place instead.
_RIDDLES = re.compile(r"\b(whoever|whom|stands|who asks|the eyes of|(?:is|are) told)\b", re.I)


@pytest.mark.parametrize("page", _FOR_PEOPLE, ids=lambda p: p.name)
def test_a_page_says_first_for_whom_it_is(page: Path) -> None:
    title, _, rest = page.read_text(encoding="utf-8").partition("\n\n")
    assert title.startswith("# ")
    assert re.match(r"For [^\n]+?\.(?: |\n)", rest), rest[:80]


@pytest.mark.parametrize("page", [*_FOR_PEOPLE, ROOT / "README.md"], ids=lambda p: p.name)
def test_a_page_for_people_names_its_persons_and_places(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert [found[0] for found in _RIDDLES.finditer(prose)] == []
