"""Everything that is kept under a folder, byte for byte: its files, and the rows of the databases
that homes in it have their memories in. For tests that look for what should be gone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.homes import sitecustomize as homes


def kept_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """What is kept, with where it is: a path from the folder, or a table."""
    for root, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(root, name)
            yield str(path.relative_to(folder)), path.read_bytes()
    text = os.environ.get(homes.HOMES)
    if text is not None:
        told = homes.Told(text)
        for name, home in homes.FOLDERS.items():
            if name in homes.CLAIMED and Path(home).is_relative_to(folder):
                place = Path(home).relative_to(folder) / "memory.db"
                for table, data in _rows(told.owner_of(name)):
                    yield f"{place}, table {table}", data


def _rows(url: str) -> Iterator[tuple[str, bytes]]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        # The owner of the tables sees the rows of every hub.
        query = (
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace"
        )
        for (table,) in connection.execute(query, ("holdfast",)).fetchall():
            with connection.cursor().copy(f"COPY holdfast.{table} TO STDOUT") as rows:
                yield table, b"".join(bytes(row) for row in rows)
