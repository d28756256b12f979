"""One PostgreSQL server in the place of a Citus cluster: what can be seen without the extension.

- Tables have the shape that Citus would give them: no partitions, policies without subqueries, and
  views that are read with the rights of the caller, as Citus opens them.
- The functions that distribute a table refuse what Citus refuses: a schema that is not committed,
  and more than one connection to a node.
- A proxy (`postgres_wire`) refuses every message that breaks a rule of `citus_lint`.

What it cannot show: that nodes heed what they are sent, how plans look there, and what happens when
one is down. HOLDFAST_TEST_CITUS names a real cluster for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from tests.citus_lint import CitusLint
from tests.postgres_server import ROLE, Databases, databases
from tests.postgres_wire import Rule, Wire, wire

OWNER = "holdfast_owner"

_CITUS = """
CREATE FUNCTION pg_catalog.create_reference_table(text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('citus.multi_shard_modify_mode', true) IS DISTINCT FROM 'sequential' THEN
        RAISE 'cannot modify table "%" because there was a parallel operation', $1;
    END IF;
    IF (SELECT n.xmin = pg_current_xact_id_if_assigned()::xid FROM pg_namespace n
        WHERE n.nspname = 'holdfast') THEN
        RAISE 'schema "holdfast" does not exist';
    END IF;
END $$;
CREATE FUNCTION pg_catalog.create_distributed_table(text, text) RETURNS void LANGUAGE sql
    AS $$SELECT pg_catalog.create_reference_table($1)$$;
"""


def lint() -> Rule:
    """The rules for one connection of a proxy."""
    return CitusLint().check


def make_standin(made: Databases) -> str:
    """The name of a new database in the shape of Citus, set up by an owner who is no superuser."""
    from holdfast.store.postgres.initialise import initialise

    made.make_role(OWNER)
    made.make_role()
    name = made.make_empty()
    made.execute(_CITUS, name)
    made.execute(f"GRANT CREATE ON DATABASE {name} TO {OWNER}")
    with (
        mock.patch("holdfast.store.postgres.initialise.citus_version", return_value="13.2-1"),
        wire(made.url(name, OWNER), lint) as proxy,
    ):
        initialise(proxy.url, citus=True, role=ROLE)
        assert proxy.refused == []
    for view in ("named_words", "named_substrings"):
        made.execute(f"ALTER VIEW holdfast.{view} SET (security_invoker = true)", name)
    return name


_FREE: list[str] = []


@contextmanager
def citus_standin() -> Iterator[Wire]:
    """A proxy to an empty store in the shape of Citus, for the length of a block; its URL is that
    of the role of programs."""
    made = databases()
    name = _FREE.pop() if _FREE else make_standin(made)
    with wire(made.url(name, ROLE), lint) as proxy:
        yield proxy
    made.empty(name)
    _FREE.append(name)
