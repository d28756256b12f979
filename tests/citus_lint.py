"""What Citus refuses, or does in another way than one server: rules for every message that the
store sends, each with what was seen on a cluster (13.2 on PostgreSQL 15).

The rules know the transaction that a message belongs to, so there is one `CitusLint` for each
connection.
"""

from __future__ import annotations

import re

from tests.postgres_lint import DISTRIBUTED, WHOLE, names_a_hub, tables_in

# Each rule and what was seen where it was broken.
SEEN = {
    "ddl alone": 'CREATE SCHEMA in one transaction with tables: "schema does not exist" for an'
    " owner who is no superuser, as other nodes are told over connections that do not see it yet",
    "fan-out": "a statement without a hub asks every shard, and fails where one node is down",
    "fan-out before write": 'a table that every node has is written after a fan-out: "cannot modify'
    ' table because there was a parallel operation on a distributed table"',
    "view rights": 'columns alone are granted of a table under a view: "permission denied", as'
    " Citus opens the view and reads the shard with the rights of the caller",
    "insert select": "INSERT … SELECT without RETURNING or ON CONFLICT is turned into COPY: not"
    " supported with row-level security",
    "catalog": '"direct joins between distributed and local tables are not supported": a catalog'
    " beside a distributed table, or a shard by its name",
    "unqualified": '"type or operator class does not exist": nodes do not have our search_path',
    "one statement": "a SET among several statements of a message: the whole message is repeated on"
    " the nodes, BEGIN included, which warns",
    "set_config": "set_config() does not reach the nodes, only SET LOCAL does",
    "lock": "an advisory lock beside a table is taken on whichever node has the table",
}

_PROPAGATE = re.compile(r"SET LOCAL citus\.propagate_set_commands = 'local'")
_SEQUENTIAL = re.compile(r"SET LOCAL citus\.multi_shard_modify_mode = 'sequential'")
_DDL = re.compile(r"(CREATE|ALTER|DROP|GRANT|REVOKE) (?!TEMPORARY\b)|SELECT create_\w+_table\(")
_CATALOG = re.compile(r"\b(pg_(?!catalog\b|temp\b|advisory|current|try|is_in|last|xact)[a-z_]+)\b")
_VECTOR_NAMES = re.compile(r"(?<![.\"\w])(halfvec(?:_\w+_ops)?|sparsevec)\b|(?<!\.)<=>")
# The reads that are about all hubs by their nature: the list of hubs, and what is due.
_OF_ALL = (
    re.compile(r"SELECT h\.id, .* FROM hubs h JOIN hub_counts c ON c\.hub_id = h\.hub_id ORDER"),
    re.compile(r"SELECT r\.kind, .* WHERE r\.kind = \S+ AND r\.due <= "),
    re.compile(r"SELECT h\.id FROM records r .* r\.due <= \S+ AND r\.hub_id >"),
)
_REFERENCE = WHOLE - {"migrations", "migration_steps"}


class CitusLint:
    """Checks the messages of one connection, in order."""

    def __init__(self) -> None:
        self._end()

    def _end(self) -> None:
        self._propagates = self._sequential = self._fanned_out = self._made_schema = False

    def check(self, message: str) -> str:
        """Why Citus would refuse the message; '' where it would not."""
        broken = next(iter(self._broken(message)), "")
        return f"{broken}: {SEEN[broken]}" if broken else ""

    def _broken(self, message: str) -> list[str]:
        parts = statements_of(message)
        sets = any(part.startswith("SET ") for part in parts)
        out = []
        if len(parts) > 1 and sets and (self._propagates or any(map(_PROPAGATE.match, parts))):
            out.append("one statement")
        if len(parts) > 1 and any(map(_DDL.match, parts)):
            out.append("one statement")
        for part in parts:
            out += self._of_one(part)
        return out

    def _of_one(self, sql: str) -> list[str]:
        if re.match(r"(BEGIN|COMMIT|ROLLBACK|END)\b", sql):
            self._end()
            return []
        self._propagates |= _PROPAGATE.match(sql) is not None
        self._sequential |= _SEQUENTIAL.match(sql) is not None
        if _DDL.match(sql):
            return self._of_ddl(sql)
        distributed = tables_in(sql) & DISTRIBUTED
        out = []
        if distributed:
            out += self._of_rows(sql)
        if re.match(r"(INSERT INTO|UPDATE|DELETE FROM) (hubs|models)\b", sql):
            out += ["fan-out before write"] if self._fanned_out and not self._sequential else []
        if "set_config('holdfast." in sql:
            out.append("set_config")
        if "advisory" in sql and tables_in(sql) & (DISTRIBUTED | _REFERENCE):
            out.append("lock")
        if re.match(r"(ANALYZE|VACUUM)\b.*\w_\d+", sql):
            out.append("catalog")
        out += ["unqualified"] if _VECTOR_NAMES.search(sql) else []
        return out

    def _of_ddl(self, sql: str) -> list[str]:
        out = ["ddl alone"] if self._made_schema else []
        self._made_schema |= sql.startswith("CREATE SCHEMA")
        if re.match(r"GRANT .*SELECT \(", sql):
            out.append("view rights")
        out += ["unqualified"] if _VECTOR_NAMES.search(sql) else []
        return out

    def _of_rows(self, sql: str) -> list[str]:
        out = []
        if any(allowed.match(sql) for allowed in _OF_ALL):
            self._fanned_out = True
        elif not names_a_hub(sql):
            self._fanned_out = True
            out.append("fan-out")
        if _CATALOG.search(sql) or "tableoid" in sql:
            out.append("catalog")
        into = re.match(r"INSERT INTO (\w+)[^()]*\([^()]*\) SELECT\b", sql)
        if into and not re.search(r"\b(RETURNING|ON CONFLICT)\b", sql):
            out.append("insert select")
        return out


def statements_of(message: str) -> list[str]:
    """The statements of a message, each in one line. Text in quotes is kept whole."""
    parts = re.findall(
        r"(?:'(?:[^']|'')*'|\"[^\"]*\"|\$\$.*?\$\$|[^;'\"$]|\$)+", message, re.DOTALL
    )
    return [one for part in parts if (one := " ".join(part.split()))]
