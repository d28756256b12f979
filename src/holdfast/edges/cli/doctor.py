"""`holdfast doctor`: examines the store, its files and the models, mends what can be mended where
it is asked to, and says what is left. What may be wrong with rows, `engine.repair` knows; what with
the rest, `installation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import from_text
from holdfast.edges.cli import installation
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted
from holdfast.errors import StoreDamaged
from holdfast.store.values import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.edges.cli.call import Call
    from holdfast.engine.upkeep.doctor import Diagnosis


_ABOUT_DAMAGE = "What is left can be brought back by a backup alone: `holdfast restore-backup`."
_BEFORE_REPAIR = (
    "`holdfast doctor --fix` repairs damaged rows where that can be proven, sets aside the others,"
    " and keeps the damaged file. `holdfast restore-backup` brings back a backup."
)


class _Findings(NamedTuple):
    """What was looked at, what was mended, and what is not as it should be: in the store, its
    files' modes, the files of memories, and the settings that name language models. That a server
    of one does not answer is said, and no fault of the installation."""

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


def _doctor_options(parser: Parser) -> None:
    parser.add_argument("--fix", action="store_true", help="mend what can be mended")


def _doctor(call: Call, args: Namespace) -> int:
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
    found = _examined(call, fix=args.fix)
    if call.out.json:
        call.out.value(_plain(found))
    else:
        _show_facts(call, found)
        _show_findings(call, found)
        for note in found.notes:
            call.out.note(note)
    return 0 if found.healthy else StoreDamaged.exit_code


def _examined(call: Call, *, fix: bool) -> _Findings:
    from holdfast.engine.upkeep.doctor import examine, mend

    model = installation.embedding_model(call)
    if model["problem"]:
        call.do_without_model()
    core = call.memory.core
    language, unknown = installation.language_models(call)
    mended: list[str] = []
    if fix:
        with call.out.progress("mend") as step:
            diagnosis = mend(core, step)
        mended += diagnosis.mended
        mended += installation.close_to_others(call)
        mended += installation.remove_leftovers(call)
    else:
        diagnosis = examine(core)
    unread: list[str] = []
    if fix:
        mended += _read(lambda: installation.swept(call), [], unread)
    files = _read(lambda: installation.attachment_problems(call), [], unread)
    notes = _read(lambda: installation.files_left_alone(call), [], unread)
    facts = installation.facts(call)
    if unread and not diagnosis.left:
        # Whatever was not found in the store: it is not healthy while something cannot be read.
        diagnosis = diagnosis._replace(left=[Problem(why, False) for why in unread])
    return _Findings(
        facts,
        model,
        language,
        installation.model_servers(call),
        diagnosis,
        mended,
        installation.open_to_others(call),
        [*files, *installation.leftover_problems(call)],
        unknown,
        [*core.store.notes(), *notes],
    )


def _read(act: Callable[[], list[str]], otherwise: list[str], unread: list[str]) -> list[str]:
    """What a look at a store that may be damaged gives; why not, where it cannot be read."""
    try:
        return act()
    except StoreDamaged as error:
        unread.append(error.message)
        return otherwise


def _plain(found: _Findings) -> dict[str, Any]:
    return {
        "healthy": found.healthy,
        "facts": found.facts,
        "model": found.model,
        "language_models": found.language,
        "model_servers": found.servers,
        "problems": [problem._asdict() for problem in found.diagnosis.found],
        "mended": found.mended,
        "left": [problem._asdict() for problem in found.diagnosis.left],
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
    told = "automatic" if facts["automatic"] else "only by hand"
    return f"{told}; last run: {', '.join(runs)}" if runs else told


def _show_facts(call: Call, found: _Findings) -> None:
    facts, model = found.facts, found.model
    sizes = ", ".join(f"{name} {size:,} bytes" for name, size in facts["bytes"].items())
    rows = [
        ("holdfast", facts["holdfast"]),
        ("python", facts["python"]),
        ("sqlite", facts["sqlite"]),
        ("home", f"{facts['home']} ({facts['home_mode']})"),
        # Of a file its mode, of a database its server.
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
    for word, text in _left(call, found):
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


def _left(call: Call, found: _Findings) -> list[tuple[str, str]]:
    """Everything that is not as it should be: what it is called, and a sentence."""
    left = _sentences(call, found.diagnosis.left)
    left += [("problem", f"others can open {path}") for path in found.open_to_others]
    left += [("problem", note) for note in found.files]
    if found.model["problem"]:
        left.append(("problem", found.model["problem"]))
    return left + [("problem", said) for said in found.unknown_models]


def _sentences(call: Call, problems: list[Problem]) -> list[tuple[str, str]]:
    """What is wrong, each sentence once, with the hub where there are several."""
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


DOCTOR = Command(
    "doctor",
    "Check that everything is as it should be.",
    "holdfast doctor --fix",
    _doctor_options,
    _doctor,
    "--fix rebuilds what can be derived, makes missing vectors, closes files to others, and\n"
    "repairs damaged rows; a row that cannot be repaired is set aside in a file, and the damaged\n"
    "store is kept. Ends with 6 where a problem is left.\n"
    "In a pipe, a line per finding: what, value.",
)
