"""What every statement on the hub's tables must look like, so that one schema serves one server and
many: the hub in every condition, nothing that locks or changes rows of two hubs at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.store.postgres.schema import EMBEDDINGS, MIGRATIONS, VIEWS, Migration

# Tables that every node has whole, and what is counted for the list of hubs.
WHOLE = {"hubs", "models", "migrations", "migration_steps"}
OF_HUBS = {table.name for migration in MIGRATIONS for table in migration.tables}
# Made only where pgvector is.
_SOMETIMES = {EMBEDDINGS}
# What is read of tables that are only searched is read through these.
_VIEWS = {view.name for view in VIEWS}
DISTRIBUTED = OF_HUBS | _SOMETIMES | _VIEWS
_THROUGH_VIEWS = {view.table: view.name for view in VIEWS}

_FORBIDDEN = re.compile(
    r"\b(MERGE|TRIGGER|SKIP LOCKED|FOR (NO KEY )?UPDATE|FOR (KEY )?SHARE|TRUNCATE"
    r"|LOCK TABLE|CREATE|ALTER|DROP)\b"
)
_TABLE = re.compile(
    r"\b(?P<verb>FROM|JOIN|UPDATE|INTO) (?P<table>[a-z_]+)"
    r"(?: AS)?(?: (?!SET|WHERE|JOIN|ON|FROM|ORDER|GROUP|LIMIT|LEFT|FULL|USING|VALUES|SELECT|AS\b)"
    r"(?P<alias>[a-z_]+)\b)?"
)

# A table of the transaction's own, which rows pass through on their way in.
_PASSING = re.compile(
    r"(CREATE TEMPORARY TABLE incoming_[a-z_]+ \(hub_id .* ON COMMIT DROP"
    r"|TRUNCATE incoming_[a-z_]+)$"
)
_COPY = re.compile(r"COPY (?P<table>[a-z_]+) \((?P<first>\w+)")

# The reads that are about all hubs by their nature, and why.
ALLOWED = (
    # the list of hubs
    re.compile(r"SELECT h\.id, .* FROM hubs h JOIN hub_counts c ON c\.hub_id = h\.hub_id"),
    # work that is due in any hub, and the next hub in which some is
    re.compile(r"SELECT r\.kind, .* WHERE r\.kind = %\(kind\)s AND r\.due <= %\(by\)s"),
    re.compile(r"SELECT h\.id FROM records r .* r\.due <= %\(by\)s AND r\.hub_id >"),
)


def faults(statement: str) -> list[str]:
    """What is wrong with a statement; empty where nothing is."""
    text = " ".join(statement.split())
    if _PASSING.match(text):
        return []
    out = [f"it says {found[0]}" for found in _FORBIDDEN.finditer(text)]
    if any(allowed.match(text) for allowed in ALLOWED):
        return out
    for found in _TABLE.finditer(text):
        table, alias = found["table"], found["alias"] or found["table"]
        if table not in DISTRIBUTED:
            continue
        read = found["verb"] == "JOIN" or (
            found["verb"] == "FROM" and not text[: found.start()].endswith("DELETE ")
        )
        if read and table in _THROUGH_VIEWS:
            out.append(f"it reads {table} and not {_THROUGH_VIEWS[table]}")
        if found["verb"] == "INTO":
            columns = text[found.end() :].partition("(")[2]
            if not columns.startswith("hub_id"):
                out.append(f"it writes to {table} without its hub first")
        elif not _has_hub(text, alias, alone=found["alias"] is None):
            out.append(f"it names {table} without its hub")
    copied = _COPY.match(text)
    if copied and copied["first"] != "hub_id":
        out.append(f"it copies to {copied['table']} without its hub first")
    conflict = re.search(r"INTO (\w+).*ON CONFLICT \((.*?)\)", text)
    if conflict and conflict[1] in OF_HUBS and not conflict[2].startswith("hub_id"):
        out.append("its conflict is not one within a hub")
    return out


# A value of a hub: a parameter as the store writes it or as it is sent, or a number.
_HUB = r"(?:%s|%\((?:hub|number)\)s|\$\d+|\d+)"


def _has_hub(text: str, alias: str, *, alone: bool) -> bool:
    """Whether the rows of this table are those of one hub: named outright, or by a join."""
    own = rf"\b{alias}\.hub_id" + (r"|(?<![.\w])hub_id" if alone else "")
    return bool(
        re.search(rf"(?:{own}) = (?:{_HUB}|[a-z_]+\.hub_id)", text)
        or re.search(rf"= (?:{own})\b", text)
        or re.search(rf"coalesce\([^)]*(?:{own})[^)]*\) = {_HUB}", text)
    )


def tables_in(statement: str) -> set[str]:
    """The tables and views that a statement names."""
    return {found["table"] for found in _TABLE.finditer(" ".join(statement.split()))}


def names_a_hub(statement: str) -> bool:
    """Whether a statement on tables of hubs says which hub: with a value, not only by a join."""
    text = " ".join(statement.split())
    if re.match(r"INSERT INTO [a-z_]+(?: AS \w)? \(hub_id", text):
        return True
    return re.search(rf"hub_id = {_HUB}", text) is not None


# What would keep everybody from a table for as long as it takes to read or write all of it.
_LONG = (
    (r"\bCREATE (UNIQUE )?INDEX (?!CONCURRENTLY\b)(IF NOT EXISTS )?\w+ ON (?!ONLY\b)", "an index"),
    (r"\bREINDEX\b(?!.*CONCURRENTLY)", "an index built anew"),
    (r"\bDROP INDEX (?!CONCURRENTLY\b)", "an index dropped"),
    (r"\bADD (CONSTRAINT \w+ )?CHECK\b(?!.*NOT VALID)", "a rule that is looked up at once"),
    (r"\bADD (CONSTRAINT \w+ )?(FOREIGN KEY|PRIMARY KEY|UNIQUE|EXCLUDE)\b", "a key"),
    (
        r"\bADD COLUMN\b.*\b(PRIMARY KEY|UNIQUE|REFERENCES|GENERATED|CHECK|SERIAL|BIGSERIAL)\b",
        "a key",
    ),
    (r"\bADD COLUMN\b.*\bDEFAULT\b.*\(", "a default that differs from row to row"),
    (r"\bALTER (COLUMN )?\w+ (SET DATA )?TYPE\b", "a change of type"),
    (r"\bSET NOT NULL\b", "a rule that is looked up at once"),
    (r"\bSET (LOGGED|UNLOGGED|TABLESPACE|ACCESS METHOD)\b", "a table written anew"),
    (r"\b(VACUUM FULL|CLUSTER|TRUNCATE|LOCK TABLE|REFRESH MATERIALIZED)\b", "a table for itself"),
    (
        r"\b(ATTACH PARTITION) \S+ FOR VALUES\b|\bDETACH PARTITION\b(?!.*CONCURRENTLY)",
        "a part moved",
    ),
    (r"^\s*(UPDATE|DELETE)\b(?!.*\bhub_id = %\(hub\)s)", "all rows in one statement"),
)


def long_locks(statement: str) -> list[str]:
    """What in a statement on a table in use takes long, and keeps others from it meanwhile."""
    text = " ".join(statement.split())
    return [what for pattern, what in _LONG if re.search(pattern, text, re.IGNORECASE)]


def relies_on_steps(migrations: Sequence[Migration]) -> list[str]:
    """Where the short part of a migration names a step, which may not be done by then."""
    steps = [step.name for one in migrations for step in one.later]
    return [
        f"{one.version} uses {name}"
        for one in migrations
        for name in steps
        if re.search(rf"\b{name}\b", " ".join(one.statements()))
    ]
