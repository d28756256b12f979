"""Links lead somewhere, and nothing in the pages belongs to one machine only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.documentation import ROOT, blocks_of, name_of, pages, prose_of

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$|(?:src|href)=\"([^\"]+)\"", re.M)
_HEADING = re.compile(r"^#+ (.+)$", re.M)
# Folders of somebody's machine, which mean nothing on another.
_MACHINE = re.compile(r"/(?:home|Users|tmp|root|work|var|private)/|[A-Z]:\\", re.I)
_CODE_PATH = re.compile(r"`((?:src|tests|docs|bench|packages|examples)/[\w./-]+)`")


def links(text: str) -> list[str]:
    return [one or two or three for one, two, three in _LINK.findall(prose_of(text))]


def anchors(text: str) -> set[str]:
    """The names that headings can be linked by."""
    out = set()
    for heading in _HEADING.findall(prose_of(text)):
        plain = re.sub(r"[^\w\- ]", "", heading.lower()).strip()
        out.add(plain.replace(" ", "-"))
    return out


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in links(text):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert ROOT in [target, *target.parents], f"{link} leaves the repository"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_no_page_names_a_folder_of_somebodys_machine(page: Path) -> None:
    found = _MACHINE.search(page.read_text(encoding="utf-8"))
    assert found is None, found


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_a_file_of_the_repository_that_a_page_names_is_there(page: Path) -> None:
    for path in _CODE_PATH.findall(prose_of(page.read_text(encoding="utf-8"))):
        place = ROOT / path
        # An empty folder is on this machine only: git does not keep it.
        assert place.is_file() or any(place.rglob("*.*")), path


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_a_page_has_one_title_and_names_the_language_of_its_blocks(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(r"^# ", prose_of(text), re.M)) == 1
    for block in blocks_of(text):
        assert block.language, f"line {block.line}"


def test_a_link_that_leads_nowhere_is_noticed() -> None:
    text = "# A page\n\n[a](b.md) ![c](d.svg)\n\n```md\n[not](this.md)\n```\n\n[e]: f.md\n"
    assert links(text) == ["b.md", "d.svg", "f.md"]
    assert anchors("# A page\n\n## `Holdfast`: an open memory\n") == {
        "a-page",
        "holdfast-an-open-memory",
    }


@pytest.mark.parametrize("text", ["/home/ada/x", "C:\\Users", "see /tmp/x", "/Users/ada/"])
def test_a_folder_of_somebodys_machine_is_noticed(text: str) -> None:
    assert _MACHINE.search(text)
    assert not _MACHINE.search("~/.holdfast and $HOLDFAST_HOME/memory.db")
