"""Doing what a migration left for later, beside everybody who uses the tables.

- An index of a large table is built beside readers and writers, part by part. One that was left
  unfinished is found and built anew.
- Rows are filled a batch at a time, in the turn of the hub's writers, with a commit each.
- A rule holds for new rows first; the old ones are looked at without keeping anybody waiting.

What is finished is noted, and what is there is looked up in the catalog, so that a process that was
killed costs no more than the part it was at.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from holdfast.errors import StoreBusy, StoreError
from holdfast.store.postgres.advisory_lock import holding, require_held
from holdfast.store.postgres.connections import LOCK_CLASS, Connection
from holdfast.store.postgres.migration_steps import (
    BATCH,
    BUILDING,
    IN_THE_WAY,
    STEPS_TABLE,
    Later,
    add_rule,
    briefly,
    fill,
    hubs,
    look_up_rule,
    note,
    send,
)
from holdfast.store.postgres.names import SCHEMA, search_path
from holdfast.store.postgres.steps import Backfill, Check, Index, create_index

Told: TypeAlias = Callable[[str], None]

# Looking whether another process is done.
_LOOK_S = 0.5


class Builder:
    """Does everything that was left for later, in the order of the steps, beside everybody else."""

    def __init__(self, connection: Connection, address: str, *, citus: bool, told: Told) -> None:
        self._connection, self._address, self._citus, self._told = connection, address, citus, told

    def run(self, guard: Connection, ask: Callable[[], list[Later]]) -> None:
        """One process at a time: the guard holds the lock. Who finds another at it waits, and
        does what is left."""
        said = False
        while True:
            with holding(guard, LOCK_CLASS, BUILDING) as mine:
                if mine:
                    # An index of a large table takes as long as it takes; its waits keep nobody
                    # from reading or writing.
                    self._connection.execute(
                        "SET statement_timeout = 0; SET lock_timeout = 0;"
                        f" SET search_path = {search_path()}"
                    )
                    for one in ask():
                        require_held(guard)
                        self._do(one)
                    return
            if not said:
                self._told("another process is at it; waiting")
                said = True
            time.sleep(_LOOK_S)

    def _do(self, one: Later) -> None:
        step = one.step
        try:
            if isinstance(step, Index):
                self.build(step)
            elif isinstance(step, Check):
                self._look_up(step)
            else:
                self._fill_all(one, step)
            note(self._connection, one)
        except IN_THE_WAY:
            raise StoreBusy(
                f"The table `{step.table}` of {self._address} was in use for as long as we try.",
                hint="A transaction of a program stays open (see pg_stat_activity). Run it again:"
                " it goes on where it stopped.",
            ) from None

    # Indexes

    def build(self, index: Index) -> None:
        """Builds an index of a table, or of one of its parts, unless it is there."""
        table = f"{SCHEMA}.{index.table}"
        parts = [] if self._citus else self._parts(index.table)
        if not parts:
            self._told(f"index {index.name} on {index.table}")
            # On Citus, too: one statement, which the coordinator sends to every node.
            self._build_one(index, index.name, index.table)
            return
        if self._state(index.name) is True:
            return
        for number, part in enumerate(parts, 1):
            self._told(f"index {index.name} on {index.table}, part {number} of {len(parts)}")
            if not self._is_attached(index.name, part):
                self._build_one(index, _of_part(index, part), part)
        # From here on it takes a moment: nothing is read, the parts only become one.
        if self._state(index.name) is None:
            make = create_index(index, index.name, table, how="without parts")
            briefly(self._connection, lambda: self._send(make))
        for part in parts:
            if not self._is_attached(index.name, part):
                self._attach(index.name, _of_part(index, part))
        if self._state(index.name) is not True:
            raise StoreError(
                f"The index `{index.name}` of {self._address} is not whole after it was built.",
                hint=f"Drop it (`DROP INDEX {SCHEMA}.{index.name}`) and run this again.",
            )

    def _attach(self, name: str, of_part: str) -> None:
        attach = f"ALTER INDEX {SCHEMA}.{name} ATTACH PARTITION {SCHEMA}.{of_part}"
        briefly(self._connection, lambda: self._send(attach))

    def _build_one(self, index: Index, name: str, table: str) -> None:
        self._wait_for_build(table)
        state = self._state(name)
        if state is False:
            # Left by a process or a server that died; nobody reads it, everybody writes it.
            self._send(f"DROP INDEX CONCURRENTLY {SCHEMA}.{name}")
        if state is not True:
            self._send(create_index(index, name, f"{SCHEMA}.{table}", how="beside others"))

    def _wait_for_build(self, table: str) -> None:
        """Until the server is done with an index of this table whose builder was killed: it goes
        on, and what it builds is good."""
        building = (
            "SELECT 1 FROM pg_stat_progress_create_index WHERE relid = %s::regclass"
            " AND datname = current_database()"
        )
        while self._connection.execute(building, (f"{SCHEMA}.{table}",)).fetchone() is not None:
            time.sleep(_LOOK_S)

    def _state(self, name: str) -> bool | None:
        """Whether an index can be used; None where there is none of this name."""
        row = self._connection.execute(
            "SELECT indisvalid AND indisready FROM pg_index WHERE indexrelid = to_regclass(%s)",
            (f"{SCHEMA}.{name}",),
        ).fetchone()
        return None if row is None else bool(row[0])

    def _parts(self, table: str) -> list[str]:
        found = self._connection.execute(
            "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = %s::regclass ORDER BY length(c.relname), c.relname",
            (f"{SCHEMA}.{table}",),
        ).fetchall()
        return [row[0] for row in found]

    def _is_attached(self, name: str, part: str) -> bool:
        row = self._connection.execute(
            "SELECT 1 FROM pg_inherits i JOIN pg_index x ON x.indexrelid = i.inhrelid"
            " WHERE i.inhparent = to_regclass(%s) AND x.indrelid = %s::regclass",
            (f"{SCHEMA}.{name}", f"{SCHEMA}.{part}"),
        ).fetchone()
        return row is not None

    # Rules and rows

    def _look_up(self, check: Check) -> None:
        self._told(f"rule {check.name} of {check.table}")
        there = self._connection.execute(
            "SELECT 1 FROM pg_constraint WHERE conname = %s AND conrelid = %s::regclass",
            (check.name, f"{SCHEMA}.{check.table}"),
        ).fetchone()
        if there is None:
            briefly(self._connection, lambda: self._send(f"{add_rule(check)} NOT VALID"))
        self._send(look_up_rule(check))

    def _fill_all(self, one: Later, backfill: Backfill) -> None:
        row = self._connection.execute(
            f"SELECT reached FROM {STEPS_TABLE} WHERE version = %s AND step = %s",
            (one.version, backfill.name),
        ).fetchone()
        todo = hubs(self._connection, 0 if row is None else int(row[0] or 0))
        for number, hub in enumerate(todo, 1):
            self._told(f"{backfill.name} in {backfill.table}, hub {number} of {len(todo)}")
            filled = BATCH
            while filled == BATCH:
                with self._connection.transaction():
                    filled = fill(self._connection, backfill, hub)
                    if filled < BATCH:
                        note(self._connection, one, reached=hub)

    def _send(self, statement: str) -> None:
        send(self._connection, statement)


def _of_part(index: Index, part: str) -> str:
    """The name of an index on one part of its table."""
    return index.name + part.removeprefix(index.table)
