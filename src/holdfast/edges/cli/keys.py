"""Keys for the server: create, list, revoke. The secret is printed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.domain.access import Key
    from holdfast.edges.cli.call import Call


def _create_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="what it is for, such as laptop or ci")
    parser.add_argument("--actor", metavar="WHO", help="who it speaks for (you)")
    parser.add_argument("--only", action="append", metavar="HUB", help="only this hub; repeatable")
    parser.add_argument("--read-only", action="store_true", help="it changes nothing")
    parser.add_argument("--no-delete", action="store_true", help="it deletes nothing")
    parser.add_argument("--expires", metavar="SPAN", help="it ends after this: 12h, 30d, 1y")


def _create(call: Call, args: Namespace) -> None:
    # --hub says which hub a command is about: here, the one that the key is for.
    only = args.only or ([args.hub] if args.hub else [])
    hubs = [call.hub_named(name).id for name in only]
    scope: dict[str, Any] = {
        "hubs": hubs,
        "read_only": args.read_only,
        "no_delete": args.no_delete,
        "expires_at": _expiry(call, args.expires),
    }
    handed = call.memory.create_key(args.name, actor=args.actor or None, **scope)
    if call.out.json:
        call.out.value({**_plain(call, handed.what), "secret": handed.secret})
        return
    call.out.line(handed.secret)
    key = handed.what
    call.out.note(f"For {key.actor}: {_scope(call, key)}. It is shown once.")
    call.out.note("A client sends it as `Authorization: Bearer KEY`, or stores it by `login`.")


def _expiry(call: Call, text: str | None) -> Any:
    from holdfast.edges.cli.command import ago

    if text is None:
        return None
    span = ago(text)
    if span is None:
        raise InvalidInput(f"{text!r} is no span of time.", hint="For example 12h, 30d or 1y.")
    return call.now + span


def _none(parser: Parser) -> None:
    """None of its own."""


def _list(call: Call, args: Namespace) -> None:
    found = call.memory.keys(everyone=call.client is None)
    if call.out.json:
        call.out.value([_plain(call, key) for key in found])
        return
    rows = [
        (
            key.id,
            key.name,
            key.actor,
            _scope(call, key),
            "never" if key.used_at is None else call.out.time(key.used_at),
            key.refusal(call.now) or "good",
        )
        for key in found
    ]
    if rows:
        call.out.table(("id", "name", "for", "scope", "last used", "state"), rows)
    else:
        call.out.note("There is no key yet: `holdfast key create NAME` makes one.")


def _revoke_options(parser: Parser) -> None:
    parser.add_argument("key", metavar="ID", help="its id (key_…), or its name")


def _revoke(call: Call, args: Namespace) -> None:
    wanted = args.key if call.client is not None else _id_of(call, args.key)
    key = call.memory.revoke_key(wanted)
    if call.out.json:
        call.out.value(_plain(call, key), result="revoked")
    else:
        call.out.row("revoked", key.id, key.name)


def _id_of(call: Call, text: str) -> str:
    """A key by its id, or by its name where only one good key has it."""
    found = call.memory.keys(everyone=True)
    named = [key.id for key in found if key.name == text and not key.refusal(call.now)]
    if text in {key.id for key in found} or len(named) != 1:
        return text
    return named[0]


def _names(call: Call, key: Key) -> list[str]:
    known = {hub.id: hub.name for hub in call.memory.hubs()}
    return [known.get(hub_id, f"{hub_id} (gone)") for hub_id in key.hubs]


def _scope(call: Call, key: Key) -> str:
    parts = [", ".join(_names(call, key)) or "all hubs"]
    parts += ["read-only"] if key.read_only else ["no delete"] if key.no_delete else []
    return "; ".join(parts)


def _plain(call: Call, key: Key) -> dict[str, Any]:
    times = {
        name: None if at is None else at.isoformat()
        for name, at in (
            ("created_at", key.at),
            ("expires_at", key.expires_at),
            ("revoked_at", key.revoked_at),
            ("used_at", key.used_at),
        )
    }
    return {
        "id": key.id,
        "name": key.name,
        "actor": key.actor,
        "hubs": _names(call, key),
        "read_only": key.read_only,
        "no_delete": key.no_delete,
        **times,
    }


COMMANDS = (
    Command(
        "key create",
        "Make a key for the server; its secret is printed once.",
        "holdfast key create laptop --no-delete --expires 90d",
        _create_options,
        _create,
        "A key speaks for somebody (--actor) and never allows more than their role does.",
        server="works",
    ),
    Command(
        "key list",
        "List the keys, with their scope and last use.",
        "holdfast key list",
        _none,
        _list,
        "In a pipe, a line per key: id, name, for whom, scope, last use, good or why not.",
        server="works",
    ),
    Command(
        "key revoke",
        "End a key, for good.",
        "holdfast key revoke key_1k09z8y4fde835t4c1t2",
        _revoke_options,
        _revoke,
        server="works",
    ),
)
