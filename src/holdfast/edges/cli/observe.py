"""Memory that fills itself: observe, flush, captured."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from holdfast.domain.results import MODES
from holdfast.edges.cli import command
from holdfast.edges.cli.command import Command, Namespace, Parser, whole
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.domain.results import CapturedDay, Flushed, Noted, Observed
    from holdfast.edges.cli.call import Call

_FIELDS = ("user", "assistant", "mode", "session", "source", "at")


# observe


def _observe_options(parser: Parser) -> None:
    parser.add_argument("--user", default="", metavar="TEXT", help="what the user said")
    parser.add_argument("--assistant", default="", metavar="TEXT", help="what was answered")
    parser.add_argument("--from", dest="file", metavar="FILE", help="turns as JSON lines; - reads")
    parser.add_argument("--mode", default="current", metavar="MODE", help=", ".join(MODES))
    parser.add_argument("--source", default="unknown", metavar="NAME", help="where: telegram, tui")
    parser.add_argument("--session", metavar="NAME", help="the conversation it belongs to")
    parser.add_argument("--at", metavar="WHEN", help=f"when: {command.WHEN}")
    help_ = "start a process that notes it, where no server does"
    parser.add_argument("--work", action="store_true", help=help_)


def _observe(call: Call, args: Namespace) -> None:
    turns = list(_lines(call, args)) if args.file else [_turn(call, args)]
    if not call.server:
        # This process ends at once; the turn waits for a worker.
        call.local.core.set_worked(True)
    seen = [call.hub.observe_turn(**turn) for turn in turns]
    if args.work and not call.server and any(one.queued for one in seen):
        _start_work(call)
    if call.out.json:
        plain = [_plain_observed(one) for one in seen]
        call.out.value(plain if args.file else plain[0])
        return
    for one in seen:
        if not call.out.terminal:
            ids = " ".join(turn.id for turn in one.turns)
            word = "queued" if one.queued else "logged" if one.turns else "skipped"
            call.out.row(word, ids, one.reason)
        elif one.queued:
            call.out.line("Logged, and queued for the journal.", "green")
        else:
            call.out.line(f"{'Logged' if one.turns else 'Skipped'}: {one.reason}.")
    _tell_switch(call, seen)
    if left := sum(one.dropped for one in seen):
        call.out.note(f"{_counted(left, 'older turn')} left the queue unread: it was full.")


def _tell_switch(call: Call, seen: list[Observed]) -> None:
    """Says how turns come to be noted; on a server that is for who runs it to switch."""
    if call.server:
        return
    from holdfast.engine.observe import SWITCHED_OFF

    if any(one.reason == SWITCHED_OFF for one in seen):
        call.out.note("To have turns noted: `holdfast config set shadowJournal.enabled true`.")


def _turn(call: Call, args: Namespace) -> dict[str, Any]:
    given = {name: getattr(args, name) for name in _FIELDS}
    # Where it is set aside, nothing is logged; of this machine a server knows nothing.
    return given | {"at": call.when(args.at), "folder": None if call.server else os.getcwd()}


def _lines(call: Call, args: Namespace) -> Any:
    """A turn for each line; what a line does not say, the options say for all."""
    import json

    common = _turn(call, args)
    for number, line in enumerate(call.read(args.file, "turns").splitlines(), 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict) or not set(given) <= set(_FIELDS):
            raise InvalidInput(
                f"Line {number} is not a turn.",
                hint='For example: {"user": "I moved to Lisbon", "assistant": "Nice."}',
            )
        yield {**common, **given}


def _start_work(call: Call) -> None:
    """A process of its own that does what waits and ends; nobody waits for it."""
    import subprocess

    words = [sys.executable, "-m", "holdfast", "--home", call.home, "--quiet", "work"]
    subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _plain_observed(seen: Observed) -> dict[str, Any]:
    ids = [turn.id for turn in seen.turns]
    return {"queued": seen.queued, "reason": seen.reason, "turns": ids, "dropped": seen.dropped}


# flush


def _flush_options(parser: Parser) -> None:
    help_ = "a conversation instead of the log: JSON or a transcript; - reads it"
    parser.add_argument("--from", dest="file", metavar="FILE", help=help_)
    parser.add_argument("--session", metavar="NAME", help="turns of this session only")


def _flush(call: Call, args: Namespace) -> None:
    given = _conversation(call.read(args.file, "a conversation")) if args.file else None
    done = call.hub.flush(given, session=args.session)
    if call.out.json:
        call.out.value({**done._asdict(), "noted": [one._asdict() for one in done.noted]})
        return
    call.out.line(done.prompt)
    call.out.note(_summary(done))
    if done.note:
        call.out.note(done.note)


def _conversation(text: str) -> list[Any] | str:
    """A list of messages, a message a line, or a transcript as it is."""
    import json

    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return text


def _summary(done: Flushed) -> str:
    kept = [one for one in done.noted if one.outcome in ("stored", "superseded")]
    known = sum(one.outcome == "mentioned" for one in done.noted)
    summary = f"{_counted(done.turns, 'turn')} looked at, {_counted(len(kept), 'fact')} captured"
    return f"{summary}, {known} known." if known else f"{summary}."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


# captured


def _captured_options(parser: Parser) -> None:
    parser.add_argument("--days", type=whole, default=7, metavar="N", help="how many days (7)")


def _captured(call: Call, args: Namespace) -> None:
    days = call.hub.captured(days=args.days)
    if call.out.json:
        call.out.value([_plain_day(call, day) for day in days])
        return
    rows = [
        (day.day, outcome, str(count), _why(day, outcome))
        for day in days
        for outcome, count in sorted(day.outcomes.items())
    ]
    if not rows:
        call.out.note("Nothing was captured, or left out, in that time.")
        return
    call.out.table(("day", "outcome", "times", "why"), rows)
    if call.out.terminal:
        for at, one in days[0].last[-5:]:
            call.out.line(f"{call.out.time(at)}  {_line(one)}")


def _why(day: CapturedDay, outcome: str) -> str:
    found = [(count, why) for why, count in day.reasons_of(outcome).items()]
    return ", ".join(f"{why} ({count})" for count, why in sorted(found, reverse=True))


def _line(one: Noted) -> str:
    return f"{one.outcome}: “{one.text}”" + (f" ({one.reason})" if one.reason else "")


def _plain_day(call: Call, day: CapturedDay) -> dict[str, Any]:
    last = [{"at": at.isoformat(), **one._asdict()} for at, one in day.last]
    return {**day._asdict(), "last": last}


COMMANDS = (
    Command(
        "observe",
        "Show memory a turn: it is logged, and noted in the journal where that is switched on.",
        'holdfast observe --user "I moved to Lisbon" --assistant "Nice." --session s1',
        _observe_options,
        _observe,
        "With shadowJournal.enabled it is put into a queue; a server, `holdfast work` or --work\n"
        "does the rest, off the path of the reply. Turns of the modes cron, heartbeat and\n"
        "consolidation are only logged. --from - reads JSON lines with the fields user,\n"
        "assistant, mode, session, source and at.\n"
        "In a pipe: queued, logged or skipped, ids, why.",
        server="works",
        makes_hub=True,
    ),
    Command(
        "flush",
        "Before a compaction: print the prompt for the agent, and capture what can be.",
        "holdfast flush --session s1",
        _flush_options,
        _flush,
        "What users said in the log and nobody has looked at yet is captured by rules; a second\n"
        "run captures nothing new. The log does not say who said what: where others use the hub\n"
        "too, only a conversation given with --from is looked at, at most its newest 200 turns of\n"
        "users. The prompt asks the agent to save the rest.",
        server="works",
    ),
    Command(
        "captured",
        "What automatic memory took in, left out, and why, by day.",
        "holdfast captured --days 1",
        _captured_options,
        _captured,
        "Outcomes: queued, stored, mentioned (known already), superseded, held (for review),\n"
        "dropped (the turn does not say so), nothing, left out (the queue was full), failed.\n"
        "In a pipe, a line each: day, outcome, times, why.",
        server="works",
    ),
)
