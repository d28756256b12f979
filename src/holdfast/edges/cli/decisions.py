"""What an agent asks a person to decide: list the questions, answer one, withdraw one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_text
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.domain.review import Decision
    from holdfast.edges.cli.call import Call


def _plain(decision: Decision) -> dict[str, Any]:
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


def _decisions_options(parser: Parser) -> None:
    parser.add_argument("--all", action="store_true", help="also those decided or withdrawn")


def _decisions(call: Call, args: Namespace) -> None:
    found = call.hub.decisions(every=args.all)
    if call.out.json:
        call.out.value({"decisions": [_plain(decision) for decision in found]})
        return
    if not found:
        call.out.note("No decision is open.")
    for decision in found:
        if call.out.terminal:
            _show(call, decision)
        else:
            number = f"#{decision.memory.number}"
            call.out.row(number, decision.status, decision.question, *decision.options)
    if call.out.terminal and any(decision.status == "open" for decision in found):
        call.out.note("To answer: `holdfast decide NUMBER OPTION`, with the option's number.")


def _show(call: Call, decision: Decision) -> None:
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


def _decide_options(parser: Parser) -> None:
    parser.add_argument("memory", metavar="NUMBER", help="the question's number")
    parser.add_argument(
        "option", metavar="OPTION", nargs="?", help="the option: its number, or its words"
    )
    parser.add_argument("--note", metavar="TEXT", default="", help="why")
    parser.add_argument("--withdraw", action="store_true", help="take the question back instead")


def _decide(call: Call, args: Namespace) -> None:
    if args.withdraw and args.option is not None:
        raise InvalidInput("Give an option or --withdraw, not both.")
    if args.withdraw:
        decision = call.hub.withdraw_decision(args.memory, note=args.note)
    elif args.option is None:
        raise InvalidInput(
            "Say which option: its number, or its words.", hint="`holdfast decisions` shows them."
        )
    else:
        decision = call.hub.decide(args.memory, args.option, note=args.note, source="cli")
    number = f"#{decision.memory.number}"
    if call.out.json:
        call.out.value({"result": decision.status, "decision": _plain(decision)})
    elif not call.out.terminal:
        call.out.row(decision.status, number, decision.option, decision.answer)
    elif args.withdraw:
        call.out.line(f"Withdrew {number}: {decision.question}", "green")
    else:
        call.out.line(f"Decided {number}: {decision.option}", "green")
        call.out.note("The agent finds it with its next recall. To take it back: `holdfast undo`.")


COMMANDS = (
    Command(
        "decisions",
        "What agents have asked you to decide.",
        "holdfast decisions",
        _decisions_options,
        _decisions,
        "An open question is neither recalled nor injected; your answer is remembered.\n"
        "In a pipe: number, status, question, options.",
    ),
    Command(
        "decide",
        "Answer a question that an agent asked you, or withdraw it.",
        'holdfast decide 12 2 --note "One machine is enough"',
        _decide_options,
        _decide,
        "The option is its number in the list, or its words. In a pipe: what was done, number,\n"
        "option, id of the answer.",
    ),
)
