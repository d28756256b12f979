"""The site: every page is in its navigation, nothing comes from elsewhere, and it builds."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tools.docs_site.__main__ import keep_at_home, settings
from tools.docs_site.navigation import Page, Section, paths_of, sections_of

from tests.docs.documentation import ROOT

INDEX = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
ZENSICAL = ROOT / ".venv" / "docs" / "bin" / "zensical"
_LOADING = '<script src="https://unpkg.com/iframe-worker/shim"></script>'


def test_every_page_is_in_the_navigation() -> None:
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages - {"docs/index.md"} <= set(paths_of(sections_of(INDEX)))


def test_pages_are_grouped_by_who_reads_them() -> None:
    titles = [section.title for section in sections_of(INDEX)]
    for reader in ("you and your agent", "developers", "a team", "operators"):
        assert f"For {reader}" in titles


def test_headings_are_sections_and_links_are_pages() -> None:
    text = "# A\n\n## B\n\n- [c](x/c.md): more\n- [e](../E.md), [c](x/c.md)\n\n### F\n\n- [g](g.md)"
    inner = Section("F", [Page("G", "docs/g.md")], [])
    assert sections_of(text) == [
        Section("B", [Page("C", "docs/x/c.md"), Page("E", "E.md")], [inner])
    ]


def test_the_settings_can_be_read_and_ask_for_nothing_from_elsewhere() -> None:
    project = tomllib.loads(settings(sections_of(INDEX)))["project"]
    assert project["theme"]["font"] is False
    assert "offline" in project["plugins"]


def test_a_page_that_loads_something_from_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "a.html"
    page.write_text(f'{_LOADING}<a href="https://example.org">a link</a>')
    keep_at_home(tmp_path)
    assert 'src="../assets/javascripts/frame-worker.js"' in page.read_text()
    for loaded in (
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img alt="" src="http://example.org/i.png">',
    ):
        page.write_text(loaded)
        with pytest.raises(SystemExit, match="from elsewhere"):
            keep_at_home(tmp_path)


def test_the_generator_is_found_by_a_path_from_the_working_folder(tmp_path: Path) -> None:
    # `make docs` names it so. This one makes a site of one page.
    generator = tmp_path / "bin" / "generator"
    generator.parent.mkdir()
    generator.write_text("#!/bin/sh\nmkdir site && touch site/index.html\n")
    generator.chmod(0o755)
    command = [sys.executable, "-m", "tools.docs_site", "bin/generator", str(tmp_path / "site")]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "index.html").exists()


@pytest.mark.skipif(not ZENSICAL.exists(), reason="`make docs` installs the generator")
def test_the_site_is_built_without_a_broken_link(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.docs_site", str(ZENSICAL), str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "search.js").stat().st_size > 100_000
