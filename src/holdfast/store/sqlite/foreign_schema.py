"""Finds what is in a database file besides our own schema.

A backup may come from anywhere. A trigger or a view in it would run inside our own statements, a
table that somebody altered may compute values when it is read. So a file is compared with the
schema that our migrations make, object by object and word by word.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import apsw

from holdfast.errors import StoreDamaged, StoreError
from holdfast.store.sqlite import schema

# SQLite makes these itself, for AUTOINCREMENT and for ANALYZE.
_INTERNAL_TABLES = ("sqlite_sequence", "sqlite_stat1", "sqlite_stat4")
# Triggers and views first, as they use tables. Most indexes go with their tables.
_DROP_ORDER = ("trigger", "view", "table", "index")
_NAMED = 5


class SchemaObject(NamedTuple):
    """A row of `sqlite_schema`."""

    kind: str
    name: str
    table: str
    sql: str | None

    @property
    def is_virtual(self) -> bool:
        return self.kind == "table" and (self.sql or "").upper().startswith("CREATE VIRTUAL")


def harden(connection: apsw.Connection) -> None:
    """Keeps a connection from running code that a database file brings along. Our schema has
    neither triggers nor views; foreign keys are not affected."""
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)


def refuse_foreign(connection: apsw.Connection, path: str) -> None:
    """StoreDamaged where the file has objects that are not ours, or ours in another form."""
    ours = _our_objects(connection)
    found = objects(connection)
    foreign = [one for one in found if not _is_ours(one, ours)]
    if foreign:
        names = ", ".join(f"{one.kind} {one.name[:80]!r}" for one in foreign[:_NAMED])
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        raise StoreDamaged(
            f"{path} holds something that Holdfast does not make: {names}{more}.",
            hint="Use a file that `holdfast backup` has written.",
        )
    altered = [one.name for one in found if not _is_as_made(one, ours, connection)]
    if altered:
        raise StoreDamaged(
            f"{path} has a table or an index that is not as Holdfast makes it: {altered[0]!r}.",
            hint="Use a file that `holdfast backup` has written.",
        )


def drop_foreign(connection: apsw.Connection, path: str) -> None:
    """Drops what is not ours from a copy, so that the copy can be restored."""
    ours = _our_objects(connection)
    for kind in _DROP_ORDER:
        # A virtual table takes the tables with it that it is made of.
        for one in sorted(objects(connection), key=lambda one: not one.is_virtual):
            if one.kind == kind and not _is_ours(one, ours):
                quoted = one.name.replace('"', '""')
                try:
                    connection.execute(f'DROP {kind.upper()} IF EXISTS "{quoted}"')
                except apsw.Error as error:
                    raise StoreError(
                        f"{path} holds the {kind} {one.name!r}, which is not Holdfast's and cannot"
                        f" be left out of a copy ({error}).",
                        hint="Drop it with the program that made it.",
                    ) from None


def objects(connection: apsw.Connection) -> list[SchemaObject]:
    """What the schema of a file lists."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return [
        SchemaObject(_text(kind), _text(name), _text(table), None if sql is None else _text(sql))
        for kind, name, table, sql in rows
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _our_objects(connection: apsw.Connection) -> dict[str, SchemaObject]:
    """What our migrations make, up to the version that the file has."""
    version = connection.pragma("user_version")
    made = apsw.Connection(":memory:")
    try:
        for migration in schema.MIGRATIONS:
            if migration.version <= version:
                made.execute(migration.sql)
        return {one.name: one for one in objects(made)}
    finally:
        made.close()


def _is_ours(found: SchemaObject, ours: dict[str, SchemaObject]) -> bool:
    if found.kind == "table" and found.name in _INTERNAL_TABLES:
        return True
    known = ours.get(found.name)
    return known is not None and (known.kind, known.table) == (found.kind, found.table)


def _is_as_made(
    found: SchemaObject, ours: dict[str, SchemaObject], connection: apsw.Connection
) -> bool:
    if found.name in _INTERNAL_TABLES or _plain(found.sql) == _plain(ours[found.name].sql):
        return True
    # The tables behind a full-text index are made by SQLite, whose versions may differ in how: they
    # must have nothing that computes.
    if not any(one.is_virtual and found.name.startswith(f"{one.name}_") for one in ours.values()):
        return False
    columns = connection.execute(
        "SELECT dflt_value, hidden FROM pragma_table_xinfo(?)", (found.name,)
    )
    computes = any(default is not None or hidden for default, hidden in columns)
    return not computes and "CHECK" not in (found.sql or "").upper()


def _plain(sql: str | None) -> str | None:
    return None if sql is None else re.sub(r"\s+", " ", sql).strip()
