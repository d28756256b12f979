"""`holdfast doctor`: prints what `api.checkup` found and repaired, and recent errors of hooks and
of the proxy."""

from __future__ import annotations

import os
import time
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from holdfast.api.checkup import Findings, check_up, embedding_model, problems_in_words
from holdfast.domain.clock import from_text
from holdfast.edges.cli.command import Commands, Namespace, switch
from holdfast.edges.cli.output import counted
from holdfast.errors import StoreDamaged

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()


_ABOUT_DAMAGE = "What is left can be brought back by a backup alone: `holdfast restore-backup`."
_BEFORE_REPAIR = (
    "`holdfast doctor --fix` repairs damaged rows where that can be proven, sets aside the others,"
    " and keeps the damaged file. `holdfast restore-backup` brings back a backup."
)
_LEFT = (
    "The file was left as it is. `holdfast restore-backup FILE` brings back a backup"
    " and keeps this one beside it."
)
_UNOPENED = (
    "`holdfast doctor --fix` saves what can still be read, and keeps this file beside it."
    " `holdfast restore-backup FILE` brings back a backup."
)


@COMMANDS.add("doctor", "holdfast doctor --fix", switch("--fix", "mend what can be mended"))
def _doctor(call: Call, args: Namespace) -> int:
    """Check that everything is as it should be.

    --fix rebuilds what can be derived, makes missing vectors, closes files to others, and
    repairs damaged rows; rows that cannot be repaired are moved to a file, and a copy of
    the damaged store is kept. The exit code is 6 if a problem remains.
    In a pipe, a line per finding: what, value."""
    saved: list[str] = []
    if args.fix:
        _end_hook_process(call.home)
    try:
        # Opening the store is the first check.
        call.local.core.now()
    except StoreDamaged as error:
        saved = _rescued(call) if args.fix else []
        if not saved:
            call.out.notes(hook_faults(call))
            # The usual hint is to run the doctor.
            raise StoreDamaged(error.message, hint=_LEFT if args.fix else _UNOPENED) from None
    found = _examined(call, fix=args.fix)
    found = found._replace(mended=[*saved, *found.mended])
    if call.out.json:
        call.out.value(_plain(found))
    else:
        _show_facts(call, found)
        _show_findings(call, found)
        call.out.notes(found.notes)
    return 0 if found.healthy else StoreDamaged.exit_code


# How long the process that answers hooks may take to end.
_ENDING_S = 10.0


def _end_hook_process(home: str) -> None:
    """Ends the process that answers hooks, and waits until it has ended: it keeps the store open,
    which is then not repaired. The next hook starts it again."""
    from holdfast.edges.hooks import front
    from holdfast.edges.local_socket import is_one_there

    until = time.monotonic() + _ENDING_S
    with suppress(TimeoutError):
        if front.ask(home, [front.SHUT_DOWN, "", "", ""], b"") != front.PONG:
            return
        # Its socket is gone before it has closed the store.
        while is_one_there(os.path.join(home, front.FOLDER)) and time.monotonic() < until:
            time.sleep(0.05)


def _rescued(call: Call) -> list[str]:
    """Saves what can be read of a store that cannot be opened; says what was done. Nothing, if
    nothing can be saved."""
    from holdfast.engine.upkeep.doctor import rescued_in_words
    from holdfast.wiring import store_file
    from holdfast.wiring.copies import rescue_file

    path = store_file(call.home, call.settings)
    if not path:
        return []
    try:
        return rescued_in_words(rescue_file(path))
    except StoreDamaged:
        return []


def _examined(call: Call, *, fix: bool) -> Findings:
    model = embedding_model(call.local)
    if model["problem"]:
        call.do_without_model()
    with call.out.progress("mend") if fix else nullcontext() as step:
        found = check_up(call.local, model, repair=fix, progress=step)
    return found._replace(notes=[*found.notes, *hook_faults(call)])


# As many as can be read at a glance.
_FAULTS_SHOWN = 5


def hook_faults(call: Call) -> list[str]:
    """Recent errors in the hooks of agents and in the proxy, newest last; those sessions went on
    without memory."""
    from holdfast.edges.hooks.state_files import SHOWN_DAYS, recent_errors

    found = recent_errors(call.home)
    if not found:
        return []
    notes = [
        f"The proxy went on without memory ({one.at}): {one.reason}"
        if one.event == "proxy"
        else f"A hook failed ({one.event}, {one.at}): {one.reason}"
        for one in found
    ]
    if len(notes) > _FAULTS_SHOWN:
        count = (
            f"Hooks and the proxy failed {len(notes)} times in the last {SHOWN_DAYS} days;"
            " the last of them:"
        )
        return [count, *notes[-_FAULTS_SHOWN:]]
    return notes


def _plain(found: Findings) -> dict[str, Any]:
    return {
        "healthy": found.healthy,
        "facts": found.facts,
        "model": found.model,
        "language_models": found.language,
        "model_servers": found.servers,
        "problems": found.diagnosis.found,
        "mended": found.mended,
        "left": found.diagnosis.left,
        "open_to_others": found.open_to_others,
        "files": found.files,
        "passages_without_vectors": found.diagnosis.unembedded,
        "notes": found.notes,
    }


def _lifecycle(call: Call, facts: dict[str, Any]) -> str:
    runs = [
        f"{'not yet' if at is None else call.out.time(from_text(at))} ({hub})"
        for hub, at in facts["last_runs"].items()
    ]
    mode = "automatic" if facts["automatic"] else "only by hand"
    return f"{mode}; last run: {', '.join(runs)}" if runs else mode


def _show_facts(call: Call, found: Findings) -> None:
    facts, model = found.facts, found.model
    sizes = ", ".join(f"{name} {size:,} bytes" for name, size in facts["bytes"].items())
    rows = [
        ("holdfast", facts["holdfast"]),
        ("python", facts["python"]),
        ("sqlite", facts["sqlite"]),
        ("home", f"{facts['home']} ({facts['home_mode']})"),
        # For a file its mode, for a database its server.
        ("store", facts["store"] + (f" ({facts['store_mode']})" if facts["store_mode"] else "")),
        *([("size", sizes)] if sizes else []),
        ("hubs", "unknown" if facts["hubs"] is None else str(facts["hubs"])),
        ("lifecycle", _lifecycle(call, facts["lifecycle"])),
        ("model", model["name"] or f"none. {model['note'] or 'See below.'}"),
    ]
    if model["name"]:
        rows.append(("without vectors", counted(found.diagnosis.unembedded, "passage")))
    rows += found.language.items()
    rows += [
        ("model server", f"{url} answers" if not why else f"{url} does not answer: {why}")
        for url, why in found.servers.items()
    ]
    for name, value in rows:
        if call.out.terminal:
            call.out.parts((f"{name}: ", "dim"), (value, ""))
        else:
            call.out.row(name, value)


def _show_findings(call: Call, found: Findings) -> None:
    def show(word: str, text: str, style: str) -> None:
        if call.out.terminal:
            call.out.parts((word, style), (f": {text}", ""))
        else:
            call.out.row(word, text)

    for text in found.mended:
        show("mended", text, "green")
    for word, text in problems_in_words(call.local, found):
        show(word, text, "red")
    problems = found.diagnosis.left
    if found.diagnosis.unembedded:
        call.out.note("`holdfast embed` makes the vectors that are missing.")
    if found.healthy:
        show("healthy", "all is as it should be", "bold green")
    elif any(not problem.derived and not problem.outside for problem in problems):
        call.out.note(_ABOUT_DAMAGE if call.args.fix else _BEFORE_REPAIR)
    elif not call.args.fix and (
        found.open_to_others or found.files or any(not problem.outside for problem in problems)
    ):
        call.out.note("`holdfast doctor --fix` mends what can be mended, and loses nothing.")
