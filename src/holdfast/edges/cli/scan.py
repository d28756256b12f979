"""Secrets that are in the memory already: list them, replace them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli import options
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast import HubMemory
    from holdfast.edges.cli.call import Call
    from holdfast.engine.scan import Secret

# As grep and other searchers end where something was found, the other way round: for a script
# that wants no secrets, finding some is the failure.
FOUND = 1


def _options(parser: Parser) -> None:
    parser.add_argument("--fix", action="store_true", help="replace them, in old versions too")
    parser.add_argument("--all", action="store_true", help="in every hub, not only the one in use")
    options.add_yes(parser)


def _scan(call: Call, args: Namespace) -> int:
    if call.server:
        raise InvalidInput(
            "Secrets are looked for on the machine that has the memory.", hint="Run it there."
        )
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()] if args.all else [call.hub]
    found = {hub.name: _find(call, hub) for hub in hubs}
    notes: list[str] = []
    if args.fix and any(one.fixable for some in found.values() for one in some):
        total = sum(one.times for some in found.values() for one in some if one.fixable)
        call.confirm(f"Replace {counted(total, 'secret')}, also in old versions, for good?")
        for hub in hubs:
            with call.out.progress("replace") as step:
                notes += hub.redact_secrets(step)
        found = {hub.name: _find(call, hub) for hub in hubs}
        _tell(call, found, notes, replaced=total)
    else:
        _tell(call, found, notes, replaced=0)
    return FOUND if any(found.values()) else 0


def _find(call: Call, hub: HubMemory) -> list[Secret]:
    with call.out.progress("scan") as step:
        return hub.find_secrets(step)


def _tell(call: Call, found: dict[str, list[Secret]], notes: list[str], *, replaced: int) -> None:
    flat = [(name, one) for name, some in found.items() for one in some]
    if call.out.json:
        left = [{"hub": name, **one._asdict()} for name, one in flat]
        call.out.value({"replaced": replaced, "left": left, "notes": notes})
        return
    rows = [(name, one.where, one.kind, str(one.times)) for name, one in flat]
    if rows:
        call.out.table(("hub", "where", "kind", "how many"), rows)
    for note in notes:
        call.out.note(note)
    if replaced:
        call.out.note(f"{counted(replaced, 'secret')} replaced. Change them where they are used.")
    if not flat and not replaced:
        call.out.note("No secrets were found.")
    if any(one.fixable for _, one in flat):
        call.out.note("To replace them by placeholders: `holdfast scan --fix`.")
    if any(not one.fixable for _, one in flat):
        call.out.note("Files of your own are not changed: edit or remove those yourself.")


COMMANDS = (
    Command(
        "scan",
        "Look for secrets in memories, history, log and files; replace them.",
        "holdfast scan --fix",
        _options,
        _scan,
        "Says where, of which kind and how many, never what. --fix puts a placeholder in place of\n"
        "each, in old versions and the log as well, and cannot be undone. Ends with 1 where\n"
        "secrets are left. In a pipe, a line each: hub, where, kind, how many.",
    ),
)
