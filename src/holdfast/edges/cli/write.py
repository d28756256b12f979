"""Commands that write: remember, update, pin, unpin, archive, forget, restore, purge."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.api.hub import HubMemory
from holdfast.domain.results import Traces
from holdfast.edges.cli.bind import Flags, after, flag, text_of
from holdfast.edges.cli.command import YES, Commands, Namespace, option, switch
from holdfast.edges.cli.output import counted, note_new_category, pasteable, short
from holdfast.errors import Conflict, HoldfastError, InvalidInput, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.memory import Memory
    from holdfast.domain.records import Turn
    from holdfast.domain.results import Remembered
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()

# remember


_PIN = flag("--pin")
_TTL = flag("--ttl", metavar="SPAN", about="archive it after this long: 12h, 7d, 2w", convert=after)
_REMEMBER = Flags(
    HubMemory.remember,
    omit=(
        *("content", "ttl", "source", "source_agent", "assisted_by_agent"),
        *("parent", "origin", "fetch"),
    ),
    pinned=_PIN,
    expires_at=_TTL,
)


@COMMANDS.add(
    "remember",
    'holdfast remember "Prefers tabs over spaces" --category preference --tag editor',
    option("content", "WORD", "the content; - or a pipe reads it", nargs="*"),
    option("--file", "FILE", "the content of these files", nargs="+"),
    _REMEMBER,
    makes_hub=True,
)
def _remember(call: Call, args: Namespace) -> None:
    """Store a memory.

    Fields that are not given are chosen by rules. The same key, or the same file, makes a
    new version; the same content is not stored twice.
    In a pipe, a line per memory: stored, updated, duplicate, superseded or quarantined;
    then number, id, title."""
    shared = {**_REMEMBER.values(call, args), "source": "cli"}
    if args.file:
        results = call.hub.remember_many(_of_files(call, args, shared))
    else:
        content = _content(call, args.content)
        results = call.hub.remember_many([{"content": content, **shared}])
    if call.out.json:
        values = [plain_result(result) for result in results]
        if args.file:
            call.out.value(values)
        else:
            call.out.value(**values[0])
    else:
        for result in results:
            show_result(call, result)
        if args.category and results:
            note_new_category(call, results[-1].memory)
        if len(args.content) == 1 and os.path.isfile(args.content[0]):
            call.out.note(
                "The name of a file was stored as text;"
                f" `{pasteable('holdfast', 'remember', '--file', args.content[0])}` stores what is"
                " in the file."
            )
    call.embed_left()


def _content(call: Call, words: Sequence[str]) -> str:
    if words:
        return text_of(call, words)
    # `echo text | holdfast remember` stores the text in the pipe.
    piped = sys.stdin is not None and not sys.stdin.isatty()
    if piped and (text := call.read("-", "text")).strip():
        return text
    raise InvalidInput(
        "Say what to remember.", hint="Give it as words, as - for standard input, or --file."
    )


def _of_files(call: Call, args: Namespace, shared: dict[str, Any]) -> list[dict[str, Any]]:
    if args.content:
        raise InvalidInput("Give the content as words or as --file, not both.")
    single = ("key", "title", "source_path", "supersedes")
    if len(args.file) > 1 and any(shared.get(name) for name in single):
        raise InvalidInput(
            "A key, a title, a source path and --supersedes belong to one memory.",
            hint="Remember the files one at a time.",
        )
    drafts = []
    for path in args.file:
        # The path decides whether it is a new version or a new memory.
        place = shared.get("source_path") or os.path.abspath(path)
        drafts.append({"content": call.read(path, "a file"), **shared, "source_path": place})
    return drafts


def _outcome(result: Remembered) -> str:
    return type(result).__name__.lower()


def plain_result(result: Remembered) -> dict[str, Any]:
    """A result for JSON, without empty fields."""
    parts = {name: getattr(result, name, None) for name in ("previous", "close_to", "reason")}
    return {
        "data": result.memory,
        "result": _outcome(result),
        "change": getattr(result, "change", None),
        **{name: one for name, one in parts.items() if one is not None},
    }


def show_result(call: Call, result: Remembered) -> None:
    from holdfast.domain.results import Duplicate, Quarantined, Superseded, Updated

    memory = result.memory
    if not call.out.terminal:
        row = [call.named(memory), memory.id, memory.title]
        if isinstance(result, Superseded):
            # The row describes the new memory; the memory it replaces comes last.
            call.out.row("stored", *row, f"supersedes {call.named(result.previous)}")
        else:
            call.out.row(_outcome(result), *row)
    match result:
        case Updated(_, _, previous):
            after = f"version {memory.version} of {call.named(memory)}"
            said = ("Updated", f": now {after}, was version {previous.version}")
        case Duplicate() if memory.quarantine:
            said = ("Held for review", f" already: {memory.quarantine}; nothing was written")
        case Duplicate():
            said = ("Known already", ": nothing was written")
        case Superseded(_, _, previous):
            said = ("Stored", f": takes the place of {call.named(previous)}")
        case Quarantined(_, _, reason):
            said = ("Held for review", f": {reason}; `holdfast restore {memory.number}` lets it in")
        case _:
            said = ("Stored", "")
    if call.out.terminal:
        kind = f"  ({memory.category}, {memory.kind}, {memory.stability})"
        call.out.parts(
            (said[0], "green"),
            (f" {call.named(memory)}", "bold cyan"),
            (f"  {' '.join(memory.title.split())}", ""),
            (kind, "dim"),
            (said[1], ""),
        )
    elif memory.quarantine:
        call.out.note(f"{call.named(memory)} is held for review{said[1]}.")
    if (close := getattr(result, "close_to", None)) is not None:
        words = " ".join(close.title.split())
        call.out.note(
            f"Close to #{close.number} ({words}); `--supersedes {close.number}` replaces it."
        )


# update


_UPDATE = Flags(
    HubMemory.update,
    omit=("content",),
    expected_version=flag("--expect-version"),
    pinned=_PIN,
    expires_at=_TTL,
)


@COMMANDS.add(
    "update",
    'holdfast update 12 "Prefers spaces" --category preference --expect-version 1',
    _UPDATE,
    option("content", "WORD", "new content; - reads it", nargs="*"),
    switch("--unpin", "let it age again"),
    option(
        "--clear",
        "FIELD",
        "empty this field: key, session, speaker, occurred-at, valid-from, …; repeatable",
        action="append",
    ),
)
def _update(call: Call, args: Namespace) -> None:
    """Change a memory; its old version stays in the history.

    On a terminal, without any options, its text opens in your editor (EDITOR).
    In a pipe, a line per memory: what was done, number, id, title."""
    changes = _UPDATE.values(call, args)
    if args.unpin:
        changes["pinned"] = False
    if args.content:
        changes["content"] = _content(call, args.content)
    for name in args.clear or ():
        field = name.replace("-", "_")
        changes[field] = () if field == "tags" else None
    if not changes.keys() - {"reference", "expected_version", "reason"}:
        if not (call.out.terminal and sys.stdin.isatty()):
            raise InvalidInput(
                "Say what to change.", hint="For example: holdfast update 12 --category fact"
            )
        _update_in_editor(call, args.reference, changes)
        return
    began = call.now
    memory = call.hub.update(**changes)
    _show_changed(call, "updated", [memory], began)
    call.embed_left()


def _update_in_editor(call: Call, reference: str, changes: dict[str, Any]) -> None:
    """Opens a memory's text in the user's editor and stores the result."""
    began = call.now
    before = call.hub.get(reference)
    text = call.edited(before.content, instead=f'`holdfast update {reference} "…"`')
    if text is None or text == before.content:
        call.out.note("The text is the same, so nothing was changed." if text else _EMPTY)
        return
    try:
        after = call.hub.update(**({"expected_version": before.version} | changes), content=text)
    except HoldfastError as error:
        # The file that was edited is deleted by now.
        changed = (
            "It was changed while you edited it" if isinstance(error, Conflict) else "Not stored"
        )
        call.out.note(f"{changed}. Your text was:\n{text}")
        raise
    _show_changed(call, "updated", [after], began)
    call.embed_left()


_EMPTY = "The text is empty, so nothing was changed; `holdfast forget` hides a memory."


# pin, unpin, archive, forget, restore


def _changing(name: str, example: str, operation: Any, word: str, about: str) -> None:
    """Adds a command that changes the given memories and prints which of them it changed."""
    flags = Flags(operation)
    text = f"{about}\n\nIn a pipe, a line per memory: what was done, number, id, title."

    @COMMANDS.add(name, example, flags, text=text)
    def run(call: Call, args: Namespace) -> None:
        began = call.now
        done = flags.run(call, args)
        memories = done if isinstance(done, list) else [done]
        also = call.hub.traces([one.id for one in memories]) if word == "forgotten" else None
        _show_changed(call, word, memories, began, also)
        if also is not None:
            if hidden := _traces_text(also):
                call.out.note(f"Also hidden: {hidden}.")
            _say_how_to_restore(call, memories)


_changing(
    "pin",
    "holdfast pin 12",
    HubMemory.pin,
    "pinned",
    "Keep a memory from ageing, and let it rank a little higher.",
)
_changing(
    "unpin", "holdfast unpin 12", HubMemory.unpin, "unpinned", "Let a pinned memory age again."
)
_changing(
    "archive",
    'holdfast archive 12 13 --reason "project ended"',
    HubMemory.archive_many,
    "archived",
    "Hide memories from recall and lists, and keep them.",
)
_changing(
    "forget",
    'holdfast forget 12 --reason "wrong"',
    HubMemory.forget_many,
    "forgotten",
    "Hide memories everywhere; restore or undo brings them back.",
)
_changing(
    "restore",
    "holdfast restore 12",
    HubMemory.restore_many,
    "restored",
    "Bring back what was forgotten, archived or held for review.",
)


def _say_how_to_restore(call: Call, forgotten: list[Memory]) -> None:
    kept = ""
    if not call.server:
        days = call.local.core.settings["forget.keep_days"]
        kept = f" It is kept for {days} days at least."
    which = " ".join(_typed(call, one) for one in forgotten)
    call.out.note(f"To undo: `holdfast restore {which}`, or `holdfast undo`.{kept}")


def _typed(call: Call, memory: Memory) -> str:
    """The name of a memory as a command's argument. In a project, a plain number is the
    project's."""
    return call.named(memory).removeprefix("#")


# The message for a memory that was already in the requested state.
_ALREADY = {
    "pinned": "was pinned already",
    "unpinned": "was not pinned",
    "archived": "was archived already",
    "restored": "was neither forgotten nor archived nor held for review",
    "updated": "was like this already",
}


def _show_changed(
    call: Call, word: str, memories: list[Memory], began: datetime, also: Traces | None = None
) -> None:
    """Prints the memories changed since `began`; older ones were not changed by this command."""
    unchanged = [memory.number for memory in memories if memory.updated_at < began]
    if call.out.json:
        hidden = {} if also is None else {"also_hidden": _plain_traces(also)}
        call.out.value(memories, result=word, unchanged=unchanged, **hidden)
        return
    for memory in memories:
        if not call.out.terminal:
            outcome = "unchanged" if memory.number in unchanged else word
            call.out.row(outcome, f"#{memory.number}", memory.id, memory.title)
        if memory.number in unchanged:
            call.out.note(f"#{memory.number} {_ALREADY[word]}.")
        elif call.out.terminal:
            call.out.parts(
                (word.capitalize(), "green"),
                (f" #{memory.number}", "bold cyan"),
                (f"  {' '.join(memory.title.split())}", ""),
            )


def _traces_text(found: Traces) -> str:
    from holdfast.agents.wording import traces_text

    return traces_text(found)


def _plain_traces(found: Traces) -> dict[str, list[str] | list[int]]:
    return {
        "memories": [memory.number for memory in found.memories],
        "turns": [turn.id for turn in found.turns],
    }


# purge


_PURGE = Flags(
    HubMemory.purge_many,
    references=flag("references", nargs="*"),
    reason=flag(about="why; kept in the receipt"),
    everywhere=flag(about="also the same in the journal, and turns that hold the words"),
)


@COMMANDS.add(
    "purge",
    "holdfast purge 12 --yes",
    _PURGE,
    switch("--forgotten", "what was forgotten longer than forget.keep_days ago"),
    YES,
)
def _purge(call: Call, args: Namespace) -> None:
    """Delete memories and their history permanently; only a receipt remains.

    In a pipe, a line per memory: purged, number, id, how many revisions went."""
    hub = call.hub
    if bool(args.references) == args.forgotten:
        raise InvalidInput("Name the memories to purge, or give --forgotten for those long gone.")
    if args.forgotten and call.server:
        raise InvalidInput(
            "What is long gone is purged on the machine that has the memory.",
            hint="Name the memories, or run it there.",
        )
    if args.forgotten:
        days = hub.core.settings["forget.keep_days"]
        call.confirm(f"Remove what was forgotten more than {days} days ago, for good?")
        receipts = hub.purge_forgotten(reason=args.reason or "")
        also = Traces()
    else:
        try:
            also = hub.traces(args.references)
        except NotFound:
            # The purge reports that itself, and completes an earlier one that was interrupted.
            also = Traces()
        if not args.yes:
            _confirm_purge(call, args, also)
        receipts = _PURGE.run(call, args)
        also = Traces() if args.everywhere else also
    if call.out.json:
        call.out.value(receipts, result="purged", still_held=_plain_traces(also))
        return
    for receipt in receipts:
        if call.out.terminal:
            revisions = counted(receipt.revisions, "revision")
            call.out.line(f"Purged #{receipt.number}, {revisions}.")
        else:
            call.out.row("purged", f"#{receipt.number}", receipt.memory_id, str(receipt.revisions))
    if not receipts:
        call.out.note("There was nothing to purge.")
    _say_what_is_left(call, also)


def _confirm_purge(call: Call, args: Namespace, also: Traces) -> None:
    which = _named(call, args.references)
    held = _traces_text(also)
    if held and args.everywhere:
        which += f", {held}"
    elif held:
        call.out.note(f"The same words are in {held}; --everywhere removes these too.")
    call.confirm(f"Remove {which} and the whole history, for good?")


def _say_what_is_left(call: Call, also: Traces) -> None:
    """Says what still contains the words of purged memories, and how to remove it."""
    if held := _traces_text(also):
        commands = [f"`holdfast purge {_typed(call, one)} --everywhere`" for one in also.memories]
        remove = commands[0] if commands else " and ".join(_forget_commands(call, also.turns))
        call.out.note(f"Still held, but hidden: {held}. To remove it: {remove}.")


def _forget_commands(call: Call, turns: Sequence[Turn]) -> list[str]:
    """The commands that delete turns, each in its hub (the project's or the personal one)."""
    by_hub: dict[str, list[str]] = {}
    for turn in turns:
        by_hub.setdefault(call.hub_name_of(turn), []).append(f"--turn {turn.id}")
    return [
        f"`holdfast log forget {' '.join(ids)}{'' if name == call.hub.name else f' --hub {name}'}`"
        for name, ids in by_hub.items()
    ]


def _named(call: Call, references: Sequence[str]) -> str:
    """The memories by number and title, including forgotten ones."""
    found = [call.hub.find(one) for one in references]
    return ", ".join(f"{call.named(one)} “{short(one.title, _TITLE_CHARS)}”" for one in found)


# In a question: enough of the title to recognise the memory.
_TITLE_CHARS = 60
