"""Secrets that are in the memory already: list them, replace them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from holdfast.edges.cli import command
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast import HubMemory
    from holdfast.edges.cli.call import Call
    from holdfast.engine.upkeep.secret_scan import Secret

# As grep and other searchers end where something was found, the other way round: for a script
# that wants no secrets, finding some is the failure.
FOUND = 1

_Found: TypeAlias = "tuple[str, Secret]"  # (hub, what)


def _options(parser: Parser) -> None:
    parser.add_argument("--fix", action="store_true", help="replace them, in old versions too")
    parser.add_argument(
        "--attachments",
        action="store_true",
        help="with --fix, remove attached files that hold some",
    )
    parser.add_argument("--all", action="store_true", help="in every hub, not only the one in use")
    command.add_yes(parser)


def _scan(call: Call, args: Namespace) -> int:
    if call.server:
        raise InvalidInput(
            "Secrets are looked for on the machine that has the memory.", hint="Run it there."
        )
    if args.attachments and not args.fix:
        raise InvalidInput(
            "--attachments removes files, so it needs --fix.", hint="Without it, they are named."
        )
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()] if args.all else [call.hub]
    found, notes = _find(call, hubs)
    fixable, files = _fixable(found), _attached(found) if args.attachments else 0
    if args.fix and (fixable or files):
        call.confirm(_question(fixable, files))
        changed: list[str] = []
        for hub in hubs:
            with call.out.progress("replace") as step:
                changed += hub.redact_secrets(step, attachments=args.attachments)
        found, notes = _find(call, hubs)
        _tell(call, found, changed + notes, replaced=fixable, removed=files)
    else:
        _tell(call, found, notes, replaced=0, removed=0)
    return FOUND if found else 0


def _find(call: Call, hubs: list[HubMemory]) -> tuple[list[_Found], list[str]]:
    """What was found in each hub, and what could not be looked into."""
    found: list[_Found] = []
    notes: list[str] = []
    for hub in hubs:
        with call.out.progress("scan") as step:
            found += [(hub.name, one) for one in hub.find_secrets(step, note=notes.append)]
    return found, notes


def _fixable(found: list[_Found]) -> int:
    return sum(one.times for _, one in found if one.fixable)


def _attached(found: list[_Found]) -> int:
    return len({(hub, one.where) for hub, one in found if one.attached})


def _question(fixable: int, files: int) -> str:
    removed = f"{counted(files, 'attached file')}"
    replaced = f"Replace {counted(fixable, 'secret')}, also in old versions"
    if not files:
        return f"{replaced}, for good?"
    if not fixable:
        return f"Remove {removed} for good? No undo brings them back; their memories stay."
    return f"{replaced}, and remove {removed}, for good? No undo brings them back."


def _tell(
    call: Call, found: list[_Found], notes: list[str], *, replaced: int, removed: int
) -> None:
    if call.out.json:
        left = [{"hub": name, **one._asdict()} for name, one in found]
        plain = {"replaced": replaced, "removed": removed, "left": left, "notes": notes}
        call.out.value(plain)
        return
    rows = [(name, one.where, one.kind, str(one.times)) for name, one in found]
    if rows:
        call.out.table(("hub", "where", "kind", "how many"), rows)
    for note in notes:
        call.out.note(note)
    if replaced:
        call.out.note(f"{counted(replaced, 'secret')} replaced. Change them where they are used.")
    if removed:
        call.out.note(f"{counted(removed, 'attached file')} removed, which cannot be undone.")
    if not found and not replaced and not removed:
        elsewhere = " in what was looked at" if notes else ""
        call.out.note(f"No secrets were found{elsewhere}.")
    if any(one.fixable for _, one in found):
        call.out.note("To replace them by placeholders: `holdfast scan --fix`.")
    if any(one.attached for _, one in found):
        call.out.note(
            "Attached files are not changed. To remove those that hold secrets, for good:"
            " `holdfast scan --fix --attachments`."
        )
    if any(not one.fixable and not one.attached for _, one in found):
        call.out.note("Files of your own are not changed: edit or remove those yourself.")


COMMANDS = (
    Command(
        "scan",
        "Look for secrets in memories, history, log and files; replace them.",
        "holdfast scan --fix",
        _options,
        _scan,
        "Says where, of which kind and how many, never what. --fix puts a placeholder in place of\n"
        "each, in old versions and the log as well, and cannot be undone. Attached files are\n"
        "looked into too; --fix --attachments removes those that hold secrets, and their memories\n"
        "stay. What could not be looked into, such as a picture, is noted. Ends with 1 where\n"
        "secrets are left. In a pipe, a line each: hub, where, kind, how many.",
    ),
)
