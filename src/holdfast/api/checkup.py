"""Checks an installation: the store, the modes of its files, attachments, leftovers of copies, and
the models in the settings; and repairs what can be repaired. Problems in rows are found by
`engine.upkeep.doctor`, the others here.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import EmbedderError, InvalidSetting, StoreDamaged
from holdfast.store.values import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.api.memory import Holdfast
    from holdfast.engine.upkeep.doctor import Diagnosis

_PARTS = (("database", ""), ("log", "-wal"))
# A server may have thousands of hubs.
_HUBS_SHOWN = 5


def installation_facts(memory: Holdfast) -> dict[str, Any]:
    """The facts about an installation that a bug report needs first."""
    import platform

    import apsw

    from holdfast import __version__
    from holdfast.wiring import without_password

    path = _store_path(memory)
    sizes = {name: _size(path + suffix) for name, suffix in _PARTS} if path else {}
    server = ""
    if about := getattr(memory.core.store, "about", None):
        server, found = about()
        sizes |= found
    return {
        "holdfast": __version__,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "home": memory.home,
        "home_mode": _mode(memory.home),
        "store": path or without_password(memory.core.settings["store.url"]),
        "store_mode": _mode(path) if path else server,
        "bytes": sizes,
        "hubs": _hub_count(memory),
        "lifecycle": _lifecycle_facts(memory),
    }


def _hub_count(memory: Holdfast) -> int | None:
    """The number of hubs; None if their rows cannot be read."""
    try:
        return len(memory.hubs())
    except StoreDamaged:
        return None


def _lifecycle_facts(memory: Holdfast) -> dict[str, Any]:
    """Whether the lifecycle runs automatically, and when it last ran in the first few hubs."""
    from holdfast.domain.clock import to_text
    from holdfast.engine.upkeep.automatic import last_run

    core = memory.core
    runs: dict[str, str | None] = {}
    # The doctor's findings report what is damaged.
    with suppress(StoreDamaged), core.store.read() as reader:
        for hub in memory.hubs()[:_HUBS_SHOWN]:
            run = last_run(reader, hub.id)
            runs[hub.name] = None if run is None else to_text(run.at)
    return {"automatic": core.settings["lifecycle.automatic"], "last_runs": runs}


def _store_path(memory: Holdfast) -> str:
    """The path of the store's file; '' if the store has none."""
    path: str = getattr(memory.core.store, "path", "")
    return path


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _mode(path: str) -> str:
    return f"{stat.S_IMODE(os.stat(path).st_mode):04o}" if os.path.exists(path) else ""


def _private_files(memory: Holdfast) -> list[tuple[str, int]]:
    """The files that only their owner may open, with their proper modes. None on Windows, where
    access depends on the folder of the user's profile and not on a file's mode."""
    if sys.platform == "win32":
        return []
    path = _store_path(memory)
    files = [(path + suffix, 0o600) for suffix in ("", "-wal", "-shm")] if path else []
    there = [(name, mode) for name, mode in files if os.path.exists(name)]
    return [(memory.home, 0o700), *there] if os.path.isdir(memory.home) else there


def open_to_others(memory: Holdfast) -> list[str]:
    """The doctor's check of permissions: files and folders that anyone except their owner can
    open."""
    return [
        path for path, _ in _private_files(memory) if stat.S_IMODE(os.stat(path).st_mode) & 0o077
    ]


def close_to_others(memory: Holdfast) -> list[str]:
    """Repairs the modes of files that others can open; returns what was done."""
    mended = []
    wanted = dict(_private_files(memory))
    for path in open_to_others(memory):
        os.chmod(path, wanted[path])
        mended.append(f"closed {path} to others")
    return mended


def attachment_problems(memory: Holdfast) -> list[str]:
    """The doctor's check of attachments: those without their file, and files that belong to no
    memory."""
    hubs = [memory.hub(hub.name) for hub in memory.hubs()]
    return [f"hub {hub.name}: {note}" for hub in hubs for note in hub.attachments.check()]


def leftover_problems(memory: Holdfast) -> list[str]:
    """The doctor's check for incomplete copies of the store that were left by killed processes."""
    from holdfast.wiring.copies import find_leftovers

    found = find_leftovers(memory.core.store, _beside_store(memory), memory.home)
    problems = [f"a copy that was broken off left {path}" for path in found.abandoned]
    return problems + [
        f"a restore was broken off, and {path} is needed to finish it: run"
        " `holdfast restore-backup` again with the same backup"
        for path in found.needed
    ]


def remove_leftovers(memory: Holdfast) -> list[str]:
    """Removes those leftovers that are not needed; returns what was done."""
    from holdfast.wiring.copies import remove_leftovers as remove

    removed = remove(memory.core.store, _beside_store(memory), memory.home)
    return [f"removed {path}, which a copy that was broken off had left" for path in removed]


def _beside_store(memory: Holdfast) -> str:
    """The path beside which copies of the store are made."""
    from holdfast.wiring import DATABASE

    return _store_path(memory) or os.path.join(memory.home, DATABASE)


def files_left_alone(memory: Holdfast) -> list[str]:
    """The doctor's check of folders: the hubs with files in this home that are ignored, and why."""
    from holdfast.engine.core import Scope
    from holdfast.files import hub_path
    from holdfast.files.hub_folder import other_place_note, refusal_of_foreign_files

    folders = [(hub, hub_path(memory.home, hub.name)) for hub in memory.hubs()]
    reasons = [
        refusal_of_foreign_files(hub.id, hub.name, folder)
        or other_place_note(Scope(memory.core, hub.id, hub.name), folder)
        for hub, folder in folders
        if os.path.isdir(folder)
    ]
    return [f"{why} `holdfast sync --confirm` takes the folder over." for why in reasons if why]


def sweep_attachments(memory: Holdfast) -> list[str]:
    """Removes files of attachments that crashes left behind; returns what was done."""
    hubs = [memory.hub(hub.name) for hub in memory.hubs()]
    counts = [(hub.name, hub.attachments.sweep()) for hub in hubs]
    return [
        f"removed {count} files that crashes left in hub {name}" for name, count in counts if count
    ]


def embedding_model(memory: Holdfast) -> dict[str, str]:
    """The name of the embedding model, or a note or problem that says why there is none."""
    from holdfast.embed.providers import MISSING_MODEL

    try:
        embedder = memory.core.embedder
    except (EmbedderError, InvalidSetting) as error:
        return {"name": "", "note": "", "problem": str(error)}
    if embedder is None:
        chosen = memory.core.settings["embed.model"]
        note = "It is turned off (embed.model is none)." if chosen == "none" else MISSING_MODEL
        return {"name": "", "note": note, "problem": ""}
    return {"name": embedder.identity, "note": "", "problem": ""}


def language_models(memory: Holdfast) -> tuple[dict[str, str], list[str]]:
    """The language model of each setting that names one and whether its key is there, and the
    problems of those that cannot be used."""
    from holdfast.llm import describe
    from holdfast.settings import SETTINGS

    settings = memory.core.settings
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


def model_servers(memory: Holdfast) -> dict[str, str]:
    """The model servers in the settings: '' for each that answers, else the reason why not.
    Providers at their default addresses are not contacted."""
    from holdfast.llm import parse
    from holdfast.settings import SETTINGS

    settings = memory.core.settings
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


class Findings(NamedTuple):
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


def check_up(
    memory: Holdfast,
    model: dict[str, str],
    *,
    repair: bool,
    progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Checks an installation, and with `repair` repairs it first. `model` is the result of
    `embedding_model`; if that has a problem, the memory was opened again without a model."""
    from holdfast.engine.upkeep.doctor import examine, mend

    core = memory.core
    language, unknown = language_models(memory)
    mended: list[str] = []
    if repair:
        diagnosis = mend(core, progress)
        mended += diagnosis.mended
        mended += close_to_others(memory)
        mended += remove_leftovers(memory)
    else:
        diagnosis = examine(core)
    unread: list[str] = []
    if repair:
        mended += _read(sweep_attachments, memory, unread)
    files = _read(attachment_problems, memory, unread)
    notes = _read(files_left_alone, memory, unread)
    facts = installation_facts(memory)
    if unread and not diagnosis.left:
        # The store is not healthy while something in it cannot be read.
        diagnosis = diagnosis._replace(left=[Problem(why, False) for why in unread])
    return Findings(
        facts,
        model,
        language,
        model_servers(memory),
        diagnosis,
        mended,
        open_to_others(memory),
        [*files, *leftover_problems(memory)],
        unknown,
        [*core.store.notes(), *notes],
    )


def _read(act: Callable[[Holdfast], list[str]], memory: Holdfast, unread: list[str]) -> list[str]:
    """Reads from a store that may be damaged; on failure, returns nothing and notes why."""
    try:
        return act(memory)
    except StoreDamaged as error:
        unread.append(error.message)
        return []


def problems_in_words(memory: Holdfast, found: Findings) -> list[tuple[str, str]]:
    """Every problem that the doctor has left: `damage` or `problem`, and a sentence."""
    left = _sentences(memory, found.diagnosis.left)
    left += [("problem", f"others can open {path}") for path in found.open_to_others]
    left += [("problem", note) for note in found.files]
    if found.model["problem"]:
        left.append(("problem", found.model["problem"]))
    return left + [("problem", said) for said in found.unknown_models]


def _sentences(memory: Holdfast, problems: list[Problem]) -> list[tuple[str, str]]:
    """The problems as sentences, without repetition, with the hub if there are several."""
    try:
        names = {hub.id: hub.name for hub in memory.hubs()}
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
