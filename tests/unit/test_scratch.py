"""Where tests keep their files."""

from __future__ import annotations

import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from tests.scratch import folder_for_sockets


def test_a_socket_has_room_however_long_the_path_of_temporary_files_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    folder = folder_for_sockets("hf")
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(folder / ".s.PGSQL.5432"))
    finally:
        shutil.rmtree(folder)
