"""Every connection is set up alike, whichever pragma answers with a row."""

from __future__ import annotations

import os

import apsw
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


@pytest.mark.parametrize("read_only", [False, True])
def test_a_statement_is_not_planned_anew_for_every_value(
    tmp_path: os.PathLike[str], read_only: bool
) -> None:
    path = os.path.join(tmp_path, "memory.db")
    prepare_file(path)
    connect(path).close()
    connection = connect(path, read_only=read_only)
    try:
        assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1
    finally:
        connection.close()
