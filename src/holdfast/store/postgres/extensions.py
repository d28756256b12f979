"""Citus and pgvector. Of Citus: the size of tables over all nodes, and what a cluster lacks; it is
asked through its coordinator, and an ordinary role may ask every node for this. Of pgvector:
whether it is installed, how to install it, and what works without it. Changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from holdfast.store.postgres.schema import SCHEMA, own_search_path

Connection = psycopg.Connection[Any]

# The oldest release that passes policies and roles on to its nodes; 13.2 is the one that was tried.
_CITUS_FROM = (11, 0)
# A node learns within a minute what became of a write that it had prepared.
_STUCK = "5 minutes"


class Node(NamedTuple):
    """A node of Citus and its answer; `error` where it gave none."""

    name: str
    error: str
    role: bool = True
    vector: str = ""
    version: int = 0
    prepared_max: int = 0
    stuck: int = 0
    async_commit: bool = False


def citus_version(connection: Connection) -> str:
    """The version of Citus in this database; '' if it is not installed. Also queried with the
    search_path of the role, so every name is qualified."""
    row = connection.execute(
        "SELECT extversion FROM pg_catalog.pg_extension"
        " WHERE extname OPERATOR(pg_catalog.=) 'citus'"
    ).fetchone()
    return "" if row is None else str(row[0])


def is_worker(connection: Connection) -> bool:
    """Whether this is a node of a Citus cluster that is not its coordinator."""
    return bool(citus_version(connection)) and _value(
        connection, "SELECT groupid FROM pg_catalog.pg_dist_local_group"
    ) not in (None, 0)


def worker_refusal(address: str) -> str:
    return f"{address} is a worker of a Citus cluster. Use the address of the coordinator."


def node_bytes(connection: Connection) -> dict[str, int]:
    """The size of the store's tables on each node of Citus, with their indexes."""
    found = connection.execute(
        "SELECT s.nodename || ':' || s.nodeport, sum(s.shard_size)::bigint FROM citus_shards s"
        " JOIN pg_class c ON c.oid = s.table_name::oid WHERE c.relnamespace = %s::regnamespace"
        " GROUP BY 1 ORDER BY 1",
        (SCHEMA,),
    ).fetchall()
    return dict(found)


def cluster_problems(connection: Connection, address: str, role: str) -> Iterator[str]:
    """The requirements of the store and a role of programs that this Citus cluster lacks; a
    sentence for each."""
    version = citus_version(connection)
    if tuple(int(part) for part in version.partition("-")[0].split(".")[:2]) < _CITUS_FROM:
        yield (
            f"Citus {version} is older than 11, the first release that sends policies and roles to"
            " its nodes. Update it on every node."
        )
    yield from _layout_problems(connection)
    for node in _nodes(connection, role):
        if node.error:
            yield f"The node {node.name} cannot be used ({node.error}). Hubs on it cannot be read."
        else:
            yield from _node_problems(connection, node, role)


def _layout_problems(connection: Connection) -> Iterator[str]:
    nodes = connection.execute(
        "SELECT nodename || ':' || nodeport, groupid, isactive, shouldhaveshards"
        " FROM pg_dist_node WHERE noderole = 'primary'"
    ).fetchall()
    if not any(group == 0 for _, group, _, _ in nodes):
        yield (
            "The coordinator is not among the nodes, so hubs cannot be looked up on it. A superuser"
            " runs: SELECT citus_set_coordinator_host('HOST', PORT)"
        )
    if not any(group != 0 and shards for _, group, _, shards in nodes):
        yield (
            "There is no worker that takes shards. A superuser adds one:"
            " SELECT citus_add_node('HOST', PORT)"
        )
    for name, _, active, _ in nodes:
        if not active:
            yield f"The node {name} is not active. A superuser runs: SELECT citus_activate_node(…)"
    groups = connection.execute(
        "SELECT DISTINCT p.colocationid FROM pg_dist_partition p"
        " JOIN pg_class c ON c.oid = p.logicalrelid::oid"
        " WHERE p.partmethod = 'h' AND c.relnamespace = %s::regnamespace",
        (SCHEMA,),
    ).fetchall()
    if len(groups) > 1:
        yield (
            "The tables are not in one co-location group, so the rows of a hub are on several"
            " nodes. Move the store to a new database: holdfast move"
        )


def _nodes(connection: Connection, role: str) -> list[Node]:
    asked = sql.SQL(
        "SELECT json_build_object("
        "'role', EXISTS (SELECT 1 FROM pg_roles WHERE rolname = {role}),"
        " 'vector', coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), ''),"
        " 'version', current_setting('server_version_num')::int,"
        " 'prepared_max', current_setting('max_prepared_transactions')::int,"
        " 'stuck', (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()"
        f" AND prepared < now() - interval '{_STUCK}'),"
        " 'async_commit', current_setting('synchronous_commit') = 'off')::text"
    ).format(role=sql.Literal(role))
    found = connection.execute(
        "SELECT n.nodename || ':' || n.nodeport, c.success, c.result"
        " FROM run_command_on_all_nodes(%s) c JOIN pg_dist_node n ON n.nodeid = c.nodeid"
        " ORDER BY 1",
        (asked.as_string(connection),),
    ).fetchall()
    return [
        Node(name, "", **json.loads(result)) if success else Node(name, " ".join(result.split()))
        for name, success, result in found
    ]


def _node_problems(connection: Connection, node: Node, role: str) -> Iterator[str]:
    if role and not node.role:
        yield (
            f"The role `{role}` is not on the node {node.name}. Roles reach the nodes when they are"
            " made in this database: connect to it, and run CREATE ROLE there."
        )
    if node.prepared_max == 0:
        yield (
            f"max_prepared_transactions is 0 on the node {node.name}, so no write to two nodes can"
            " be committed. Set it to at least max_connections and restart the node."
        )
    if node.stuck:
        yield (
            f"{node.stuck} writes on the node {node.name} have waited for their commit for more"
            f" than {_STUCK}. A superuser runs: SELECT recover_prepared_transactions()"
        )
    if node.async_commit:
        yield (
            f"synchronous_commit is off on the node {node.name}: a crash may lose writes that were"
            " acknowledged. Set it to on there."
        )
    here = connection.info.server_version
    if node.version // 10_000 != here // 10_000:
        yield (
            f"The node {node.name} is PostgreSQL {node.version // 10_000} and the coordinator"
            f" {here // 10_000}. Use one version."
        )
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    found = row.fetchone()
    if found is not None and node.vector != found[0]:
        yield (
            f"The node {node.name} has pgvector {node.vector or 'nowhere'} and the coordinator"
            f" {found[0]}. Install one version on all nodes."
        )


def _value(connection: Connection, query: str) -> Any:
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]


# Installed in our schema, not in the first schema of a search_path, which is mostly `public`: names
# in our statements are also looked up in the schema of pgvector, and only the owner creates
# functions in ours.
INSTALL = f"CREATE EXTENSION vector SCHEMA {SCHEMA}"
# Iterative index scans, which continue until enough rows pass the filter, came with pgvector 0.8.
_VECTOR_FROM = (0, 8)
_WITHOUT = (
    "Recall works without it, by words and by meaning; the vectors of large hubs are compared one"
    " by one."
)


class Vector(NamedTuple):
    """The schema of pgvector ('' if it is missing or too old), and its version."""

    schema: str = ""
    version: str = ""


def vector(connection: psycopg.Connection[Any]) -> Vector:
    """The installation of pgvector in this database."""
    row = connection.execute(
        "SELECT n.nspname, e.extversion FROM pg_catalog.pg_extension e"
        " JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    ).fetchone()
    if row is None:
        return Vector()
    return Vector(row[0] if _is_enough(row[1]) else "", row[1])


def _is_enough(version: str) -> bool:
    # A version may end in words; the numbers come first.
    parts = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    return parts >= _VECTOR_FROM


def missing_note(connection: psycopg.Connection[Any], address: str) -> str:
    """A sentence that says that pgvector is missing and how to install it; '' if it is there."""
    found = vector(connection)
    if found.schema:
        return ""
    if found.version:
        missing = f"pgvector {found.version} in {address} is older than 0.8."
    else:
        where = "in" if _available(connection) else "on the server of"
        missing = f"pgvector is not installed {where} {address}."
    return f"{missing} {_WITHOUT} To have it, {how_to_install(connection)}"


def how_to_install(connection: psycopg.Connection[Any]) -> str:
    """How to install pgvector: a package, where the server has none that is new enough, and then a
    statement."""
    offered, major = _available(connection), connection.info.server_version // 10_000
    run = "ALTER EXTENSION vector UPDATE" if vector(connection).version else INSTALL
    if (who := _service_admin(connection)) is not None:
        return f"{who} runs: {run}"
    if offered and _is_enough(offered):
        return f"a superuser runs: {run}"
    what = "a newer package" if offered else "the package"
    package = f"postgresql-{major}-pgvector"
    return f"install {what} {package} on the server; then a superuser runs: {run}"


# Managed services have no superuser. Each has a role in its place, by which it is recognised.
_SERVICE_ADMINS = {
    "azure_pg_admin": "add `vector` to the server parameter azure.extensions; then a member of"
    " azure_pg_admin",
    "rds_superuser": "a member of rds_superuser, where rds.allowed_extensions has `vector`,",
    "cloudsqlsuperuser": "a member of cloudsqlsuperuser",
    "alloydbsuperuser": "a member of alloydbsuperuser",
}


def _service_admin(connection: psycopg.Connection[Any]) -> str | None:
    """The role that may install an extension on this managed service; None on one's own server."""
    found = connection.execute(
        "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)", (list(_SERVICE_ADMINS),)
    ).fetchone()
    return None if found is None else _SERVICE_ADMINS[found[0]]


def _available(connection: psycopg.Connection[Any]) -> str:
    """The version that the server could install; '' if it has none."""
    row = connection.execute(
        "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    return "" if row is None else str(row[0])


def install_vector(connection: psycopg.Connection[Any]) -> None:
    """Installs or updates pgvector where that is possible and allowed. One that is installed stays
    in its schema. Our schema exists by now."""
    known = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    refused = (
        psycopg.errors.InsufficientPrivilege,
        # A managed server that does not allow this extension.
        psycopg.errors.FeatureNotSupported,
        psycopg.errors.ReadOnlySqlTransaction,
        # Another process has installed it meanwhile.
        psycopg.errors.DuplicateObject,
        psycopg.errors.UniqueViolation,
    )
    with suppress(*refused), own_search_path(connection):
        found = vector(connection)
        if not found.schema and connection.execute(known).fetchone() is not None:
            connection.execute("ALTER EXTENSION vector UPDATE" if found.version else INSTALL)
