"""A project's hub combined with the personal hub of its owner.

Queries go to both and the results are ranked together; a new memory is stored in the hub it is
about. A memory of the personal hub is named `default#12` (the hub's name and its number), or by its
id. Hubs of different owners are never combined, and a caller with a key sees only the project's
hub.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from holdfast.api.hub import HubMemory
from holdfast.api.operation import operations_of
from holdfast.domain.query import Recalled
from holdfast.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.api.operation import Call
    from holdfast.domain.change import Change, Receipt
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Memory
    from holdfast.domain.records import Turn
    from holdfast.domain.results import Flushed, ForgottenTurns, Observed, Traces
    from holdfast.engine.context.build import Context
    from holdfast.engine.core import Core, Scope
    from holdfast.engine.history import Undone
    from holdfast.engine.reading.lookup import Reference
    from holdfast.text.facts.statements import About

# The personal hub gets one third of a context block, as most questions are about the project.
_OWN_SHARE = 3
# Less than this many characters fits no line, so the project gets everything.
_OWN_LEAST = 200
_BETWEEN = "\n\n"
# The start of a line in a block, which names its memory.
_HEAD = re.compile(r"^- \[[^\]\n]*\]", re.MULTILINE)
_NUMBER = re.compile(r"#(?=\d)")


def may_stand_beside(own: Hub, project: Hub, core: Core) -> bool:
    """Whether a personal hub may be read together with a project's hub."""
    return own.id != project.id and own.owner == project.owner and core.permit is None


class _CombinedCall:
    """A call of an operation that may concern the project's hub, the personal hub, or both."""

    def __init__(self, hub: ProjectHub, own: HubMemory, call: Call) -> None:
        self._hub, self.own, self.call = hub, own, call
        self.args, self.values = call.args, call.values

    @property
    def named(self) -> list[Reference]:
        """The references in the first argument."""
        by_name = self.values.get("references", self.values.get("reference"))
        first = self.args[0] if self.args else by_name
        return [first] if isinstance(first, str | int) else list(first or ())

    def with_list(self) -> _CombinedCall:
        """The same call with its references in a list, which can be iterated twice."""
        values = {name: value for name, value in self.values.items() if name != "references"}
        args = (self.named, *self.args[1:])
        return _CombinedCall(self._hub, self.own, self.call._replace(args=args, values=values))

    def here(self) -> Any:
        """Runs the operation on the project's hub."""
        return HubMemory._perform(self._hub, self.call)

    def there(self, *args: Any) -> Any:
        """Runs the operation on the personal hub, with these positional arguments if any are
        given."""
        return getattr(self.own, self.call.operation.name)(*(args or self.args), **self.values)

    def by_reference(self) -> Any:
        """Picks the hub by the reference: a number belongs to the project; `default#12`, an id or a
        key may name a memory of the personal hub."""
        reference = self.args[0] if self.args else self.values.get("reference")
        if isinstance(reference, str) and reference.startswith(f"{self.own.name}#"):
            self.values.pop("reference", None)
            return self.there(reference.removeprefix(self.own.name), *self.args[1:])
        is_number = isinstance(reference, int) or str(reference).lstrip("#").isdigit()
        try:
            return self.here()
        except NotFound as error:
            if is_number:
                raise
            try:
                return self.there()
            except NotFound:
                raise error from None

    def by_references(self) -> Any:
        """Like `by_reference`, for several references. All must be in the same hub."""
        given = self.args[0] if self.args else self.values.get("references")
        if isinstance(given, str | int):
            return self.here()
        call, name = self.with_list(), self.own.name
        named = call.named
        theirs = [one for one in named if isinstance(one, str) and one.startswith(f"{name}#")]
        if theirs and len(theirs) < len(named):
            raise InvalidInput(
                f"Some of these memories are in {name} and some are not.",
                hint="Name those of one hub at a time.",
            )
        if theirs:
            return call.there([one.removeprefix(name) for one in theirs], *call.args[1:])
        return call.here()


class ProjectHub(HubMemory):
    """A project's hub; `own` is the personal hub read beside it, if any. Methods named `_on_…` run
    an operation on both."""

    def __init__(
        self,
        core: Core,
        info: Hub,
        home: str,
        own: HubMemory | None = None,
        *,
        place: str | None = None,
    ) -> None:
        super().__init__(core, info, home)
        self.own = own
        # The folder within the project where the caller works.
        self.place = place

    @property
    def scope(self) -> Scope:
        return super().scope._replace(beside="" if self.own is None else self.own.id)

    def _perform(self, call: Call) -> Any:
        takes_folder = "folder" in (call.method.__kwdefaults__ or {})
        if takes_folder and call.values.get("folder") is None and self.place:
            call = call._replace(values={**call.values, "folder": self.place})
        own = self.own
        if own is None:
            return HubMemory._perform(self, call)
        combined = _CombinedCall(self, own, call)
        name = call.operation.name
        run = getattr(self, f"_on_{name}", None)
        if run is not None:
            return run(combined)
        if name in _BY_REFERENCE:
            return combined.by_reference()
        if name in _BY_REFERENCES:
            return combined.by_references()
        return combined.here()

    def hub_of(self, memory: Memory | Turn) -> HubMemory:
        """The hub that a memory or a turn belongs to."""
        return self.own if self.own is not None and memory.hub_id == self.own.id else self

    def named(self, memory: Memory) -> str:
        """The name of a memory in this project: `#12`, or `default#12` in the personal hub."""
        hub = self.hub_of(memory)
        return f"#{memory.number}" if hub is self else f"{hub.name}#{memory.number}"

    # Operations on both hubs

    def _on_context(self, call: _CombinedCall) -> str | Context:
        performed: str | Context = HubMemory._perform(self, call.call._replace(method=_context))
        return performed

    def _on_recall(self, call: _CombinedCall) -> Recalled:
        """Merges the hits of both hubs by score."""
        ours: Recalled = call.here()
        theirs: Recalled = call.there()
        limit = call.values.get("limit") or self.core.settings["recall.limit"]
        mark = f"from {call.own.name}, the person's own hub"
        is_logged = _sessions_of(self)
        marked = [
            hit._replace(why=(mark, *hit.why))
            for hit in theirs
            # Turns logged in the project's hub are complete there.
            if hit.turn is None or not is_logged(hit.turn.session)
        ]
        merged = sorted([*ours, *marked], key=lambda hit: -hit.score)
        seen: set[str] = set()
        hits = []
        for hit in merged:
            words = " ".join(hit.passage.text.lower().split())
            if words not in seen:
                seen.add(words)
                hits.append(hit)
        # Confidence, filters and the like are those of the hub with the better hit.
        first = theirs if theirs and (not ours or theirs[0].score > ours[0].score) else ours
        joined = Recalled(hits[:limit])
        joined.__dict__.update(first.__dict__)
        joined.confidence = max(ours.confidence, theirs.confidence)
        both = (one for one in ours.unknown_names if one in theirs.unknown_names)
        joined.unknown_names = tuple(both)
        joined.superseded = (*ours.superseded, *theirs.superseded)
        joined.degraded = tuple(dict.fromkeys((*ours.degraded, *theirs.degraded)))
        joined.filtered = {
            reason: ours.filtered.get(reason, 0) + theirs.filtered.get(reason, 0)
            for reason in (*ours.filtered, *theirs.filtered)
        }
        joined.left_out = [*ours.left_out, *theirs.left_out]
        return joined

    def _on_remember(self, call: _CombinedCall) -> Any:
        content = {"content": call.args[0]} if call.args else {}
        return call.there() if _is_own(self, {**call.values, **content}) else call.here()

    def _on_remember_many(self, call: _CombinedCall) -> Any:
        """A single memory goes to the hub it is about; several are one change set of the project's
        hub."""
        items = call.args[0] if call.args else None
        one = items[0] if isinstance(items, list) and len(items) == 1 else None
        return call.there() if isinstance(one, dict) and _is_own(self, one) else call.here()

    def _on_observe_turn(self, call: _CombinedCall) -> Observed:
        """Logs the whole turn in the project's hub and captures what the person said about
        themselves in the personal hub only. If others can read the project's hub, its log gets only
        the part about the project; the reply, which may repeat the rest, then goes to the personal
        log."""
        from holdfast.text.facts.statements import parts_of, said_about
        from holdfast.text.private import without_private_sides

        if aside := _set_aside(self, call.values):
            from holdfast.domain.results import Observed

            return Observed(reason=aside)
        given = dict(zip(("user", "assistant"), call.args, strict=False)) | call.values
        user = given.get("user")
        if isinstance(user, str):
            # Before splitting into sentences: a private passage may span several.
            reply = given.get("assistant")
            user, shown = without_private_sides(user, reply if isinstance(reply, str) else "")
            given["user"] = user
            if isinstance(reply, str):
                given["assistant"] = shown
        parts = parts_of(user) if isinstance(user, str) else []
        if not user and given.get("assistant"):
            turn = given.get("turn")
            is_personal = self._replies_to_person(given.get("session"), turn, given.get("at"))
            return (call.own if is_personal else _without_own(self)).observe_turn(**given)
        personal, noted = said_about(parts, "person"), given.get("noted")
        if not personal:
            return _without_own(self).observe_turn(**given)
        rest = said_about(parts, "project")
        if _is_shared(self):
            theirs, ours = {**given, "user": personal}, {**given, "user": rest, "assistant": ""}
            if noted is not None:
                to_note = parts_of(noted)
                theirs["noted"] = said_about(to_note, "person")
                ours["noted"] = said_about(to_note, "project")
            seen = call.own.observe_turn(**theirs)
            return _without_own(self).observe_turn(**ours) if rest else seen
        if noted is not None:
            return _without_own(self).observe_turn(**given)
        call.own.observe_turn(**{**given, "user": personal, "assistant": ""})
        return _without_own(self).observe_turn(**{**given, "noted": rest})

    def observe_reply(self, reply: str, *, is_personal: bool, **given: Any) -> Observed:
        """Logs the reply to words that were logged before: in the personal log if the words are
        about the person and others can read the project's hub."""
        given.setdefault("folder", self.place)
        if self.own is None:
            return self.observe_turn("", reply, **given)
        if aside := _set_aside(self, given):
            from holdfast.domain.results import Observed

            return Observed(reason=aside)
        hub = self.own if is_personal and _is_shared(self) else _without_own(self)
        return hub.observe_turn("", reply, **given)

    def _replies_to_person(
        self, session: str | None, turn: str | None, at: datetime | str | None
    ) -> bool:
        """Whether a reply may repeat what the person said about themselves, and others can read
        this hub: of what it replies to, a part is in the personal log."""
        from holdfast.engine.log.turns import is_last_said_beside

        assert self.own is not None
        return _is_shared(self) and is_last_said_beside(
            self.scope, self.own.scope, session=session, turn=turn, at=at
        )

    def _on_flush(self, call: _CombinedCall) -> Flushed:
        """Captures what the person said about themselves in the personal hub, and the rest here."""
        given = dict(zip(("messages",), call.args, strict=False)) | call.values
        messages = given.get("messages")
        if messages is not None and not isinstance(messages, str):
            # A list, because both hubs iterate it.
            given["messages"] = list(messages)

        def flushed(hub: HubMemory, about: About | None) -> Flushed:
            values = {**given, "about": about}
            part = call.call._replace(method=_flush, args=(), values=values)
            performed: Flushed = HubMemory._perform(hub, part)
            return performed

        # The personal log belongs to the personal hub as a whole.
        theirs = flushed(call.own, None if messages is None else "person")
        ours = flushed(self, "project")
        return ours._replace(noted=(*theirs.noted, *ours.noted), note=ours.note or theirs.note)

    def _on_log_turn(self, call: _CombinedCall) -> Any:
        """If others can read this hub, what the person says about themselves is logged in the
        personal hub instead."""
        from holdfast.text.facts.statements import parts_of, said_about
        from holdfast.text.private import without_private

        if aside := _set_aside(self, call.values):
            raise Conflict(
                f"The turn was not logged: {aside}.",
                hint="The rules of the log say what is not logged.",
                command="`holdfast log rules` shows what is not logged.",
            )
        given = dict(zip(("role", "content"), call.args, strict=False)) | call.values
        content = given.get("content")
        if given.get("role") == "assistant":
            session, at = given.get("session"), given.get("at")
            return call.there() if self._replies_to_person(session, None, at) else call.here()
        if given.get("role") != "user" or not isinstance(content, str) or not _is_shared(self):
            return call.here()
        parts = parts_of(without_private(content))
        personal, rest = said_about(parts, "person"), said_about(parts, "project")
        if not personal:
            return call.here()
        mine = call.own.log_turn(**{**given, "content": personal})
        return _without_own(self).log_turn(**{**given, "content": rest}) if rest else mine

    def _on_traces(self, call: _CombinedCall) -> Traces:
        call = call.with_list()
        try:
            found: Traces = call.by_references()
        except NotFound:
            # An id or a key does not show which of the two hubs it belongs to.
            found = call.there()
        return found._replace(turns=(*found.turns, *self._turns_saying(call.named)))

    def _on_purge(self, call: _CombinedCall) -> Receipt:
        self._drop_turns(call)
        receipt: Receipt = call.by_reference()
        return receipt

    def _on_purge_many(self, call: _CombinedCall) -> list[Receipt]:
        call = call.with_list()
        self._drop_turns(call)
        receipts: list[Receipt] = call.by_references()
        return receipts

    def _drop_turns(self, call: _CombinedCall) -> None:
        """Removes the project's turns that contain the words of personal memories which are about
        to be purged everywhere. Afterwards nothing would say which turns those are."""
        from holdfast.engine.log.forget_turns import drop_turns_saying

        if call.values.get("everywhere"):
            archives = drop_turns_saying(self.scope, self._persons_own(call.named))
            if archives:
                _without_own(self).purge_many(archives, reason="they hold turns that are gone")

    def _turns_saying(self, references: Iterable[Reference]) -> list[Turn]:
        """The turns of the project's log that say the same as these memories of the personal
        hub."""
        from holdfast.engine.traces import turns_saying

        return turns_saying(self.scope, self._persons_own(references))

    def _persons_own(self, references: Iterable[Reference]) -> list[Memory]:
        """Those of the memories that are in the personal hub."""
        found = [self.find(one) for one in references]
        return [one for one in found if self.hub_of(one) is not self]

    def _on_forget_last(self, call: _CombinedCall) -> list[Memory]:
        """The last message may have been captured in both hubs: partly about the project, partly
        about the person."""
        from holdfast.engine.log.forget_turns import made_last

        session = call.args[0] if call.args else call.values["session"]
        last = {one.hub_id for one in made_last([self.scope, call.own.scope], session)}
        gone: list[Memory] = []
        for hub, forget in ((self, call.here), (call.own, call.there)):
            if hub.scope.hub_id in last:
                gone += forget()
        return gone

    def _on_forget_turns(self, call: _CombinedCall) -> ForgottenTurns:
        """Also deletes the parts of these turns in the personal log, with the memories made of
        them."""
        from holdfast.engine.log.forget_turns import parts_beside

        call.values["turns"] = [*call.values.get("turns", ())]
        asked = {"since", "until", "session", "about", "turns"} & call.values.keys()
        wanted = {name: call.values[name] for name in asked}
        is_dry = bool(call.values.get("dry_run"))
        is_shared = _is_shared(self)
        parts = parts_beside(
            self.scope, call.own.scope, **wanted, is_shared=is_shared, dry_run=is_dry
        )
        # First, because nothing says which they are once the turns here are gone.
        how = {name: value for name, value in call.values.items() if name not in asked}
        theirs = call.own.forget_turns(turns=parts, **how) if parts else None
        ours: ForgottenTurns = call.here()
        if theirs is None:
            return ours
        found = ours._replace(memories=(*theirs.memories, *ours.memories))
        if not is_shared:
            # They are parts of the same turns, so only the memories are more.
            return found
        turns = sorted([*theirs.turns, *ours.turns], key=lambda turn: turn.at)
        return found._replace(total=ours.total + theirs.total, turns=tuple(turns))

    def _on_undo(self, call: _CombinedCall) -> Undone:
        """Undoes the last change set of either hub, or the one named, in whichever hub it is."""
        from holdfast.engine.history import last_change

        if call.args[:1] not in ((), (None,)) or call.values.get("change") is not None:
            try:
                undone: Undone = call.here()
            except NotFound as absent:
                try:
                    undone = call.there()
                except NotFound:
                    raise absent from None
            return undone
        ours, theirs = last_change(self.scope), last_change(call.own.scope)
        # Ids of change sets are in order of creation, even within one tick of the clock.
        newer = theirs is not None and (ours is None or (theirs.at, theirs.id) > (ours.at, ours.id))
        undone = call.there() if newer else call.here()
        return undone  # noqa: RET504  gives it the declared type

    def _on_changes(self, call: _CombinedCall) -> list[Change]:
        """Merges the change sets of both hubs, newest first: the order in which `undo` takes
        them."""
        from holdfast.engine.history import changes_before

        before, limit = call.values.get("before"), call.values.get("limit", 50)
        if before is None:
            found = [*call.here(), *call.there()]
        else:
            with self.core.read() as reader:
                is_own = reader.change(call.own.id, before) is not None
            # If neither hub has it, the project's hub raises the error.
            known, other = (call.there, self) if is_own else (call.here, call.own)
            found = [*known(), *changes_before(other.scope, before, limit=limit)]
        # An import is one change set with the same id in both hubs.
        each = {one.id: one for one in reversed(found)}
        newest = sorted(each.values(), key=lambda one: (one.at, one.id), reverse=True)
        return newest[:limit]

    def _on_touched(self, call: _CombinedCall) -> dict[str, list[Memory]]:
        ours, theirs = call.here(), call.there()
        return {change: [*ours[change], *theirs[change]] for change in ours}


def named(hub: HubMemory, memory: Memory) -> str:
    """The name of a memory in this hub: its number, or `said` for a turn of a conversation, which
    has no number."""
    if not memory.number:
        return "said"
    return hub.named(memory) if isinstance(hub, ProjectHub) else f"#{memory.number}"


# Reading both hubs


def built_context(
    hub: HubMemory, query: str | None = None, *, explain: bool = False, **asked: Any
) -> Context:
    """Builds the context block of a hub as a value; for a project, one block of the personal hub
    and the project's hub within the budget. Styles that show MEMORY.md show only the project's."""
    own = hub.own if isinstance(hub, ProjectHub) else None
    is_tokens = asked.get("unit", "chars") != "chars"
    budget = asked.get("budget") or (None if is_tokens else hub.core.settings["context.chars_max"])
    in_lines = asked.get("style", "plain") in ("plain", "xml")
    if own is None or not in_lines or budget is None or budget // _OWN_SHARE < _OWN_LEAST:
        return hub._context(query, explain=explain, **asked)
    # What the person said about themselves in this project is in both logs; show it once.
    logged = _sessions_of(hub)
    share = {**asked, "budget": budget // _OWN_SHARE, "elsewhere": logged}
    theirs = own._context(query, explain=explain, **share)
    text = theirs.text
    if not is_tokens:
        # A number without a hub's name belongs to the project.
        text = _HEAD.sub(lambda head: _NUMBER.sub(f"{own.name}#", head[0]), theirs.text)
        theirs = theirs._replace(text=text, used=len(text))
    if not theirs.included:
        # The block has a frame but no memories in it.
        theirs = theirs._replace(text="", used=0)
    room = budget - (theirs.used + len(_BETWEEN) if theirs.text else 0)
    ours = hub._context(
        query, explain=explain, **{**asked, "budget": room, "outdated": theirs.outdated}
    )
    if theirs.included and not ours.included:
        ours = ours._replace(text="", used=0)
    return ours._replace(
        text=_BETWEEN.join(one.text for one in (theirs, ours) if one.text),
        included=(*theirs.included, *ours.included),
        left_out=(*theirs.left_out, *ours.left_out),
        used=theirs.used + ours.used + (len(_BETWEEN) if theirs.text and ours.text else 0),
        budget=budget,
        degraded=tuple(dict.fromkeys((*theirs.degraded, *ours.degraded))),
    )


def _sessions_of(hub: HubMemory) -> Callable[[str | None], bool]:
    """Returns a function that says whether the turns of a session are logged complete in a hub."""
    known: dict[str | None, bool] = {}
    if _is_shared(hub):
        return lambda session: False

    def is_logged(session: str | None) -> bool:
        if session not in known:
            with hub.core.read() as reader:
                known[session] = session is not None and bool(
                    reader.turns(hub.id, limit=1, session=session)
                )
        return known[session]

    return is_logged


def _context(
    hub: ProjectHub, query: str | None = None, *, explain: bool = False, **asked: Any
) -> str | Context:
    built = built_context(hub, query, explain=explain, **asked)
    return built if explain else built.text


def is_about_person(hub: HubMemory, said: str) -> bool:
    """Whether a part of what somebody said goes to the personal log beside this hub."""
    from holdfast.text.facts.statements import parts_of, said_about
    from holdfast.text.private import without_private

    if not isinstance(hub, ProjectHub) or hub.own is None:
        return False
    return bool(said_about(parts_of(without_private(said)), "person"))


def observe_reply(hub: HubMemory, reply: str, *, is_personal: bool, **given: Any) -> Observed:
    """Logs the reply to words that were logged before; `is_personal` if a part of them is about the
    person."""
    if isinstance(hub, ProjectHub):
        return hub.observe_reply(reply, is_personal=is_personal, **given)
    return hub.observe_turn("", reply, **given)


def _is_shared(hub: HubMemory) -> bool:
    """Whether anyone except its owner may read a hub."""
    from holdfast.engine.people.members import is_alone

    with hub.core.read() as reader:
        return not is_alone(reader, hub.info, hub.info.owner)


def _without_own(hub: ProjectHub) -> HubMemory:
    return HubMemory(hub.core, hub.info, hub.home)


# Choosing the hub to write to


def _flush(hub: HubMemory, *, about: About | None, **given: Any) -> Flushed:
    from holdfast.passes.flush import flush
    from holdfast.text.facts.statements import parts_of, said_about

    hub.core.settings.refresh()
    part = None if about is None else lambda said: said_about(parts_of(said), about)
    return flush(hub.core, hub.home, hub.info, part=part, **given)


def _is_own(hub: ProjectHub, given: dict[str, Any]) -> bool:
    """Whether a new memory belongs in the personal hub: decided by the memory that it replaces,
    else by its words."""
    from holdfast.text.facts.statements import about

    assert hub.own is not None
    for name in ("supersedes", "key"):
        if (reference := given.get(name)) is not None:
            if _has(_without_own(hub), reference):
                return False
            if _has(hub.own, reference):
                return True
    content = given.get("content")
    if not isinstance(content, str) or given.get("source_path") or given.get("layer"):
        return False
    category = given.get("category") or _category(content)
    return about(content, category=category)[0] == "person"


def _category(content: str) -> str | None:
    from holdfast.text.classify import classify

    found = classify(content).category
    # A routine may be the person's or the project's, so its words decide.
    return found if found in ("person", "preference") else None


def _has(hub: HubMemory, reference: Any) -> bool:
    try:
        hub.find(reference)
    except NotFound:
        return False
    return True


def _set_aside(hub: ProjectHub, values: dict[str, Any]) -> str:
    """Why a turn must not be logged; empty if it may be. The rules of the personal hub hold in
    every project, and those of the project hold for what goes to the personal hub."""
    from holdfast.engine.log.log_rules import why_not

    assert hub.own is not None
    where = {"session": values.get("session"), "folder": values.get("folder")}
    with hub.core.read() as reader:
        found = [why_not(reader, one.id, now=hub.core.now(), **where) for one in (hub.own, hub)]
    return next(filter(None, found), "")


def _taking(first: str) -> frozenset[str]:
    """The names of the operations with a first argument of that name."""
    operations = operations_of(HubMemory)
    return frozenset(
        name
        for name in operations
        if getattr(HubMemory, name).__wrapped__.__code__.co_varnames[1:2] == (first,)
    )


_BY_REFERENCE = _taking("reference")
_BY_REFERENCES = _taking("references")
