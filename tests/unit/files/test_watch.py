"""A save is seen at once, and only saves of files that are mirrored."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from holdfast.files.folder_walk import hub_of, watch_hubs


@pytest.mark.parametrize(
    ("path", "hub"),
    [
        ("/h/work/MEMORY.md", "work"),
        ("/h/work/2026-05-27.md", "work"),
        ("/h/work/.MEMORY.md.partial-1-ab", None),
        ("/h/work/.MEMORY.md.stamp", None),
        ("/h/work/MEMORY.md~", None),
        ("/h/work/MEMORY.md.kept-20260527T120000Z", None),
        ("/h/work/preferences.md", "work"),
        ("/h/work/about-me.md", "work"),
        ("/h/work/Notes.md", None),
        ("/h/work/notes.txt", None),
        ("/h/work/files/MEMORY.md", "work"),
        ("/h/work/files/deep/notes.txt", "work"),
        ("/h/work/conversations/2026-05-27-x.md", None),
        ("/h/MEMORY.md", None),
    ],
)
def test_which_files_are_watched(path: str, hub: str | None) -> None:
    assert hub_of("/h", path) == hub


def test_a_save_is_seen(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    folder = tmp_path / "hubs" / "work"
    folder.mkdir(parents=True)
    seen = threading.Event()

    def save_until_seen() -> None:
        number = 0
        while not seen.wait(0.05) and number < 200:
            number += 1
            (folder / "other.md").write_text(str(number))
            (folder / "MEMORY.md").write_text(str(number))

    person = threading.Thread(target=save_until_seen)
    person.start()
    try:
        assert next(watch_hubs(str(tmp_path))) == {"work"}
    finally:
        seen.set()
        person.join()
