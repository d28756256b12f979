"""The plans of statements that were recorded on the wire: which tables of hubs a statement reads
without saying which hub. On Citus such a statement asks every shard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg

from tests.citus_lint import statements_of
from tests.postgres_lint import OF_HUBS
from tests.postgres_wire import Sent

_CONDITIONS = ("Index Cond", "Recheck Cond", "Filter", "Hash Cond", "Join Filter", "Merge Cond")
# A parameter, a number, or the hub of another table, which has to be named in turn. The condition
# of the views (`hub_id = ANY …`) does not count.
_OF_A_HUB = re.compile(r"hub_id = (?:\$\d+|'?\d+|\(?\w+\.hub_id)|\w+\.hub_id = (?:\w+\.)?hub_id")
_EXPLAINED = re.compile(r"(SELECT|INSERT|UPDATE|DELETE|WITH)\b")


def without_hub(connection: psycopg.Connection[Any], sent: Iterable[Sent]) -> dict[str, set[str]]:
    """For each table, the statements whose plan reads it without a hub. The connection is that of a
    superuser, for whom no policy adds conditions."""
    connection.execute("SET search_path = holdfast, pg_temp")
    connection.execute("SET plan_cache_mode = force_generic_plan")
    # Else the parts of a table that hold no such hub would not be in the plan.
    connection.execute("SET enable_partition_pruning = off")
    out: dict[str, set[str]] = {}
    for one in {(found.sql, found.types) for found in sent}:
        for sql in statements_of(one[0]):
            # A cursor is a query with a name; tables of the transaction's own are gone by now.
            text = re.sub(r"^DECLARE .*? CURSOR FOR ", "", sql)
            if _EXPLAINED.match(text) and "incoming_" not in text:
                for table in _unbound(_plan(connection, text, one[1])):
                    out.setdefault(table, set()).add(text)
    return out


def _plan(connection: psycopg.Connection[Any], sql: str, types: tuple[int, ...]) -> Any:
    count = max((int(number) for number in re.findall(r"\$(\d+)", sql)), default=0)
    if count == 0:
        row = connection.execute(f"EXPLAIN (FORMAT JSON) {sql}", prepare=False).fetchone()
    else:
        known = [*types, *[0] * count][:count]
        names = [
            connection.execute("SELECT format_type(%s, NULL)", (oid,)).fetchone() if oid else None
            for oid in known
        ]
        declared = ", ".join("unknown" if name is None else name[0] for name in names)
        connection.execute(f"PREPARE recorded ({declared}) AS {sql}", prepare=False)
        nothing = ", ".join(["NULL"] * count)
        row = connection.execute(
            f"EXPLAIN (FORMAT JSON) EXECUTE recorded ({nothing})", prepare=False
        ).fetchone()
        connection.execute("DEALLOCATE recorded")
    assert row is not None
    return row[0][0]["Plan"]


def _unbound(node: Any) -> Iterator[str]:
    table = re.sub(r"_\d+$", "", node.get("Relation Name", ""))
    conditions = " ".join(str(node[name]) for name in _CONDITIONS if name in node)
    reads = node["Node Type"] != "ModifyTable"
    if table in OF_HUBS and reads and not _OF_A_HUB.search(conditions):
        yield table
    for below in node.get("Plans", ()):
        yield from _unbound(below)
