"""Commands for decisions by a person: the review inbox, and questions from agents."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from holdfast.api.hub import HubMemory
from holdfast.domain.clock import to_text
from holdfast.domain.results import HELD_KINDS
from holdfast.edges.cli.bind import Flags, flag
from holdfast.edges.cli.command import Commands, Namespace, switch
from holdfast.edges.cli.output import counted, short
from holdfast.errors import HoldfastError, InvalidInput, NotFound, with_command
from holdfast.text.clean import printable

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.domain.results import Decision, Item
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()


# The lines of a text that fit on a screen with the question; `m` shows all of it.
_LINES_MAX = 20
_CHARS_MAX = 2_000
_KEYS = "[a]pprove  [e]dit  [r]eject  [s]kip  [q]uit"


_APPROVE = Flags(
    HubMemory.approve,
    references=flag(
        "references", nargs="*", metavar="MEMORY", about="items by number, id or key; none: all"
    ),
    text=flag(about="approve one item with this text instead"),
    keep_both=flag(about="approve without replacing anything"),
    every=flag("--all", about="all items, where some must be named"),
    kind=flag(offers=HELD_KINDS, about="only items of this kind"),
    source=flag(metavar="SOURCE", about="only items from there: mcp, an agent, a file, a folder"),
    reason=flag(about="why, for the history"),
)


@COMMANDS.add(
    "review",
    "holdfast review --approve 12",
    _APPROVE,
    switch("--approve", "show them from now on"),
    switch("--reject", "archive them, hidden as they are"),
)
def _review(call: Call, args: Namespace) -> None:
    """Review what is held until you have seen it: approve, edit or reject.

    On a terminal it goes through the items one by one: a approves, e edits first, r
    rejects, s skips, q ends; b approves and replaces nothing. In a pipe it lists them:
    number, kind, source, when it expires, what approving replaces, why, text.
    The same can be done in INBOX.md, in the hub's folder."""
    call.notes_waiting = False
    if args.approve and args.reject:
        raise InvalidInput("Give --approve or --reject, not both.")
    if (args.text is not None or args.keep_both) and not args.approve:
        raise InvalidInput("--text and --keep-both go with --approve.")
    if args.approve or args.reject:
        _decide(call, args)
        return
    found = call.hub.review(kind=args.kind, source=args.source)
    if args.references:
        found = [_named(found, call.hub.get(one)) for one in args.references]
    if call.out.json:
        call.out.value(found)
    elif not found:
        call.out.note("Nothing waits for review.")
    elif not call.out.terminal:
        for item in found:
            call.out.row(*_row(call, item))
    elif sys.stdin is not None and sys.stdin.isatty():
        _walk(call, found)
    else:
        for item in found:
            _show(call, item)
        call.out.note("To decide: `holdfast review --approve NUMBER…` or `--reject NUMBER…`.")


def _named(items: list[Item], memory: Memory) -> Item:
    for item in items:
        if item.memory.id == memory.id:
            return item
    raise NotFound(
        f"Memory #{memory.number} does not wait for review.",
        hint="`holdfast review` shows what waits.",
    )


def _decide(call: Call, args: Namespace) -> None:
    if args.references and (args.every or args.kind or args.source):
        raise InvalidInput("Name items, or give --all, --kind or --source, not both.")
    # Both take the same arguments, except those of --approve.
    given = _APPROVE.values(call, args)
    done = call.hub.approve(**given) if args.approve else call.hub.reject(**given)
    result = "approved" if args.approve else "rejected"
    if call.out.json:
        call.out.value(done, result=result)
    elif not call.out.terminal:
        for memory in done:
            call.out.row(result, f"#{memory.number}", memory.id)
    else:
        call.out.line(f"{result.capitalize()} {counted(len(done), 'item')}.", "green")
    if done and not call.out.json:
        call.out.note("To take it back: `holdfast undo`.")


# Printing


def _row(call: Call, item: Item) -> tuple[str, ...]:
    memory = item.memory
    about = "" if item.about is None else f"#{item.about.number}"
    end = call.out.time(item.expires_at)
    return (f"#{memory.number}", item.kind, _source(memory), end, about, item.why, memory.content)


def _source(memory: Memory) -> str:
    return memory.source_agent or memory.source_path or memory.source


def _show(call: Call, item: Item, *, whole: bool = False) -> bool:
    """Prints one item on a terminal; returns whether its text was cut."""
    memory = item.memory
    from_ = f"{memory.trust}, {_source(memory)}, {call.out.time(memory.created_at)}"
    call.out.parts(
        (f"#{memory.number}", "bold cyan"), (f"  {item.kind}", "bold"), (f"  ({from_})", "")
    )
    call.out.line(f"  held because it {short(item.why, 500)}")
    cut = _show_text(call, memory.content, whole=whole)
    if item.about is not None:
        call.out.line(f"  approving it replaces #{item.about.number}:")
        cut = _show_text(call, item.about.content, whole=whole) or cut
    call.out.line(f"  goes by itself on {call.out.time(item.expires_at)}")
    return cut


def _show_text(call: Call, text: str, *, whole: bool) -> bool:
    lines = printable(text).split("\n")
    kept = lines if whole else "\n".join(lines[:_LINES_MAX])[:_CHARS_MAX].split("\n")
    for line in kept:
        call.out.line(f"    | {line}")
    cut = kept != lines
    if cut:
        call.out.line(f"    … {len(text):,} characters in all")
    return cut


# One item at a time


def _walk(call: Call, items: list[Item]) -> None:
    decided = 0
    for place, item in enumerate(items, 1):
        call.out.line()
        call.out.line(f"{place} of {len(items)}", "dim")
        cut = _show(call, item)
        answer = _asked(call, item, cut)
        if answer == "q":
            break
        if answer == "s":
            continue
        try:
            decided += _done(call, item, answer)
        except HoldfastError as error:
            # Somebody else may have decided already; go on with the next item.
            call.out.note(with_command(error))
    if decided:
        call.out.note(f"Decided {counted(decided, 'item')}. Each can be undone: `holdfast undo`.")


def _asked(call: Call, item: Item, cut: bool) -> str:
    keys = _KEYS
    if item.about is not None:
        keys += "  keep [b]oth"
    if cut:
        keys += "  show [m]ore"
    while True:
        call.out.stderr.write(f"{keys}? ")
        call.out.stderr.flush()
        typed = sys.stdin.readline()
        if not typed:
            return "q"
        answer = typed.strip().lower()[:1]
        if answer == "m" and cut:
            _show(call, item, whole=True)
        elif answer in ("a", "e", "r", "s", "q") or (answer == "b" and item.about is not None):
            return answer


def _done(call: Call, item: Item, answer: str) -> int:
    memory = item.memory
    if answer == "r":
        call.hub.reject(memory.id)
        call.out.line(f"Rejected #{memory.number}.", "green")
        return 1
    text = None
    if answer == "e":
        instead = "`holdfast review --approve NUMBER --text …`"
        text = call.edited(memory.content, instead=instead)
        if text is None:
            call.out.note("The text is empty, so nothing was changed.")
            return 0
    (shown,) = call.hub.approve(memory.id, text=text, keep_both=answer == "b")
    call.out.line(f"Approved #{memory.number}: {short(shown.title)}", "green")
    return 1


def _plain_decision(decision: Decision) -> dict[str, Any]:
    memory = decision.memory
    return {
        "number": memory.number,
        "id": memory.id,
        "question": decision.question,
        "options": list(decision.options),
        "context": decision.context,
        "status": decision.status,
        "option": decision.option or None,
        "note": decision.note or None,
        "answer": decision.answer or None,
        "asked_by": memory.source_agent,
        "asked_at": to_text(memory.created_at),
    }


# decisions


@COMMANDS.shows(
    "decisions",
    "holdfast decisions",
    Flags(HubMemory.decisions, every=flag("--all", about="also those decided or withdrawn")),
)
def _show_decisions(call: Call, args: Namespace, found: list[Decision]) -> None:
    """List what agents have asked you to decide.

    An open question is neither recalled nor injected; your answer is remembered.
    In a pipe: number, status, question, options."""
    if call.out.json:
        call.out.value([_plain_decision(decision) for decision in found])
        return
    if not found:
        call.out.note("No decision is open.")
    for decision in found:
        if call.out.terminal:
            _show_decision(call, decision)
        else:
            number = f"#{decision.memory.number}"
            call.out.row(number, decision.status, decision.question, *decision.options)
    if call.out.terminal and any(decision.status == "open" for decision in found):
        call.out.note("To answer: `holdfast decide NUMBER OPTION`, with the option's number.")


def _show_decision(call: Call, decision: Decision) -> None:
    memory = decision.memory
    asked = f"{memory.source_agent or memory.source}, {call.out.time(memory.created_at)}"
    call.out.parts(
        (f"#{memory.number}  ", "cyan"), (decision.question, "bold"), (f"  ({asked})", "")
    )
    for place, option in enumerate(decision.options, 1):
        chosen = decision.status == "decided" and option == decision.option
        call.out.line(f"    {place}. {option}{'  ← decided' if chosen else ''}")
    for line in decision.context.splitlines():
        call.out.line(f"    | {line}")
    if decision.status == "withdrawn":
        call.out.line("    Withdrawn.")
    if decision.note:
        call.out.line(f"    Why: {decision.note}")


# decide


_DECIDE = Flags(
    HubMemory.decide,
    omit=("source",),
    reference=flag(metavar="NUMBER", about="the question's number"),
    option=flag(nargs="?", about="the option: its number, or its words"),
)


@COMMANDS.add(
    "decide",
    'holdfast decide 12 2 --note "One machine is enough"',
    _DECIDE,
    switch("--withdraw", "take the question back instead"),
)
def _decide_question(call: Call, args: Namespace) -> None:
    """Answer a question that an agent asked you, or withdraw it.

    The option is its number in the list, or its text. In a pipe: what was done, number,
    option, id of the answer."""
    if args.withdraw and args.option is not None:
        raise InvalidInput("Give an option or --withdraw, not both.")
    if args.withdraw:
        decision = call.hub.withdraw_decision(**_DECIDE.values(call, args))
    elif args.option is None:
        raise InvalidInput(
            "Say which option: its number, or its words.", hint="`holdfast decisions` shows them."
        )
    else:
        decision = _DECIDE.run(call, args, source="cli")
    number = f"#{decision.memory.number}"
    if call.out.json:
        call.out.value(_plain_decision(decision), result=decision.status)
    elif not call.out.terminal:
        call.out.row(decision.status, number, decision.option, decision.answer)
    elif args.withdraw:
        call.out.line(f"Withdrew {number}: {decision.question}", "green")
    else:
        call.out.line(f"Decided {number}: {decision.option}", "green")
        call.out.note("The agent finds it with its next recall. To take it back: `holdfast undo`.")
