"""One memory: its text, fields, history and similar memories, and the actions on it.
Each change can be undone from its notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.agents.wording import traces_text
from holdfast.domain.memory import BOUNDARIES, CATEGORIES, KINDS, LAYERS, STABILITIES
from holdfast.edges.web.rendering import t
from holdfast.edges.web.visit import Visit, route
from holdfast.errors import Conflict, HoldfastError, InvalidInput, NotFound

if TYPE_CHECKING:
    from starlette.responses import Response

    from holdfast.api.hub import HubMemory
    from holdfast.domain.change import Entry
    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Hit
    from holdfast.domain.records import Turn

_RELATED_MAX = 5
# The most changes that are shown, the newest ones.
_HISTORY_MAX = 100
# Fields that an entry of the history does not repeat in words.
_QUIET_FIELDS = ("content_hash", "state_reason", "metadata")
_TEXTS = ("content", "title", "summary")


class Change(NamedTuple):
    """One field in an entry of the history on the web page of a memory."""

    field: str
    old: str
    new: str
    is_text: bool


class Step(NamedTuple):
    """One entry of the history for the page."""

    entry: Entry
    changes: list[Change]
    undoable: bool


class UndoStep(NamedTuple):
    """A change set to undo on the web page of a memory; `hub` is the name that addresses use."""

    hub: str
    change: str


def _text(value: Any) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, tuple | list):
        return ", ".join(str(one) for one in value) or "–"
    return value.isoformat(" ", "minutes") if hasattr(value, "isoformat") else str(value)


def _step(entry: Entry) -> Step:
    fields = entry.revision.fields
    # A title that follows the text says nothing new.
    follows = "content" in fields and entry.after.content.startswith(entry.after.title.rstrip("…"))
    quiet = (*_QUIET_FIELDS, "title") if follows else _QUIET_FIELDS
    changes = [
        Change(name, _text(old), _text(new), name in _TEXTS)
        for name, (old, new) in fields.items()
        if name not in quiet
    ]
    return Step(entry, changes, entry.change.undone_by is None)


def _values(visit: Visit, hub: HubMemory, reference: str) -> dict[str, Any]:
    memory = hub.find(reference)
    entries = hub.history(memory.id)
    return {
        "memory": memory,
        "steps": [_step(entry) for entry in reversed(entries[-_HISTORY_MAX:])],
        "more_steps": max(len(entries) - _HISTORY_MAX, 0),
        "supersedes": _linked(hub, memory.supersedes),
        "superseded_by": _linked(hub, memory.superseded_by),
        "turn": None if memory.origin is None else _turn(visit, hub, memory.origin.turn),
        "other_hubs": [(slug, name) for slug, name, one in visit.hubs if one.id != hub.id],
        "undo": [],
    }


def _linked(hub: HubMemory, reference: str | None) -> Memory | None:
    if reference is None:
        return None
    try:
        return hub.find(reference)
    except NotFound:
        return None


def _turn(visit: Visit, hub: HubMemory, turn_id: str) -> Turn | None:
    """The turn that a memory was made from, if the log still has it."""
    if not visit.allows("read_log"):
        return None
    try:
        # Those before a turn begin behind it; its own id is one that the log knows.
        found = hub.turns(limit=500)
    except HoldfastError:
        return None
    return next((turn for turn in found if turn.id == turn_id), None)


def _page(visit: Visit) -> Response:
    hub = visit.hub()
    values = _values(visit, hub, visit.path("reference"))
    return visit.page("memory.html", values | {"tab": "find"})


def _related(visit: Visit) -> Response:
    """Similar memories, which are loaded after the page."""
    hub = visit.hub()
    try:
        hits: list[Hit] = hub.related(visit.path("reference"), limit=_RELATED_MAX)
    except NotFound:
        # A forgotten memory has no neighbours.
        hits = []
    return visit.fragment("_related.html", {"hits": hits})


def _edit_form(visit: Visit) -> Response:
    hub = visit.hub("write")
    memory = hub.find(visit.path("reference"))
    return visit.fragment("_edit.html", _form_values(memory))


def _form_values(memory: Memory, **more: Any) -> dict[str, Any]:
    given = {
        "title": memory.title,
        "content": memory.content,
        "category": memory.category,
        "tags": ", ".join(memory.tags),
        "kind": memory.kind,
        "stability": memory.stability,
        "boundary": memory.boundary,
        "layer": memory.layer,
        "key": memory.key or "",
        "reason": "",
    }
    return {
        "memory": memory,
        "given": given,
        "kinds": KINDS,
        "stabilities": STABILITIES,
        "boundaries": BOUNDARIES,
        "layers": LAYERS,
        "categories": CATEGORIES,
        "theirs": None,
        "version": memory.version,
        "error": "",
        **more,
    }


def _changes(visit: Visit, memory: Memory) -> dict[str, Any]:
    """The fields of the form that differ from the memory."""
    out: dict[str, Any] = {}
    for name in ("title", "content", "category", "kind", "stability", "boundary", "layer"):
        if visit.has(name) and visit.field(name) != getattr(memory, name):
            out[name] = visit.field(name)
    if visit.has("tags"):
        tags = tuple(tag.strip() for tag in visit.field("tags").split(",") if tag.strip())
        if tags != memory.tags:
            out["tags"] = tags
    if visit.has("key") and visit.field("key").strip() != (memory.key or ""):
        out["key"] = visit.field("key").strip() or None
    return out


def _edit(visit: Visit) -> Response:
    hub = visit.hub("write")
    reference = visit.path("reference")
    version = visit.field("version")
    base = hub.find(reference)
    if not version.isdigit():
        raise InvalidInput(t("error.version_missing"))
    try:
        if base.version != int(version):
            raise Conflict(t("edit.conflict"))
        changes = _changes(visit, base)
        if not changes:
            return visit.fragment("_memory.html", _values(visit, hub, reference))
        hub.update(
            base.id, expected_version=int(version), reason=visit.field("reason").strip(), **changes
        )
    except Conflict:
        theirs = hub.find(reference)
        typed = {name: visit.field(name) for name in _form_values(theirs)["given"]}
        values = _form_values(theirs, given=typed, theirs=theirs)
        values["last"] = hub.history(theirs.id)[-1].change
        return visit.fragment("_edit.html", values, status=409)
    except InvalidInput as error:
        typed = {name: visit.field(name) for name in _form_values(base)["given"]}
        values = _form_values(base, given=typed, error=str(error), version=int(version))
        return visit.fragment("_edit.html", values, status=422)
    return _done(visit, hub, base.id, t("done.edited"))


# Actions


def _action(work: Callable[[Visit, HubMemory, str], Memory], said: str) -> Callable[..., Response]:
    def view(visit: Visit) -> Response:
        hub = visit.hub()
        memory = work(visit, hub, visit.path("reference"))
        also = traces_text(hub.traces([memory.id])) if memory.forgotten_at is not None else ""
        notice = f"{t(said)} {t('done.also_hidden', also=also)}" if also else t(said)
        return _done(visit, hub, memory.id, notice)

    return view


def _done(visit: Visit, hub: HubMemory, memory_id: str, said: str) -> Response:
    """The changed memory, and a notice with a button to undo the change."""
    values = _values(visit, hub, memory_id)
    last = values["steps"][0].entry.change if values["steps"] else None
    undo = [] if last is None else [UndoStep(visit.slug, last.id)]
    return visit.fragment("_memory.html", values | {"said": said, "undo": undo})


def _supersede(visit: Visit) -> Response:
    hub = visit.hub("write")
    old = hub.get(visit.path("reference"))
    text = visit.field("content").strip()
    if not text:
        raise InvalidInput(t("error.supersede_empty"))
    made = hub.remember(
        text,
        supersedes=old.id,
        category=old.category,
        tags=old.tags,
        boundary=old.boundary,
        layer=old.layer,
        source="web",
    )
    values = _values(visit, hub, made.memory.id)
    last = values["steps"][0].entry.change
    undo = [UndoStep(visit.slug, last.id)]
    answer = visit.fragment(
        "_memory.html", values | {"said": t("done.superseded"), "undo": undo, "back": old.number}
    )
    answer.headers["HX-Push-Url"] = visit.url(f"/m/{made.memory.number}")
    return answer


def _move(visit: Visit) -> Response:
    hub = visit.hub()
    to_slug = visit.field("to")
    to = visit.other_hub(to_slug, "write")
    reference = hub.find(visit.path("reference")).id
    moved = hub.move_many([reference], to)[0]
    there = to.history(moved.id)[-1].change
    values = _values(visit, hub, reference)
    here = values["steps"][0].entry.change
    undo = [UndoStep(visit.slug, here.id), UndoStep(to_slug, there.id)]
    link = visit.url(f"/m/{moved.number}", to_slug)
    said = t("done.moved", hub=to.name)
    return visit.fragment("_memory.html", values | {"said": said, "undo": undo, "link": link})


def _undo(visit: Visit) -> Response:
    """Undoes change sets; answers with the memory that they changed, or a notice."""
    hub = visit.hub("write")
    last = None
    for pair in visit.fields("change"):
        change, _, where = pair.partition("@")
        target = hub if where in ("", visit.slug) else visit.other_hub(where, "write")
        undone = target.undo(change, force=visit.field("force") == "yes")
        if target is hub or last is None:
            last = undone
    if last is None:
        raise InvalidInput(t("error.nothing_chosen"))
    back = visit.field("memory")
    again = [UndoStep(visit.slug, last.change.id)]
    said = " ".join(filter(None, [t("done.undone"), last.note]))
    if back:
        try:
            values = _values(visit, hub, back)
        except NotFound:
            return visit.redirect(visit.url())
        return visit.fragment("_memory.html", values | {"said": said, "undo": again, "redo": True})
    return visit.fragment(
        "_undone.html", {"said": said, "undo": again, "redo": True, "memory": None}
    )


_AT = "/h/{hub}/m/{reference}"
_ACTIONS: dict[str, tuple[Callable[[Visit, HubMemory, str], Memory], str]] = {
    "pin": (lambda v, h, r: h.pin(r), "done.pinned"),
    "unpin": (lambda v, h, r: h.unpin(r), "done.unpinned"),
    "archive": (lambda v, h, r: h.archive(r), "done.archived"),
    "forget": (
        lambda v, h, r: h.forget(r, reason=v.field("reason").strip()),
        "done.forgotten",
    ),
    "restore": (lambda v, h, r: h.restore(r), "done.restored"),
}
ROUTES = [
    route(_AT, _page),
    route(f"{_AT}/related", _related),
    route(f"{_AT}/edit", _edit_form),
    route(f"{_AT}/edit", _edit, post=True),
    *(
        route(f"{_AT}/{name}", _action(work, said), post=True)
        for name, (work, said) in _ACTIONS.items()
    ),
    route(f"{_AT}/supersede", _supersede, post=True),
    route(f"{_AT}/move", _move, post=True),
    route("/h/{hub}/undo", _undo, post=True),
]
