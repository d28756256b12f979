"""The navigation of the site, from docs/index.md: its headings are sections, its links pages."""

from __future__ import annotations

import re
from typing import NamedTuple

_HEADING = re.compile(r"^(#{2,3}) (.+)$")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.md)\)")


class Page(NamedTuple):
    """A page: its title in the navigation, and its path below the repository."""

    title: str
    path: str


class Section(NamedTuple):
    """A heading, the pages below it, and the sections below those."""

    title: str
    pages: list[Page]
    sections: list[Section]


def sections_of(text: str, folder: str = "docs") -> list[Section]:
    """The sections of an index. A page that is linked twice stands where it is linked first."""
    out: list[Section] = []
    seen: set[str] = set()
    for line in text.splitlines():
        if found := _HEADING.match(line):
            level, title = len(found[1]), found[2]
            place = out if level == 2 or not out else out[-1].sections
            place.append(Section(title, [], []))
            continue
        if not out or not line.startswith("- "):
            continue
        current = out[-1].sections[-1] if out[-1].sections else out[-1]
        for title, target in _LINK.findall(line):
            path = _below(folder, target)
            if path not in seen:
                seen.add(path)
                current.pages.append(Page(title[:1].upper() + title[1:], path))
    return out


def _below(folder: str, target: str) -> str:
    """The path of a link from a page in that folder, as seen from the repository."""
    parts = folder.split("/")
    for part in target.split("/"):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def paths_of(sections: list[Section]) -> list[str]:
    """Every page of the navigation."""
    return [
        path
        for one in sections
        for path in [*(page.path for page in one.pages), *paths_of(one.sections)]
    ]
