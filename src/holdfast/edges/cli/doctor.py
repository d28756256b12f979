"""`holdfast doctor`: checks the store, its files and the models, repairs with --fix, and lists the
remaining problems. Problems in rows are found by `engine.upkeep.doctor`, the others here.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import from_text
from holdfast.edges.cli.command import Commands, Namespace, switch
from holdfast.edges.cli.output import counted
from holdfast.errors import EmbedderError, InvalidSetting, StoreDamaged
from holdfast.store.values import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.edges.cli.call import Call
    from holdfast.engine.upkeep.doctor import Diagnosis

COMMANDS = Commands()


_PARTS = (("database", ""), ("log", "-wal"))
# A server may have thousands of hubs.
_HUBS_SHOWN = 5


def installation_facts(call: Call) -> dict[str, Any]:
    """The facts about an installation that a bug report needs first."""
    import platform

    import apsw

    from holdfast import __version__
    from holdfast.wiring import without_password

    path = _store_path(call)
    sizes = {name: _size(path + suffix) for name, suffix in _PARTS} if path else {}
    server = ""
    if about := getattr(call.local.core.store, "about", None):
        server, found = about()
        sizes |= found
    return {
        "holdfast": __version__,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "home": call.local.home,
        "home_mode": _mode(call.local.home),
        "store": path or without_password(call.local.core.settings["store.url"]),
        "store_mode": _mode(path) if path else server,
        "bytes": sizes,
        "hubs": _hub_count(call),
        "lifecycle": _lifecycle_facts(call),
    }


def _hub_count(call: Call) -> int | None:
    """The number of hubs; None if their rows cannot be read."""
    try:
        return len(call.memory.hubs())
    except StoreDamaged:
        return None


def _lifecycle_facts(call: Call) -> dict[str, Any]:
    """Whether the lifecycle runs automatically, and when it last ran in the first few hubs."""
    from holdfast.domain.clock import to_text
    from holdfast.engine.upkeep.automatic import last_run

    core = call.local.core
    runs: dict[str, str | None] = {}
    # The doctor's findings report what is damaged.
    with suppress(StoreDamaged), core.store.read() as reader:
        for hub in call.memory.hubs()[:_HUBS_SHOWN]:
            run = last_run(reader, hub.id)
            runs[hub.name] = None if run is None else to_text(run.at)
    return {"automatic": core.settings["lifecycle.automatic"], "last_runs": runs}


def _store_path(call: Call) -> str:
    """The path of the store's file; '' if the store has none."""
    path: str = getattr(call.local.core.store, "path", "")
    return path


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _mode(path: str) -> str:
    return f"{stat.S_IMODE(os.stat(path).st_mode):04o}" if os.path.exists(path) else ""


def _private_files(call: Call) -> list[tuple[str, int]]:
    """The files that only their owner may open, with their proper modes. None on Windows, where
    access depends on the folder of the user's profile and not on a file's mode."""
    if sys.platform == "win32":
        return []
    path = _store_path(call)
    files = [(path + suffix, 0o600) for suffix in ("", "-wal", "-shm")] if path else []
    there = [(name, mode) for name, mode in files if os.path.exists(name)]
    return [(call.local.home, 0o700), *there] if os.path.isdir(call.local.home) else there


def open_to_others(call: Call) -> list[str]:
    """Files and folders that anyone except their owner can open."""
    return [path for path, _ in _private_files(call) if stat.S_IMODE(os.stat(path).st_mode) & 0o077]


def close_to_others(call: Call) -> list[str]:
    """Sets the modes of those files; returns what was done."""
    mended = []
    wanted = dict(_private_files(call))
    for path in open_to_others(call):
        os.chmod(path, wanted[path])
        mended.append(f"closed {path} to others")
    return mended


def attachment_problems(call: Call) -> list[str]:
    """Attachments without their file, and files that belong to no memory."""
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()]
    return [f"hub {hub.name}: {note}" for hub in hubs for note in hub.attachments.check()]


def leftover_problems(call: Call) -> list[str]:
    """Incomplete copies of the store that were left by killed processes."""
    from holdfast.wiring.copies import find_leftovers

    found = find_leftovers(call.local.core.store, _beside_store(call), call.local.home)
    problems = [f"a copy that was broken off left {path}" for path in found.abandoned]
    return problems + [
        f"a restore was broken off, and {path} is needed to finish it: run"
        " `holdfast restore-backup` again with the same backup"
        for path in found.needed
    ]


def remove_leftovers(call: Call) -> list[str]:
    """Removes those leftovers that are not needed; returns what was done."""
    from holdfast.wiring.copies import remove_leftovers as remove

    removed = remove(call.local.core.store, _beside_store(call), call.local.home)
    return [f"removed {path}, which a copy that was broken off had left" for path in removed]


def _beside_store(call: Call) -> str:
    """The path beside which copies of the store are made."""
    from holdfast.wiring import DATABASE

    return _store_path(call) or os.path.join(call.local.home, DATABASE)


def files_left_alone(call: Call) -> list[str]:
    """The hubs with files in this home that are ignored, and why."""
    from holdfast.engine.core import Scope
    from holdfast.files import hub_path
    from holdfast.files.hub_folder import other_place_note, refusal_of_foreign_files

    folders = [(hub, hub_path(call.local.home, hub.name)) for hub in call.memory.hubs()]
    reasons = [
        refusal_of_foreign_files(hub.id, hub.name, folder)
        or other_place_note(Scope(call.local.core, hub.id, hub.name), folder)
        for hub, folder in folders
        if os.path.isdir(folder)
    ]
    return [f"{why} `holdfast sync --confirm` takes the folder over." for why in reasons if why]


def sweep_attachments(call: Call) -> list[str]:
    """Removes files of attachments that crashes left behind; returns what was done."""
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()]
    counts = [(hub.name, hub.attachments.sweep()) for hub in hubs]
    return [
        f"removed {count} files that crashes left in hub {name}" for name, count in counts if count
    ]


def embedding_model(call: Call) -> dict[str, str]:
    """The name of the embedding model, or a note or problem that says why there is none."""
    from holdfast.embed.providers import MISSING_MODEL

    try:
        embedder = call.local.core.embedder
    except (EmbedderError, InvalidSetting) as error:
        return {"name": "", "note": "", "problem": str(error)}
    if embedder is None:
        chosen = call.local.core.settings["embed.model"]
        note = "It is turned off (embed.model is none)." if chosen == "none" else MISSING_MODEL
        return {"name": "", "note": note, "problem": ""}
    return {"name": embedder.identity, "note": "", "problem": ""}


def language_models(call: Call) -> tuple[dict[str, str], list[str]]:
    """The language model of each setting that names one and whether its key is there, and the
    problems of those that cannot be used."""
    from holdfast.llm import describe
    from holdfast.settings import SETTINGS

    settings = call.local.core.settings
    named, service = settings["llm.key_variable"], settings["llm.model"]
    described, wrong = {}, []
    for setting in SETTINGS:
        if not setting.name.endswith(".model") or setting.name == "embed.model":
            continue
        if setting.name != "llm.model" and not settings[setting.name]:
            # The pass uses `llm.model`.
            continue
        try:
            described[setting.name] = describe(
                settings[setting.name], named, os.environ, inherit=service
            )
        except InvalidSetting as error:
            described[setting.name] = "none. See below."
            wrong.append(f"{setting.name}: {error}")
    return described, wrong


def model_servers(call: Call) -> dict[str, str]:
    """The model servers in the settings: '' for each that answers, else the reason why not.
    Providers at their default addresses are not contacted."""
    from holdfast.llm import parse
    from holdfast.settings import SETTINGS

    settings = call.local.core.settings
    found = []
    for setting in SETTINGS:
        if setting.name.endswith(".model") and setting.name != "embed.model":
            # `language_models` reports one that cannot be parsed.
            with suppress(InvalidSetting):
                spec = parse(settings[setting.name], inherit=settings["llm.model"])
                own = spec is not None and spec.url and (spec.is_local or not spec.provider)
                found += [spec.url] if spec is not None and own else []
    if not found:
        return {}
    from holdfast.llm.endpoint import answering

    return answering(found)


_ABOUT_DAMAGE = "What is left can be brought back by a backup alone: `holdfast restore-backup`."
_BEFORE_REPAIR = (
    "`holdfast doctor --fix` repairs damaged rows where that can be proven, sets aside the others,"
    " and keeps the damaged file. `holdfast restore-backup` brings back a backup."
)


class _Findings(NamedTuple):
    """What was checked, what was repaired, and the remaining problems: in the store, the modes of
    its files, attachments, and the settings of language models. A model server that does not answer
    is reported, but is not a problem of the installation."""

    facts: dict[str, Any]
    model: dict[str, str]
    language: dict[str, str]
    servers: dict[str, str]
    diagnosis: Diagnosis
    mended: list[str]
    open_to_others: list[str]
    files: list[str]
    unknown_models: list[str]
    notes: list[str]

    @property
    def healthy(self) -> bool:
        wrong = self.diagnosis.left or self.open_to_others or self.files or self.unknown_models
        return not (wrong or self.model["problem"])


@COMMANDS.add("doctor", "holdfast doctor --fix", switch("--fix", "mend what can be mended"))
def _doctor(call: Call, args: Namespace) -> int:
    """Check that everything is as it should be.

    --fix rebuilds what can be derived, makes missing vectors, closes files to others, and
    repairs damaged rows; rows that cannot be repaired are moved to a file, and a copy of
    the damaged store is kept. The exit code is 6 if a problem remains.
    In a pipe, a line per finding: what, value."""
    try:
        # Opening the store is the first check.
        call.local.core.now()
    except StoreDamaged as error:
        call.out.notes(hook_faults(call))
        # The usual hint is to run the doctor.
        raise StoreDamaged(
            error.message,
            hint="The file was left as it is. `holdfast restore-backup FILE` brings back a backup"
            " and keeps this one beside it.",
        ) from None
    found = _examined(call, fix=args.fix)
    if call.out.json:
        call.out.value(_plain(found))
    else:
        _show_facts(call, found)
        _show_findings(call, found)
        call.out.notes(found.notes)
    return 0 if found.healthy else StoreDamaged.exit_code


def _examined(call: Call, *, fix: bool) -> _Findings:
    from holdfast.engine.upkeep.doctor import examine, mend

    model = embedding_model(call)
    if model["problem"]:
        call.do_without_model()
    core = call.local.core
    language, unknown = language_models(call)
    mended: list[str] = []
    if fix:
        with call.out.progress("mend") as step:
            diagnosis = mend(core, step)
        mended += diagnosis.mended
        mended += close_to_others(call)
        mended += remove_leftovers(call)
    else:
        diagnosis = examine(core)
    unread: list[str] = []
    if fix:
        mended += _read(sweep_attachments, call, unread)
    files = _read(attachment_problems, call, unread)
    notes = _read(files_left_alone, call, unread)
    facts = installation_facts(call)
    if unread and not diagnosis.left:
        # The store is not healthy while something in it cannot be read.
        diagnosis = diagnosis._replace(left=[Problem(why, False) for why in unread])
    return _Findings(
        facts,
        model,
        language,
        model_servers(call),
        diagnosis,
        mended,
        open_to_others(call),
        [*files, *leftover_problems(call)],
        unknown,
        [*core.store.notes(), *notes, *hook_faults(call)],
    )


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


def _read(act: Callable[[Call], list[str]], call: Call, unread: list[str]) -> list[str]:
    """Reads from a store that may be damaged; on failure, returns nothing and notes why."""
    try:
        return act(call)
    except StoreDamaged as error:
        unread.append(error.message)
        return []


def _plain(found: _Findings) -> dict[str, Any]:
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


def _show_facts(call: Call, found: _Findings) -> None:
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


def _show_findings(call: Call, found: _Findings) -> None:
    def show(word: str, text: str, style: str) -> None:
        if call.out.terminal:
            call.out.parts((word, style), (f": {text}", ""))
        else:
            call.out.row(word, text)

    for text in found.mended:
        show("mended", text, "green")
    for word, text in _remaining_problems(call, found):
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


def _remaining_problems(call: Call, found: _Findings) -> list[tuple[str, str]]:
    """Every remaining problem: its kind, and a sentence."""
    left = _sentences(call, found.diagnosis.left)
    left += [("problem", f"others can open {path}") for path in found.open_to_others]
    left += [("problem", note) for note in found.files]
    if found.model["problem"]:
        left.append(("problem", found.model["problem"]))
    return left + [("problem", said) for said in found.unknown_models]


def _sentences(call: Call, problems: list[Problem]) -> list[tuple[str, str]]:
    """The problems as sentences, without repetition, with the hub if there are several."""
    try:
        names = {hub.id: hub.name for hub in call.memory.hubs()}
    except StoreDamaged:
        names = {}
    counts: dict[tuple[str, str], int] = {}
    for problem in problems:
        hub = names.get(problem.hub_id, "") if len(names) > 1 else ""
        unnamed = hub and f"hub {hub}" not in problem.what
        said = f"hub {hub}: {problem.what}" if unnamed else problem.what
        finding = ("problem" if problem.derived or problem.outside else "damage", said)
        counts[finding] = counts.get(finding, 0) + 1
    return [
        (word, said if count == 1 else f"{said} ({count} times)")
        for (word, said), count in counts.items()
    ]
