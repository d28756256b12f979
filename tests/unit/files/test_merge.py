"""Which side of a file and its store changed since both agreed."""

from __future__ import annotations

import pytest

from holdfast.files.merge import Changed, changed


@pytest.mark.parametrize(
    ("base", "store", "file", "side"),
    [
        ("a", "a", "a", Changed.NEITHER),
        ("a", "b", "b", Changed.NEITHER),
        (None, "b", "b", Changed.NEITHER),
        ("a", "b", "a", Changed.STORE),
        ("a", None, "a", Changed.STORE),
        ("a", "a", "b", Changed.FILE),
        ("a", "a", None, Changed.FILE),
        ("a", "b", "c", Changed.BOTH),
        ("a", "b", None, Changed.BOTH),
        (None, "b", "c", Changed.BOTH),
        (None, "b", None, Changed.BOTH),
        (None, None, "c", Changed.BOTH),
    ],
)
def test_the_side_that_changed(
    base: str | None, store: str | None, file: str | None, side: Changed
) -> None:
    assert changed(base, store, file) is side
