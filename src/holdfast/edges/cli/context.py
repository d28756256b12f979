"""The block for an agent's prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.api.hub import HubMemory
from holdfast.edges.cli.bind import Flags, flag
from holdfast.edges.cli.command import Commands, Namespace, option, switch
from holdfast.edges.cli.output import short

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.engine.context.build import Context

COMMANDS = Commands()


# A copy of the names in engine.styles.STYLES: help need not load the engine.
_STYLES = ("plain", "xml", "max", "maven", "minion")

_CONTEXT = Flags(
    HubMemory.context,
    omit=("unit", "explain"),
    query=flag(metavar="TEXT", about="the same, as an option"),
    budget=flag(about="at most this many characters, or tokens"),
    style=flag(offers=_STYLES, about=", ".join(_STYLES)),
    count_tokens=flag(
        "--tokenizer",
        metavar="NAME",
        about="count tokens with this one, for example tiktoken:o200k_base",
    ),
)


@COMMANDS.add(
    "context",
    'holdfast context --query "set up the editor" --budget 4000',
    option("words", "WORD", "what the agent is about to answer", nargs="*"),
    _CONTEXT,
    switch("--tokens", "the budget is in tokens"),
    switch("--explain", "say what is left out of the block, and why"),
)
def _context(call: Call, args: Namespace) -> None:
    """Print the block that goes into an agent's prompt.

    With a question: standing facts, then the memories and turns that answer it. Without:
    long-term memory, the journal of today and yesterday, and where the last session ended.
    Never more than the budget (setting context.chars_max).
    Without a tokenizer, tokens are counted by a bound that holds for any model."""
    given: dict[str, Any] = {"unit": "tokens" if args.tokens else "chars"}
    if args.words and not args.query:
        given["query"] = " ".join(args.words)
    # An explained answer also says where it is degraded.
    built: Context = _CONTEXT.run(call, args, explain=True, **given)
    call.out.degraded(built.degraded)
    if call.out.json:
        call.out.value(_plain(call.hub.name, built, explain=args.explain))
        return
    if built.text:
        # To the letter: what an agent gets is what is printed.
        call.out.line(built.text.removesuffix("\n"))
    if args.explain:
        _explain(call, built)


def _explain(call: Call, built: Context) -> None:
    unit = "characters" if built.unit == "chars" else "tokens"
    call.out.note(f"{len(built.included)} in, {built.used} of {built.budget} {unit}.")
    for absent in built.left_out:
        memory = absent.memory
        call.out.note(f"Left out #{memory.number} {short(memory.title)}: {absent.reason}.")


def _plain(hub: str, built: Context, *, explain: bool) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "hub": hub,
        "text": built.text,
        "used": built.used,
        "budget": built.budget,
        "unit": built.unit,
        "degraded": list(built.degraded),
    }
    if explain:
        plain["included"] = [memory.number for memory in built.included]
        plain["left_out"] = [
            {
                "number": absent.memory.number,
                "id": absent.memory.id,
                "title": absent.memory.title,
                "section": absent.section,
                "reason": absent.reason,
            }
            for absent in built.left_out
        ]
    return plain
