"""Taking in and changing: remember, update, pin, unpin, archive, forget, restore, purge."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import BOUNDARIES, CONTENT_TYPES, KINDS, LAYERS, STABILITIES, TRUSTS
from holdfast.edges.cli import command
from holdfast.edges.cli.command import Command, Namespace, Parser, whole
from holdfast.edges.cli.output import counted, named, plain_memory, plain_receipt, short
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.memory import Memory
    from holdfast.domain.results import Remembered
    from holdfast.edges.cli.call import Call

# remember


def _field_options(parser: Parser) -> None:
    command.add_category(parser)
    parser.add_argument("--key", metavar="KEY", help="a name of its own; the same key updates")
    parser.add_argument("--title", metavar="TEXT", help="instead of one taken from the content")
    parser.add_argument("--tag", action="append", metavar="TAG", help="repeatable")
    parser.offer("--kind", KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.offer("--stability", STABILITIES, metavar="HOW", help=", ".join(STABILITIES))
    parser.offer("--layer", LAYERS, metavar="LAYER", help=", ".join(LAYERS))
    parser.offer("--boundary", BOUNDARIES, metavar="WHO", help=", ".join(BOUNDARIES))
    parser.add_argument("--session", metavar="NAME", help="the conversation it is from")
    parser.add_argument("--speaker", metavar="NAME", help="who said it")
    parser.add_argument("--occurred-at", metavar="WHEN", help=f"when it happened: {command.WHEN}")
    parser.add_argument("--occurred-until", metavar="WHEN", help="when it was over")
    parser.add_argument("--valid-from", metavar="WHEN", help="when it begins to hold")
    parser.add_argument("--valid-until", metavar="WHEN", help="when it ceases to hold")
    parser.add_argument("--ttl", metavar="SPAN", help="archive it after this long: 12h, 7d, 2w")
    parser.add_argument("--summary", metavar="TEXT", help="instead of one taken from the content")
    parser.offer("--content-type", CONTENT_TYPES, metavar="TYPE", help=", ".join(CONTENT_TYPES))
    parser.offer("--trust", TRUSTS, metavar="WHO", help="who said it: " + ", ".join(TRUSTS))
    parser.add_argument("--metadata", metavar="JSON", help="an object with whatever you need")
    parser.add_argument("--pin", action="store_true", help="keep it from ageing")


def _remember_options(parser: Parser) -> None:
    parser.add_argument(
        "content", nargs="*", metavar="WORD", help="the content; - or a pipe reads it"
    )
    parser.add_argument("--file", nargs="+", metavar="FILE", help="the content of these files")
    _field_options(parser)
    parser.add_argument("--supersedes", metavar="REF", help="the memory whose place it takes")
    parser.add_argument("--source-path", metavar="PATH", help="where it comes from")


def _remember(call: Call, args: Namespace) -> None:
    shared: dict[str, Any] = {
        **_fields(call, args),
        "supersedes": args.supersedes,
        "source_path": args.source_path,
        "source": "cli",
    }
    if args.file:
        results = call.hub.remember_many(_of_files(call, args, shared))
    else:
        content = _content(call, args.content)
        results = call.hub.remember_many([{"content": content, **shared}])
    if call.out.json:
        values = [plain_result(result, call.hub_name_of(result.memory)) for result in results]
        if args.file:
            call.out.value(values)
        else:
            call.out.value(**values[0])
    else:
        for result in results:
            show_result(call, result)
        if args.category and results:
            from holdfast.edges.cli.mistyped import note_new_category

            note_new_category(call, results[-1].memory)
    call.embed_left()


_PLAIN_FIELDS = (
    *("category", "key", "title", "summary", "kind", "stability", "layer", "boundary"),
    *("session", "speaker", "content_type", "trust"),
)


def _fields(call: Call, args: Namespace) -> dict[str, Any]:
    """The fields that were given, as the library takes them."""
    fields: dict[str, Any] = {
        **{name: getattr(args, name) for name in _PLAIN_FIELDS},
        "tags": args.tag,
        "occurred_at": call.when(args.occurred_at),
        "occurred_until": call.when(args.occurred_until, end=True),
        "valid_from": call.when(args.valid_from),
        "valid_until": call.when(args.valid_until, end=True),
        "expires_at": _expiry(call, args),
        "metadata": _metadata(args.metadata),
        "pinned": True if args.pin else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _expiry(call: Call, args: Namespace) -> Any:
    if args.ttl is None:
        return None
    from holdfast.edges.cli.command import span

    return call.now + span(args.ttl)


def _metadata(text: str | None) -> Any:
    if text is None:
        return None
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidInput(
            "The metadata is not a JSON object.", hint="For example: --metadata '{\"ticket\": 12}'"
        )
    return value


def _content(call: Call, words: Sequence[str]) -> str:
    if words:
        return call.read("-", "text") if list(words) == ["-"] else " ".join(words)
    # `echo text | holdfast remember` means what is in the pipe.
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
        # The path is what tells a new version of the file from a new memory.
        place = shared["source_path"] or os.path.abspath(path)
        drafts.append({"content": call.read(path, "a file"), **shared, "source_path": place})
    return drafts


def _outcome(result: Remembered) -> str:
    return type(result).__name__.lower()


def plain_result(result: Remembered, hub: str) -> dict[str, Any]:
    value: dict[str, Any] = {
        "data": plain_memory(result.memory, hub),
        "result": _outcome(result),
        "change": getattr(result, "change", None),
    }
    if (previous := getattr(result, "previous", None)) is not None:
        value["previous"] = plain_memory(previous, hub)
    if (close := getattr(result, "close_to", None)) is not None:
        value["close_to"] = plain_memory(close, hub)
    if (reason := getattr(result, "reason", None)) is not None:
        value["reason"] = reason
    return value


def show_result(call: Call, result: Remembered) -> None:
    from holdfast.domain.results import Duplicate, Quarantined, Superseded, Updated

    memory = result.memory
    if not call.out.terminal:
        row = [call.named(memory), memory.id, memory.title]
        if isinstance(result, Superseded):
            # The row names the new memory, so the word is of it; the one it replaces comes last.
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


def _update_options(parser: Parser) -> None:
    command.add_reference(parser)
    parser.add_argument("content", nargs="*", metavar="WORD", help="new content; - reads it")
    _field_options(parser)
    parser.add_argument("--unpin", action="store_true", help="let it age again")
    parser.add_argument("--clear", action="append", metavar="FIELD", help=_CLEAR)
    parser.add_argument("--expect-version", type=whole, metavar="N", help="refuse if it moved on")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; kept in the history")


_CLEAR = "empty this field: key, session, speaker, occurred-at, valid-from, …; repeatable"


def _update(call: Call, args: Namespace) -> None:
    changes = _fields(call, args)
    if args.unpin:
        changes["pinned"] = False
    if args.content:
        changes["content"] = _content(call, args.content)
    for name in args.clear or ():
        field = name.replace("-", "_")
        changes[field] = () if field == "tags" else None
    if not changes:
        raise InvalidInput(
            "Say what to change.", hint="For example: holdfast update 12 --category fact"
        )
    began = call.now
    memory = call.hub.update(
        args.reference, expected_version=args.expect_version, reason=args.reason, **changes
    )
    _show_changed(call, "updated", [memory], began)
    call.embed_left()


# pin, unpin, archive, forget, restore


def _one_option(parser: Parser) -> None:
    command.add_reference(parser)


def _reasoned_options(parser: Parser) -> None:
    command.add_reference(parser, many=True)
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; kept in the history")


def _pin(call: Call, args: Namespace) -> None:
    began = call.now
    _show_changed(call, "pinned", [call.hub.pin(args.reference)], began)


def _unpin(call: Call, args: Namespace) -> None:
    began = call.now
    _show_changed(call, "unpinned", [call.hub.unpin(args.reference)], began)


def _archive(call: Call, args: Namespace) -> None:
    reason = args.reason or "archived by hand"
    began = call.now
    done = call.hub.archive_many(args.references, reason=reason)
    _show_changed(call, "archived", done, began)


def _forget(call: Call, args: Namespace) -> None:
    began = call.now
    done = call.hub.forget_many(args.references, reason=args.reason)
    _show_changed(call, "forgotten", done, began)
    kept = ""
    if not call.server:
        days = call.local.core.settings["forget.keep_days"]
        kept = f" It is kept for {days} days at least."
    call.out.note(f"To undo: `holdfast restore {named(done)}`, or `holdfast undo`.{kept}")


def _restore(call: Call, args: Namespace) -> None:
    began = call.now
    done = call.hub.restore_many(args.references, reason=args.reason)
    _show_changed(call, "restored", done, began)


# What is said of a memory that was so already.
_ALREADY = {
    "pinned": "was pinned already",
    "unpinned": "was not pinned",
    "archived": "was archived already",
    "restored": "was neither forgotten nor archived nor held for review",
    "updated": "was like this already",
}


def _show_changed(call: Call, word: str, memories: list[Memory], began: datetime) -> None:
    """What was done since `began`; what is older was not changed by it."""
    unchanged = [memory.number for memory in memories if memory.updated_at < began]
    if call.out.json:
        plain = [plain_memory(memory, call.hub.name) for memory in memories]
        call.out.value(plain, result=word, unchanged=unchanged)
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


# purge


def _purge_options(parser: Parser) -> None:
    help_ = "the memory: its number (12), its id (mem_…) or its key"
    parser.add_argument("references", nargs="*", metavar="REF", help=help_)
    parser.add_argument(
        "--forgotten",
        action="store_true",
        help="what was forgotten longer than forget.keep_days ago",
    )
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; kept in the receipt")
    command.add_yes(parser)


def _purge(call: Call, args: Namespace) -> None:
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
        receipts = hub.purge_forgotten(reason=args.reason)
    else:
        if not args.yes:
            which = _named(call, args.references)
            call.confirm(f"Remove {which} and the whole history, for good?")
        receipts = hub.purge_many(args.references, reason=args.reason)
    if call.out.json:
        call.out.value([plain_receipt(one) for one in receipts], result="purged")
        return
    for receipt in receipts:
        if call.out.terminal:
            revisions = counted(receipt.revisions, "revision")
            call.out.line(f"Purged #{receipt.number}, {revisions}.")
        else:
            call.out.row("purged", f"#{receipt.number}", receipt.memory_id, str(receipt.revisions))
    if not receipts:
        call.out.note("There was nothing to purge.")


def _named(call: Call, references: Sequence[str]) -> str:
    """The memories as a person knows them, forgotten ones too."""
    found = [call.hub.find(one) for one in references]
    return ", ".join(f"#{one.number} “{short(one.title, _TITLE_CHARS)}”" for one in found)


# In a question: enough of the title to know what goes.
_TITLE_CHARS = 60

_CHANGED = "In a pipe, a line per memory: what was done, number, id, title."

COMMANDS = (
    Command(
        "remember",
        "Keep a piece of knowledge.",
        'holdfast remember "Prefers tabs over spaces" --category preference --tag editor',
        _remember_options,
        _remember,
        "What is not given is picked by rules. The same key, or the same file, makes a new version;"
        "\nthe same content is not stored twice.\n"
        "In a pipe, a line per memory: stored, updated, duplicate, superseded or quarantined;\n"
        "then number, id, title.",
        server="works",
        makes_hub=True,
    ),
    Command(
        "update",
        "Change a memory; its old version stays in the history.",
        'holdfast update 12 "Prefers spaces" --category preference --expect-version 1',
        _update_options,
        _update,
        _CHANGED,
        server="works",
    ),
    Command(
        "pin",
        "Keep a memory from ageing, and let it rank a little higher.",
        "holdfast pin 12",
        _one_option,
        _pin,
        _CHANGED,
        server="works",
    ),
    Command(
        "unpin",
        "Let a pinned memory age again.",
        "holdfast unpin 12",
        _one_option,
        _unpin,
        _CHANGED,
        server="works",
    ),
    Command(
        "archive",
        "Hide memories from recall and lists, and keep them.",
        'holdfast archive 12 13 --reason "project ended"',
        _reasoned_options,
        _archive,
        _CHANGED,
        server="works",
    ),
    Command(
        "forget",
        "Hide memories everywhere; restore or undo brings them back.",
        'holdfast forget 12 --reason "wrong"',
        _reasoned_options,
        _forget,
        _CHANGED,
        server="works",
    ),
    Command(
        "restore",
        "Bring back what was forgotten, archived or held for review.",
        "holdfast restore 12",
        _reasoned_options,
        _restore,
        _CHANGED,
        server="works",
    ),
    Command(
        "purge",
        "Remove memories and their history for good; only a receipt stays.",
        "holdfast purge 12 --yes",
        _purge_options,
        _purge,
        "In a pipe, a line per memory: purged, number, id, how many revisions went.",
        server="works",
    ),
)
