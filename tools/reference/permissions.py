"""Generates docs/reference/permissions.md from the tables that the tests of permissions use.

`python -m tools.reference.permissions > docs/reference/permissions.md` writes it; a test compares
the two.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from tests.edges.http.permissions import (
    BOUNDARIES,
    GROUP_ROLES,
    MAY_IN_ORG,
    MAY_IN_TEAM,
    OPEN_ROUTES,
    ORG_ROUTES,
    OWN_ROUTES,
    ROLES,
    ROUTES,
    SCOPES,
    TEAM_ROUTES,
    Route,
    expected,
    expected_in_group,
)
from tests.edges.http.permissions_operations import OPERATION_ROUTES, PATH
from tests.edges.http.permissions_tools import ANSWERED, NO_HUB, REFUSED, TOOLS, expected_call

_LETTERS = {"read-only": "R", "no-delete": "D", "this hub": "H"}
_CALLED = {ANSWERED: "yes", REFUSED: "no", NO_HUB: "404"}
_MEMORY = {"private": "somebody's private", "own": "one's own private"}

# For one operation and one kind of memory, what it is answered: by role, then by key.
Answers = tuple[tuple[str, ...], ...]
# What an operation is answered, by the kind of memory that it is about.
Rows = tuple[tuple[str, Answers], ...]

_INTRODUCTION = """\
# Permissions

What every route and every tool answers: by the role of who asks, by their key, and by the \
boundary of the memory it is about. The page is made from the table that the tests go by, and \
every cell of it is tried (`tests/edges/http/test_permissions.py`, \
`test_permissions_tools.py`). What the words mean is in \
[roles and boundaries](../explanation/roles-and-boundaries.md).

## How to read it

- A number is the status that a route answers; `yes` and `no` say whether a tool does what it is \
asked. `404` reads as if the hub or the memory were not there. `max forget` and `pynchy \
forget_memory` answer that there was nothing to forget where they do not find a memory.
- The columns are roles. `org` and `team` are members of the hub's organisation and of its team, \
who have no role in the hub. An `outsider` has nothing to do with it.
- First comes the answer to a key that is not limited. A letter says what another key gets, where \
that differs: `R` for reading only, `D` deletes nothing, `H` for this hub alone. A key for another \
hub gets 404 from everything about a hub.
- `memory` is the boundary of the memory that is asked for, which is somebody else's where nothing \
else is said. Operations without one are about the hub as a whole, and go by what the reader sees.
- Contributors delete what is their own, which is the policy a hub begins with. With `none` they \
delete nothing, with `any` what others do.
- A word after a path or a tool says what is in the request: `expires_at` that it sets this field.
- `operation` is what `holdfast.RemoteHub` sends to the internal route `POST /operations/…`.
- Every dialect's tools are called by their MCP names, after the name of the dialect.
"""


def page() -> str:
    """The whole page."""
    parts = [
        _INTRODUCTION,
        "## Hubs and memories\n",
        _table(("operation", "memory", *ROLES), _lines({**_routes(), **_tools()})),
        "## Teams and organisations\n",
        "A key for some hubs is not for teams: 403. `R` and `D` as above.\n",
        _table(("operation", *GROUP_ROLES), _group_lines()),
        "## What is about oneself\n",
        "These depend on the key alone, and not on any role.\n",
        _table(("operation", *SCOPES), _own_lines()),
        "## Without a key\n",
        "Where the server needs keys (`--require-key`), everything but this answers 401.\n",
        _table(("operation", "answer"), [(f"`{n}`", str(s)) for n, s in OPEN_ROUTES.items()]),
    ]
    return "\n".join(parts)


def _routes() -> dict[str, Rows]:
    def rows(route: Route) -> Rows:
        about = BOUNDARIES if route.about is not None else ("",)
        return tuple(
            (
                one,
                tuple(
                    tuple(str(expected(route, role, scope, one or "org")) for scope in SCOPES)
                    for role in ROLES
                ),
            )
            for one in about
        )

    return {name: rows(route) for name, route in {**ROUTES, **OPERATION_ROUTES}.items()}


def _tools() -> dict[str, Rows]:
    return {
        _shown(name): tuple(
            (
                one,
                tuple(
                    tuple(
                        _CALLED[expected_call(call, role, scope, one or "org")] for scope in SCOPES
                    )
                    for role in ROLES
                ),
            )
            for one in (BOUNDARIES if call.about is not None else ("",))
        )
        for name, call in TOOLS.items()
    }


def _shown(name: str) -> str:
    """A tool as `dialect: tool`, which does not read like a command line."""
    return name.replace(" ", ": ", 1)


def _lines(operations: dict[str, Rows]) -> list[tuple[str, ...]]:
    """A line for each kind of memory, of all operations that are answered alike."""
    alike: dict[Rows, list[str]] = {}
    for name, rows in operations.items():
        alike.setdefault(rows, []).append(name)
    lines = []
    for rows, names in alike.items():
        title = "<br>".join(f"`{_title(name)}`" for name in names)
        for kinds, answers in _merged(rows):
            lines.append((title, kinds, *(_cell(one) for one in answers)))
            title = ""
    return lines


def _title(name: str) -> str:
    """An operation by its name: its route is internal, and the same for all."""
    return name.replace(f"{PATH} ", "operation ").replace("/v1", "")


def _merged(rows: Rows) -> Iterable[tuple[str, Answers]]:
    """Kinds of memories that are answered alike, together."""
    alike: dict[Answers, list[str]] = {}
    for kind, answers in rows:
        alike.setdefault(answers, []).append(_MEMORY.get(kind, kind))
    return [(", ".join(kinds), answers) for answers, kinds in alike.items()]


def _cell(answers: Sequence[str]) -> str:
    """The answer to a key that is not limited, and what others get where that differs."""
    by_key = dict(zip(SCOPES, answers, strict=True))
    # The page says so once, above the table.
    assert by_key["other hub"] == "404"
    others: dict[str, str] = {}
    for scope, letter in _LETTERS.items():
        if by_key[scope] != by_key["full"]:
            others[by_key[scope]] = others.get(by_key[scope], "") + letter
    return "; ".join([by_key["full"], *(f"{keys} {one}" for one, keys in others.items())])


def _group_lines() -> list[tuple[str, ...]]:
    lines: dict[tuple[str, ...], list[str]] = {}
    for routes, may in ((TEAM_ROUTES, MAY_IN_TEAM), (ORG_ROUTES, MAY_IN_ORG)):
        for name, route in routes.items():
            cells = []
            for role in GROUP_ROLES:
                by_key = {scope: expected_in_group(may, route, role, scope) for scope in SCOPES}
                assert by_key["this hub"] == by_key["other hub"] == 403
                differ = [
                    f"{_LETTERS[scope]} {by_key[scope]}"
                    for scope in ("read-only", "no-delete")
                    if by_key[scope] != by_key["full"]
                ]
                cells.append("; ".join([str(by_key["full"]), *differ]))
            lines.setdefault(tuple(cells), []).append(f"`{name.replace('/v1', '')}`")
    return [("<br>".join(names), *cells) for cells, names in lines.items()]


def _own_lines() -> list[tuple[str, ...]]:
    return [
        (f"`{name.replace('/v1', '')}`", *(str(status if s in scopes else 403) for s in SCOPES))
        for name, (scopes, status, _) in OWN_ROUTES.items()
    ]


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    sys.stdout.write(page())
