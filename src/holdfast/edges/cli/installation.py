"""What this installation is made of, for the doctor: versions, files with their sizes and modes,
attachments, models. It looks, and mends what lies on the disk; how healthy that is, and how it is
told, is the doctor's.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from holdfast.engine.scope import Scope
from holdfast.errors import EmbedderError, InvalidSetting, StoreDamaged

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call

_PARTS = (("database", ""), ("log", "-wal"))
# A server may have thousands of hubs.
_HUBS_SHOWN = 5


def facts(call: Call) -> dict[str, Any]:
    """What to know first of an installation that somebody asks about."""
    import platform

    import apsw

    from holdfast import __version__
    from holdfast.wiring.urls import without_password

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
        "hubs": _hub_count(call),
        "lifecycle": _lifecycle_facts(call),
    }


def _hub_count(call: Call) -> int | None:
    """How many hubs there are; None where their rows cannot be read."""
    try:
        return len(call.memory.hubs())
    except StoreDamaged:
        return None


def _lifecycle_facts(call: Call) -> dict[str, Any]:
    """Whether the lifecycle runs automatically, and when it last ran in the first hubs."""
    from holdfast.domain.clock import to_text
    from holdfast.engine.upkeep.lifecycle_due import last_run

    core = call.memory.core
    runs: dict[str, str | None] = {}
    # What is damaged is said by the doctor's findings.
    with suppress(StoreDamaged), core.store.read() as reader:
        for hub in call.memory.hubs()[:_HUBS_SHOWN]:
            run = last_run(reader, hub.id)
            runs[hub.name] = None if run is None else to_text(run.at)
    return {"automatic": core.settings["lifecycle.automatic"], "last_runs": runs}


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


def open_to_others(call: Call) -> list[str]:
    """Files and folders that not only their owner can open."""
    return [path for path, _ in _owned(call) if stat.S_IMODE(os.stat(path).st_mode) & 0o077]


def close_to_others(call: Call) -> list[str]:
    """Closes them, and says so."""
    mended = []
    wanted = dict(_owned(call))
    for path in open_to_others(call):
        os.chmod(path, wanted[path])
        mended.append(f"closed {path} to others")
    return mended


def attachment_problems(call: Call) -> list[str]:
    """Files of memories that are missing, and files that belong to none."""
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()]
    return [f"hub {hub.name}: {note}" for hub in hubs for note in hub.attachments.check()]


def leftover_problems(call: Call) -> list[str]:
    """Copies of the store that processes left which died while they made them."""
    from holdfast.wiring.leftovers import find_leftovers

    found = find_leftovers(call.memory.core.store, _beside_store(call), call.memory.home)
    told = [f"a copy that was broken off left {path}" for path in found.abandoned]
    return told + [
        f"a restore was broken off, and {path} is needed to finish it: run"
        " `holdfast restore-backup` again with the same backup"
        for path in found.needed
    ]


def remove_leftovers(call: Call) -> list[str]:
    """Removes those that can go, and says so."""
    from holdfast.wiring.leftovers import remove_leftovers as remove

    removed = remove(call.memory.core.store, _beside_store(call), call.memory.home)
    return [f"removed {path}, which a copy that was broken off had left" for path in removed]


def _beside_store(call: Call) -> str:
    """The path that copies of the store are put beside."""
    from holdfast.wiring import DATABASE

    return _store_path(call) or os.path.join(call.memory.home, DATABASE)


def files_left_alone(call: Call) -> list[str]:
    """Of which hubs the files in this home are not looked at, and why."""
    from holdfast.files.atomic import hub_folder
    from holdfast.files.ownership import elsewhere, of_another_hub

    folders = [(hub, hub_folder(call.memory.home, hub.name)) for hub in call.memory.hubs()]
    told = [
        of_another_hub(hub.id, hub.name, folder)
        or elsewhere(Scope(call.memory.core, hub.id, hub.name), folder)
        for hub, folder in folders
        if os.path.isdir(folder)
    ]
    return [f"{why} `holdfast sync --confirm` takes the folder over." for why in told if why]


def swept(call: Call) -> list[str]:
    """Removes what crashes left of attachments, and says so."""
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()]
    counts = [(hub.name, hub.attachments.sweep()) for hub in hubs]
    return [
        f"removed {count} files that crashes left in hub {name}" for name, count in counts if count
    ]


def embedding_model(call: Call) -> dict[str, str]:
    """The name of the model; or why there is none, as a note, or as a problem."""
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


def language_models(call: Call) -> tuple[dict[str, str], list[str]]:
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


def model_servers(call: Call) -> dict[str, str]:
    """The servers of language models that settings name by their addresses: '' for each that
    answers, and for the others why they do not. One that has its usual address is not asked: that
    would be a word to somebody else without need."""
    from holdfast.llm.find import parse
    from holdfast.settings import SETTINGS

    settings = call.memory.core.settings
    found = []
    for setting in SETTINGS:
        if setting.name.endswith(".model") and setting.name != "embed.model":
            # One that cannot be read is told of as a problem.
            with suppress(InvalidSetting):
                spec = parse(settings[setting.name])
                found += [spec.url] if spec is not None and spec.url else []
    if not found:
        return {}
    from holdfast.llm.endpoint import answering

    return answering(found)
