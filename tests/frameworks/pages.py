"""Runs the examples of a page about a framework."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docs.documentation import ROOT, blocks_of, run_python


def wrong_on_page(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the examples of a page in docs/how-to/frameworks get wrong."""
    monkeypatch.setenv("HOLDFAST_HOME", str(folder / "home"))
    monkeypatch.chdir(folder)
    page = ROOT / "docs" / "how-to" / "frameworks" / name
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = [one for one in blocks_of(page.read_text("utf-8")) if one.language == "python"]
    assert blocks, f"{name} has no example"
    return [line for block in blocks for line in run_python(block, page, names)]
