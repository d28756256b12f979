"""Builds the site: python -m tools.docs_site ZENSICAL [OUT]

The pages are copied with the layout of the repository, so that their links hold as they are, and
Zensical builds them in strict mode: a link that leads nowhere fails. Afterwards nothing on a page
may be loaded from another machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.docs_site.navigation import Section, paths_of, sections_of

ROOT = Path(__file__).resolve().parents[2]
# Beside docs/: what its pages link to.
BESIDE = ("*.md", "LICENSE", "bench/*.md", "packages/*/README.md", "examples/**/README.md")
_FOLDERS = ("docs",)
# Zensical loads this from a CDN, for searching in pages that are opened as files.
_CDN_SHIM = re.compile(r"https://unpkg\.com/iframe-worker/shim")
_SHIM = "assets/javascripts/frame-worker.js"
# What a browser fetches by itself; a link is only followed by a person.
_LOADED = re.compile(
    r"<(?:script|img|iframe|source|audio|video)\b[^>]*\bsrc=\"(https?:)?//"
    r"|<link\b(?=[^>]*\brel=\"(?:stylesheet|preload|preconnect|icon)\")[^>]*\bhref=\"(https?:)?//"
    r"|url\(\s*['\"]?https?://",
    re.I,
)


def main() -> int:
    # Absolute, as it is run in another folder.
    program = os.path.abspath(sys.argv[1])
    out = ROOT / (sys.argv[2] if len(sys.argv) > 2 else "build/site")
    sections = sections_of((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="holdfast-docs-") as folder:
        place = Path(folder)
        stage(place / "pages", sections)
        (place / "zensical.toml").write_text(settings(sections), encoding="utf-8")
        command = [program, "build", "--clean", "--strict"]
        done = subprocess.run(command, cwd=place, env=os.environ | {"NO_COLOR": "1"}, check=False)
        if done.returncode:
            sys.stderr.write("The site was not built: see above.\n")
            return 1
        keep_at_home(place / "site")
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(place / "site", out)
    pages = sum(1 for _ in out.rglob("*.html"))
    sys.stdout.write(f"{pages} pages: open {out / 'index.html'}\n")
    return 0


def stage(place: Path, sections: list[Section]) -> None:
    """Copies the pages, and the pictures beside them."""
    for path in [found for pattern in BESIDE for found in sorted(ROOT.glob(pattern))]:
        there = place / path.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, there)
    for name in _FOLDERS:
        shutil.copytree(ROOT / name, place / name)
    missing = [path for path in paths_of(sections) if not (place / path).exists()]
    if missing:
        raise SystemExit(f"docs/index.md links to {', '.join(missing)}, which the site lacks.")


def settings(sections: list[Section]) -> str:
    """The settings of Zensical, as TOML: no fonts of others, and a search that needs no server."""
    nav: list[object] = [{"Holdfast": "README.md"}, {"Documentation": "docs/index.md"}]
    nav += [_nav(one) for one in sections]
    nav.append({"Changelog": "CHANGELOG.md"})
    return f"""\
[project]
site_name = "Holdfast"
site_description = "Long-term memory for AI agents"
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
nav = {_toml(nav)}

[project.theme]
font = false
features = ["navigation.tabs", "navigation.sections", "navigation.top", "search.highlight"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"

[project.plugins.search]
[project.plugins.offline]

[project.markdown_extensions.tables]
[project.markdown_extensions.toc]
permalink = true
[project.markdown_extensions.pymdownx.superfences]
[project.markdown_extensions.pymdownx.highlight]
"""


def _nav(section: Section) -> object:
    rows: list[object] = [{page.title: page.path} for page in section.pages]
    return {section.title: [*rows, *(_nav(one) for one in section.sections)]}


def _toml(value: object) -> str:
    """A value in TOML, which has JSON's strings and lists and tables of its own."""
    if isinstance(value, dict):
        rows = (f"{_toml(name)} = {_toml(one)}" for name, one in value.items())
        return "{ " + ", ".join(rows) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def keep_at_home(site: Path) -> None:
    """Replaces the one script that comes from elsewhere, and fails where something else does."""
    script = site / _SHIM
    script.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(__file__).with_name("frame-worker.js"), script)
    foreign = []
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        up = "../" * (len(page.relative_to(site).parts) - 1)
        text = _CDN_SHIM.sub(f"{up}{_SHIM}", text)
        page.write_text(text, encoding="utf-8")
        foreign += [f"{page.relative_to(site)}: {found[0]}" for found in _LOADED.finditer(text)]
    if foreign:
        raise SystemExit("Pages load something from elsewhere:\n" + "\n".join(foreign[:10]))


if __name__ == "__main__":
    raise SystemExit(main())
