"""Every connection is set up alike, whichever pragma answers with a row."""

from __future__ import annotations

import os

import pytest

from holdfast.store.sqlite.connection import connect, prepare_file

MEMORY, FULL = 2, 2


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", FULL),
        ("foreign_keys", 1),
        ("secure_delete", 1),
        ("temp_store", MEMORY),
        ("cache_size", -16000),
    ],
)
def test_a_new_connection_has_every_pragma(
    tmp_path: os.PathLike[str], pragma: str, value: object
) -> None:
    path = os.path.join(tmp_path, "memory.db")
    prepare_file(path)
    connection = connect(path)
    try:
        assert connection.pragma(pragma) == value
    finally:
        connection.close()
