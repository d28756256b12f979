"""Writes docs/reference/importers.md: every importer, from its declaration."""

from __future__ import annotations

from pathlib import Path

from holdfast.importers import Importer, importers

# What is said of all of them.
_HEAD = Path(__file__).with_name("importers_head.md")


def page() -> str:
    """The page as Markdown."""
    return _HEAD.read_text(encoding="utf-8") + "\n".join(_section(one) for one in importers())


def _section(importer: Importer) -> str:
    rows = "".join(f"| {row.there} | {row.here} | {row.noted or ' '} |\n" for row in importer.rows)
    scopes = f"Each {importer.scopes} is a scope. " if importer.scopes else ""
    return (
        f"## `{importer.name}`: {importer.title}\n\n"
        f"PATH is {importer.path}. {scopes}Tried with: {importer.tried}.\n\n"
        f"| there | here | noted in `imported` |\n| --- | --- | --- |\n{rows}"
    )
