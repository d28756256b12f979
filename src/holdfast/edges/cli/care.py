"""Care: lifecycle, stats, doctor, embed, backup, restore-backup."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_text
from holdfast.edges.cli import options
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted
from holdfast.edges.cli.plain import plain_memory
from holdfast.errors import EmbedderError, InvalidSetting, StoreDamaged

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.engine.repair import Diagnosis
    from holdfast.store.values import Problem


def _no_options(parser: Parser) -> None:
    """None of its own."""


# lifecycle


def _lifecycle_options(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only say what would move and why")


def _lifecycle(call: Call, args: Namespace) -> None:
    moves = call.hub.lifecycle(dry_run=args.dry_run)
    if call.out.json:
        call.out.value(
            {
                "dry_run": args.dry_run,
                "moves": [
                    {"memory": plain_memory(move.memory, call.hub.name)}
                    | {"to": move.to, "reason": move.reason}
                    for move in moves
                ],
            }
        )
        return
    rows = [(f"#{move.memory.number}", move.to, move.reason, move.memory.title) for move in moves]
    if rows:
        call.out.table(("#", "to", "why", "title"), rows)
    if not rows:
        call.out.note("Nothing is due.")
    elif args.dry_run:
        call.out.note("This was a dry run: nothing has moved.")
    else:
        call.out.note("To take it back: `holdfast undo`.")


# stats


def _stats(call: Call, args: Namespace) -> None:
    found = call.hub.statistics()
    plain = found._asdict() | {
        "oldest": None if found.oldest is None else to_text(found.oldest),
        "newest": None if found.newest is None else to_text(found.newest),
    }
    if call.out.json:
        call.out.value(plain)
        return
    rows = []
    for name, value in found._asdict().items():
        if isinstance(value, dict):
            rows += [
                (f"{name.removeprefix('by_')} {key}", str(value[key])) for key in sorted(value)
            ]
        elif name in ("oldest", "newest"):
            rows.append((name, call.out.time(value)))
        else:
            rows.append((name.replace("_", " "), str(value)))
    call.out.table(("what", "how many"), rows)


# doctor


def _doctor_options(parser: Parser) -> None:
    parser.add_argument("--fix", action="store_true", help="mend what can be mended")


def _doctor(call: Call, args: Namespace) -> int:
    from holdfast.engine.repair import examine, mend

    try:
        # Opening it is the first examination.
        call.memory.core.now()
    except StoreDamaged as error:
        # The usual hint is to call the doctor.
        raise StoreDamaged(
            error.message,
            hint="The file was left as it is. `holdfast restore-backup FILE` brings back a backup"
            " and keeps this one beside it.",
        ) from None
    model = _model(call)
    if model["problem"]:
        call.do_without_model()
    core = call.memory.core
    language, unknown = _language_models(call)
    facts = _facts(call)
    if args.fix:
        with call.out.progress("mend") as step:
            diagnosis = mend(core, step)
        mended = diagnosis.mended + _close_to_others(call) + _swept(call)
    else:
        diagnosis, mended = examine(core), []
    open_to_others = _open_to_others(call)
    files = _attachments(call)
    notes = core.store.notes()
    healthy = not (diagnosis.left or open_to_others or files or model["problem"] or unknown)
    if call.out.json:
        call.out.value(
            {
                "healthy": healthy,
                "facts": facts,
                "model": model,
                "language_models": language,
                "problems": [problem._asdict() for problem in diagnosis.found],
                "mended": mended,
                "left": [problem._asdict() for problem in diagnosis.left],
                "open_to_others": open_to_others,
                "files": files,
                "passages_without_vectors": diagnosis.unembedded,
                "notes": notes,
            }
        )
        return 0 if healthy else StoreDamaged.exit_code
    _show_facts(call, facts, model, language, diagnosis)
    left = _sentences(call, diagnosis.left)
    left += [("problem", f"others can open {path}") for path in open_to_others]
    left += [("problem", note) for note in files]
    if model["problem"]:
        left.append(("problem", model["problem"]))
    left += [("problem", said) for said in unknown]
    inside = [problem for problem in diagnosis.left if not problem.outside]
    fixable = bool(inside or open_to_others or files)
    _show_findings(call, diagnosis, mended, left, fixable=fixable)
    for note in notes:
        call.out.note(note)
    return 0 if healthy else StoreDamaged.exit_code


def _facts(call: Call) -> dict[str, Any]:
    import platform

    import apsw

    from holdfast import __version__
    from holdfast.wiring import without_password

    path = _store_path(call)
    sizes = {name: _size(path + suffix) for name, suffix in _PARTS} if path else {}
    server = ""
    if about := getattr(call.memory.core.store, "about", None):
        server, sizes["database"] = about()
    return {
        "holdfast": __version__,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "home": call.memory.home,
        "home_mode": _mode(call.memory.home),
        "store": path or without_password(call.memory.core.settings["store.url"]),
        "store_mode": _mode(path) if path else server,
        "bytes": sizes,
        "hubs": len(call.memory.hubs()),
    }


_PARTS = (("database", ""), ("log", "-wal"))


def _store_path(call: Call) -> str:
    """The store's file; '' for a store that has none."""
    path: str = getattr(call.memory.core.store, "path", "")
    return path


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _mode(path: str) -> str:
    return f"{stat.S_IMODE(os.stat(path).st_mode):04o}" if os.path.exists(path) else ""


def _owned(call: Call) -> list[tuple[str, int]]:
    """What only its owner should be able to open, and the mode it should have."""
    path = _store_path(call)
    files = [(path + suffix, 0o600) for suffix in ("", "-wal", "-shm")] if path else []
    there = [(name, mode) for name, mode in files if os.path.exists(name)]
    return [(call.memory.home, 0o700), *there] if os.path.isdir(call.memory.home) else there


def _open_to_others(call: Call) -> list[str]:
    return [path for path, _ in _owned(call) if stat.S_IMODE(os.stat(path).st_mode) & 0o077]


def _close_to_others(call: Call) -> list[str]:
    mended = []
    wanted = dict(_owned(call))
    for path in _open_to_others(call):
        os.chmod(path, wanted[path])
        mended.append(f"closed {path} to others")
    return mended


def _attachments(call: Call) -> list[str]:
    """Files of memories that are missing, and files that belong to none."""
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()]
    return [f"hub {hub.name}: {note}" for hub in hubs for note in hub.attachments.check()]


def _swept(call: Call) -> list[str]:
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()]
    counts = [(hub.name, hub.attachments.sweep()) for hub in hubs]
    return [
        f"removed {count} files that crashes left in hub {name}" for name, count in counts if count
    ]


def _model(call: Call) -> dict[str, str]:
    from holdfast.embed.find import MISSING_MODEL

    try:
        embedder = call.memory.core.embedder
    except (EmbedderError, InvalidSetting) as error:
        return {"name": "", "note": "", "problem": str(error)}
    if embedder is None:
        chosen = call.memory.core.settings["embed.model"]
        note = "It is turned off (embed.model is none)." if chosen == "none" else MISSING_MODEL
        return {"name": "", "note": note, "problem": ""}
    return {"name": embedder.identity, "note": "", "problem": ""}


def _language_models(call: Call) -> tuple[dict[str, str], list[str]]:
    """The language model of each setting that names one, and whether its key is there; and what
    is wrong with those that cannot be."""
    from holdfast.llm.find import describe
    from holdfast.settings import SETTINGS

    settings = call.memory.core.settings
    named = settings["llm.key_variable"]
    told, wrong = {}, []
    for setting in SETTINGS:
        if not setting.name.endswith(".model") or setting.name == "embed.model":
            continue
        if setting.name != "llm.model" and not settings[setting.name]:
            # The pass uses that of llm.model.
            continue
        try:
            told[setting.name] = describe(settings[setting.name], named, os.environ)
        except InvalidSetting as error:
            told[setting.name] = "none. See below."
            wrong.append(f"{setting.name}: {error}")
    return told, wrong


def _show_facts(
    call: Call,
    facts: dict[str, Any],
    model: dict[str, str],
    language: dict[str, str],
    diagnosis: Diagnosis,
) -> None:
    sizes = ", ".join(f"{name} {size:,} bytes" for name, size in facts["bytes"].items())
    rows = [
        ("holdfast", facts["holdfast"]),
        ("python", facts["python"]),
        ("sqlite", facts["sqlite"]),
        ("home", f"{facts['home']} ({facts['home_mode']})"),
        # Of a file its mode, of a database its server.
        ("store", facts["store"] + (f" ({facts['store_mode']})" if facts["store_mode"] else "")),
        *([("size", sizes)] if sizes else []),
        ("hubs", str(facts["hubs"])),
        ("model", model["name"] or f"none. {model['note'] or 'See below.'}"),
    ]
    if model["name"]:
        rows.append(("without vectors", counted(diagnosis.unembedded, "passage")))
    rows += language.items()
    for name, value in rows:
        if call.out.terminal:
            call.out.parts((f"{name}: ", "dim"), (value, ""))
        else:
            call.out.row(name, value)


def _sentences(call: Call, problems: list[Problem]) -> list[tuple[str, str]]:
    """What is wrong, each sentence once, with the hub where there are several."""
    names = {hub.id: hub.name for hub in call.memory.hubs()}
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


def _show_findings(
    call: Call,
    diagnosis: Diagnosis,
    mended: list[str],
    left: list[tuple[str, str]],
    *,
    fixable: bool,
) -> None:
    def show(word: str, text: str, style: str) -> None:
        if call.out.terminal:
            call.out.parts((word, style), (f": {text}", ""))
        else:
            call.out.row(word, text)

    for text in mended:
        show("mended", text, "green")
    for word, text in left:
        show(word, text, "red")
    if diagnosis.unembedded:
        call.out.note("`holdfast embed` makes the vectors that are missing.")
    if not left:
        show("healthy", "all is as it should be", "bold green")
    elif any(not problem.derived and not problem.outside for problem in diagnosis.left):
        call.out.note("What is damaged, only a backup brings back: `holdfast restore-backup`.")
    elif not call.args.fix and fixable:
        call.out.note("`holdfast doctor --fix` mends this and loses nothing.")


# embed


def _embed(call: Call, args: Namespace) -> None:
    embedder = call.memory.core.embedder
    if embedder is None:
        raise EmbedderError("There is no embedding model.", hint=_model(call)["note"])
    with call.out.progress("embed") as step:
        made = call.memory.embed_missing(step)
    if call.out.json:
        call.out.value({"model": embedder.identity, "passages": made})
    elif call.out.terminal:
        call.out.line(
            f"Made the vectors of {counted(made, 'passage')} with {embedder.identity}.", "green"
        )
    else:
        call.out.row("embedded", str(made), embedder.identity)


# backup


def _backup_options(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a new file, or a folder to put it in")


def _backup(call: Call, args: Namespace) -> None:
    path = args.path
    if os.path.isdir(path):
        path = os.path.join(path, f"holdfast-{call.memory.core.now():%Y%m%dT%H%M%SZ}.db")
    with call.out.progress("backup") as step:
        packed = call.memory.backup(path, progress=step)
    size = os.path.getsize(path)
    if call.out.json:
        files = {"files": packed.files, "files_path": packed.path or None}
        value = {"result": "backed up", "path": path, "bytes": size}
        call.out.value({**value, **files, "files_missing": len(packed.missing)})
    elif call.out.terminal:
        call.out.line(f"Backed up to {path} ({size:,} bytes).", "green")
    else:
        call.out.row("backed up", path, str(size))
    if packed.path:
        call.out.note(f"{counted(packed.files, 'file')} of memories: {packed.path}. Keep both.")
    if packed.missing:
        gone = counted(len(packed.missing), "file")
        call.out.note(f"{gone} of memories could not be read, and the backup is without.")
    call.out.note(f"To bring it back: `holdfast restore-backup {path}`.")


def _restore_options(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="what `holdfast backup` has written")
    options.add_yes(parser)


def _restore(call: Call, args: Namespace) -> None:
    from holdfast.files import attachment_archive as archive
    from holdfast.wiring import (
        check_backup,
        make_home,
        restore_backup,
        restore_into,
        store_file,
        store_url,
        without_password,
    )

    path = store_file(call.home, call.settings)
    place = path or without_password(store_url(call.home, call.settings))
    try:
        check_backup(args.path)
    except StoreDamaged as error:
        # The usual hint is to bring back a backup.
        hint = "Name a file that `holdfast backup` has written; nothing was changed."
        raise StoreDamaged(error.message, hint=hint) from None
    call.confirm(f"Replace everything in {place} with the backup {args.path}?")
    make_home(call.home)
    # Its files are checked before anything is replaced.
    with archive.unpacked_beside(args.path, call.home) as staged:
        with call.out.progress("restore") as step:
            if path:
                kept = restore_backup(path, args.path, step)
            else:
                kept = restore_into(call.memory.core.store, call.home, args.path, step)
        there, missing = archive.put_back(call.memory._attachments(), staged)
    if kept:
        # What only the store knew that was there before: its copy can be brought back with them.
        archive.pack_unheld(kept + archive.BESIDE, call.memory._attachments())
    if call.out.json:
        value = {"result": "restored", "store": place, "safety_copy": kept}
        call.out.value({**value, "files": there, "files_missing": missing})
    elif call.out.terminal:
        call.out.line(f"Restored {place} from {args.path}.", "green")
    else:
        call.out.row("restored", place, kept or "")
    if kept:
        call.out.note(f"What was there before is in {kept}.")
    if missing:
        call.out.note(
            f"{counted(missing, 'file')} of memories: not in the backup, and not on this machine."
        )
    call.embed_left(backlog=True)


COMMANDS = (
    Command(
        "lifecycle",
        "Cool and archive what is due by the rules.",
        "holdfast lifecycle --dry-run",
        _lifecycle_options,
        _lifecycle,
        "In a pipe, a line per memory: number, its new state, why, title.",
    ),
    Command(
        "stats",
        "Count what is in the hub.",
        "holdfast stats",
        _no_options,
        _stats,
        "In a pipe, a line per count: what, how many.",
    ),
    Command(
        "doctor",
        "Check that everything is as it should be.",
        "holdfast doctor --fix",
        _doctor_options,
        _doctor,
        "--fix rebuilds what can be derived, makes missing vectors, and closes files to others;\n"
        "it never changes what you remembered. Ends with 6 where a problem is left.\n"
        "In a pipe, a line per finding: what, value.",
    ),
    Command(
        "embed",
        "Make the vectors that are missing; go on where it was broken off.",
        "holdfast embed",
        _no_options,
        _embed,
        "In a pipe: embedded, how many passages, the model.",
    ),
    Command(
        "backup",
        "Copy the whole store to a file, while others read and write.",
        "holdfast backup ~/holdfast.db",
        _backup_options,
        _backup,
    ),
    Command(
        "restore-backup",
        "Bring back a backup; what is there now is kept beside it.",
        "holdfast restore-backup ~/holdfast.db --yes",
        _restore_options,
        _restore,
    ),
)
