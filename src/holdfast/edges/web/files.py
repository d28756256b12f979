"""Files: MEMORY.md and the journals, rendered and editable. A rewrite is merged with what its
author last read, as for an agent: changes by others in between are kept."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from holdfast.edges.web.memory import UndoStep
from holdfast.edges.web.rendering import t, to_html
from holdfast.edges.web.visit import Visit, route
from holdfast.errors import Forbidden, InvalidInput

if TYPE_CHECKING:
    from starlette.responses import Response

    from holdfast.api.hub import HubMemory

_DAYS = 14
# The name of an open editor, under which the text that it read is recorded.
_EDITOR = re.compile(r"web-[a-z0-9]{8}")
_NOTES_MAX = 8


def _require_local(visit: Visit) -> None:
    """Files are shown to the owner of the machine only; a key sees the journal's entries."""
    if not visit.caller.local:
        raise Forbidden(t("files.local"))


def _journal(hub: HubMemory, visit: Visit) -> dict[str, Any]:
    last = hub.core.now().astimezone(UTC).date()
    before = visit.query("before")
    if before:
        from datetime import date

        try:
            last = date.fromisoformat(before)
        except ValueError:
            raise InvalidInput(t("error.no_date", text=before)) from None
    first = last - timedelta(days=_DAYS - 1)
    days = hub.journal((first, last))
    return {
        "days": [(day.date, to_html(day.text), day.entries) for day in days],
        "notes": days.notes,
        "first": first.isoformat(),
        "last": last.isoformat(),
        "before": (first - timedelta(days=1)).isoformat(),
    }


def _page(visit: Visit) -> Response:
    hub = visit.hub()
    text = hub.read_memory_md(source_agent="web-reader") if visit.caller.local else None
    values = {
        "tab": "files",
        "local": visit.caller.local,
        "memory_md": None if text is None else to_html(text),
        "chars": len(text or ""),
        **_journal(hub, visit),
    }
    return visit.page("files.html", values)


def _memory_md(visit: Visit) -> Response:
    _require_local(visit)
    text = visit.hub().read_memory_md(source_agent="web-reader")
    return visit.fragment("_memory_md.html", _shown(text))


def _shown(text: str | None, **more: Any) -> dict[str, Any]:
    shown = None if text is None else to_html(text)
    return {"memory_md": shown, "chars": len(text or ""), "local": True, "undo": [], **more}


def _editor(visit: Visit) -> Response:
    _require_local(visit)
    editor = f"web-{secrets.token_hex(4)}"
    text = visit.hub("write").read_memory_md(source_agent=editor) or ""
    return visit.fragment("_memory_md_edit.html", {"text": text, "editor": editor})


def _save(visit: Visit) -> Response:
    _require_local(visit)
    hub = visit.hub("write")
    editor = visit.field("editor")
    if not _EDITOR.fullmatch(editor):
        raise InvalidInput(t("error.version_missing"))
    done = hub.rewrite_memory_md(visit.field("text"), source="web", source_agent=editor)
    said = t(
        "files.saved",
        new=len(done.added),
        changed=len(done.changed),
        archived=len(done.archived),
    )
    undo = [UndoStep(visit.slug, change) for change in reversed(done.changes)]
    text = hub.read_memory_md(source_agent="web-reader")
    notes = list(done.notes)[:_NOTES_MAX]
    values = _shown(text, said=said, saved_notes=notes) | {"undo": undo}
    return visit.fragment("_memory_md.html", values)


def _add_entry(visit: Visit) -> Response:
    hub = visit.hub("write")
    text = visit.field("text").strip()
    if not text:
        raise InvalidInput(t("error.entry_empty"))
    memory = hub.journal_add(text, source="web")
    undo = [UndoStep(visit.slug, hub.history(memory.id)[-1].change.id)]
    values = {**_journal(hub, visit), "said": t("files.added"), "undo": undo}
    values["local"] = visit.caller.local
    return visit.fragment("_journal.html", values)


def _day_text(hub: HubMemory, day: str) -> str:
    found = hub.journal(day)
    return found[0].text if found else ""


def _edit_day(visit: Visit) -> Response:
    """The file of one day, to be edited as a whole."""
    _require_local(visit)
    day = visit.path("day")
    text = _day_text(visit.hub("write"), day)
    return visit.fragment("_journal_edit.html", {"text": text, "day": day})


def _save_day(visit: Visit) -> Response:
    _require_local(visit)
    hub = visit.hub("write")
    done = hub.rewrite_journal(visit.path("day"), visit.field("text"), shown=visit.field("shown"))
    undo = [UndoStep(visit.slug, change) for change in reversed(done.changes)]
    values = _journal(hub, visit)
    values["notes"] = [*values["notes"], *done.notes][:_NOTES_MAX]
    said = t("files.day_saved", day=done.day.isoformat())
    return visit.fragment("_journal.html", {**values, "said": said, "undo": undo, "local": True})


def _journal_alone(visit: Visit) -> Response:
    hub = visit.hub()
    return visit.fragment("_journal.html", {**_journal(hub, visit), "local": visit.caller.local})


ROUTES = [
    route("/h/{hub}/files", _page),
    route("/h/{hub}/files/memory-md", _memory_md),
    route("/h/{hub}/files/memory-md/edit", _editor),
    route("/h/{hub}/files/memory-md", _save, post=True),
    route("/h/{hub}/files/journal", _journal_alone),
    route("/h/{hub}/files/journal", _add_entry, post=True),
    route("/h/{hub}/files/journal/{day}/edit", _edit_day),
    route("/h/{hub}/files/journal/{day}", _save_day, post=True),
]
