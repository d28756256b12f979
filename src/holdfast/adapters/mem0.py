"""A memory with the interface of mem0: change the import, and keep the rest of the program.

Needs neither mem0 nor a language model. A user is a hub (see `hubs`); memories that name only an
agent or a run have a hub of that agent or run. What is said is turned into facts by rules.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import holdfast
from holdfast.adapters.hubs import DEFAULT_APP, MESSAGE_KEY, Hubs, now_of
from holdfast.api.asynchronous import in_thread
from holdfast.domain.results import Duplicate, Stored
from holdfast.errors import InvalidInput, NotFound
from holdfast.text.clean import clean_time

if TYPE_CHECKING:
    from holdfast.adapters.hubs import Memories
    from holdfast.api.asynchronous import AsyncHoldfast
    from holdfast.api.hub import HubMemory
    from holdfast.domain.change import Entry
    from holdfast.domain.memory import Memory as Kept
    from holdfast.domain.query import Hit
    from holdfast.domain.results import Remembered

# The caller's metadata, and the ids of the scope, in the metadata of a memory.
_GIVEN = "mem0"
_SCOPES = ("user_id", "agent_id", "run_id")
_LABELS = {"user_id": "user", "agent_id": "agent", "run_id": "run"}
_GROUPS = ("AND", "OR", "NOT")
# What mem0 keeps beside the caller's metadata, and filters by.
_TIMES = ("created_at", "updated_at")
_PROCEDURAL = "procedural_memory"
_PAGE = 100
_HITS_MAX = 1_000
_UNSET: Any = object()

R = TypeVar("R")


class Memory:
    """mem0's `Memory` on Holdfast. Without `memory`, the default home is opened and closed with it;
    `config` is taken for the sake of programs that pass one, and nothing in it is used."""

    def __init__(
        self,
        config: Any = None,
        *,
        memory: Memories | AsyncHoldfast | None = None,
        app: str = DEFAULT_APP,
    ) -> None:
        self.config = config
        self._owned = None if memory is not None else holdfast.open()
        self._hubs = Hubs(cast("Memories", memory or self._owned), app)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Memory:
        """A memory in the default home: providers of models and stores are not used."""
        return cls(config_dict)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the store, if this object has opened it."""
        if self._owned is not None:
            self._owned.close()

    # ── writing ──────────────────────────────────────────────────────────────────────────────

    def add(
        self,
        messages: str | Mapping[str, Any] | Iterable[Mapping[str, Any]],
        *,
        user_id: Any = None,
        agent_id: Any = None,
        run_id: Any = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: date | str | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
        timestamp: float | date | str | None = None,
    ) -> dict[str, Any]:
        """Remembers what messages say. With `infer`, the facts that users state, found by rules,
        or their messages where no rule applies and they are not questions; without, every message
        as it is. `timestamp` is when it was said: seconds since 1970, a time or a day. `prompt` is
        not used."""
        said_at = _moment("timestamp", timestamp)
        if memory_type not in (None, _PROCEDURAL):
            raise InvalidInput(f"The memory_type is {_PROCEDURAL!r} or None, not {memory_type!r}.")
        scope = _Scope.of(user_id=user_id, agent_id=agent_id, run_id=run_id)
        said = _messages(messages)
        labels = scope.labels
        hub = self._hubs.make(*labels)
        given = {name: one for name, one in (metadata or {}).items() if name not in _SCOPES}
        fields: dict[str, Any] = {
            "metadata": {_GIVEN: given, **scope.ids, **self._hubs.scope_metadata(*labels)},
            "expires_at": _expiry(expiration_date),
            "session": scope.ids.get("run_id"),
            "source_agent": scope.ids.get("agent_id"),
        }
        results = []
        at = said_at or now_of(hub)
        for text, more in _texts(said, infer=infer, memory_type=memory_type, at=at):
            role = more.pop("role", None)
            kept = {**fields, **more}
            if said_at is not None and role is not None:
                kept["occurred_at"] = said_at
            elif said_at is not None and not hub.list(where={"content": text}, limit=1):
                # A fact holds from the first time on that it was said.
                kept["valid_from"] = said_at
            if role is not None:
                kept["metadata"] = {**fields["metadata"], "role": role}
            results.append(_result(hub, hub.remember(text, **kept)))
        return {"results": results}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: date | str | None = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Changes the text, the metadata or the expiry of a memory; metadata are merged."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise InvalidInput("At least one of text, metadata, or expiration_date must be given.")
        hub, memory = self._required(memory_id)
        changes: dict[str, Any] = {}
        if text is not None:
            changes["content"] = text
        if metadata is not None:
            given = {name: one for name, one in metadata.items() if name not in _SCOPES}
            known = memory.metadata.get(_GIVEN) or {}
            changes["metadata"] = {**memory.metadata, _GIVEN: {**known, **given}}
        if expiration_date is not _UNSET:
            changes["expires_at"] = _expiry(expiration_date)
        hub.update(memory.id, **changes)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Forgets a memory; the hub's `undo` brings it back."""
        hub, memory = self._required(memory_id)
        hub.forget(memory.id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: Any = None, agent_id: Any = None, run_id: Any = None
    ) -> dict[str, str]:
        """Forgets every memory of a scope."""
        scope = _Scope.of(user_id=user_id, agent_id=agent_id, run_id=run_id)
        for hub in self._hubs_of(scope):
            _forget(hub, list(_all(hub, scope.condition({}))))
        return {"message": "Memories deleted successfully!"}

    def reset(self) -> None:
        """Forgets every memory of this app that was added through this interface."""
        for label in _LABELS.values():
            for _, hub in self._hubs.below(label):
                _forget(hub, list(_all(hub, {f"metadata.{_GIVEN}": {"exists": True}})))

    # ── reading ──────────────────────────────────────────────────────────────────────────────

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """A memory by its id; None if there is none."""
        found = self._find(memory_id)
        return None if found is None else _item(*found)

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        show_expired: bool = False,
        **scope: Any,
    ) -> dict[str, Any]:
        """The memories of a scope, the newest first: `filters={"user_id": "alice"}`, or
        `user_id="alice"` as older versions of mem0 had it."""
        wanted, rest = _wanted(filters, scope, "get_all")
        count = _count(top_k, limit)
        out: list[dict[str, Any]] = []
        for hub in self._hubs_of(wanted):
            found = _all(hub, wanted.condition(rest), expired=show_expired)
            out += [_item(hub, memory) for memory in islice(found, count)]
        out.sort(key=lambda item: str(item["created_at"]), reverse=True)
        return {"results": out[:count]}

    def search(
        self,
        query: str,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        threshold: float | None = None,
        rerank: bool = False,
        explain: bool = False,
        reference_date: float | date | str | None = None,
        **scope: Any,
    ) -> dict[str, Any]:
        """The memories of a scope that answer a query, best first. The score is the probability
        that they do; `threshold` is the least of it, and without one recall decides what is too
        unlikely. `reference_date` is what 'yesterday' in the query counts from."""
        if not isinstance(query, str) or not query.strip():
            raise InvalidInput("The query is empty.", hint="Give a text to search for.")
        if threshold is not None and not 0 <= threshold <= 1:
            raise InvalidInput(f"The threshold is between 0 and 1, not {threshold!r}.")
        wanted, rest = _wanted(filters, scope, "search")
        count = _count(top_k, limit)
        now = _moment("reference_date", reference_date)
        found: list[tuple[HubMemory, Hit]] = []
        for hub in self._hubs_of(wanted):
            hits = hub.recall(
                query,
                limit=min(count, _HITS_MAX) or 1,
                where=wanted.condition(rest),
                plain=True,
                turns=False,
                now=now,
                # A threshold takes the place of recall's own.
                caution=None if threshold is None else 0.0,
            )
            found += [(hub, hit) for hit in hits if _shown(hit.memory)]
        found.sort(key=lambda one: one[1].probability, reverse=True)
        least = 0.0 if threshold is None else threshold
        results = []
        for hub, hit in found[:count]:
            if hit.probability >= least:
                item = {**_item(hub, hit.memory), "score": hit.probability}
                if explain:
                    item["score_details"] = {**hit.parts, "why": list(hit.why)}
                results.append(item)
        return {"results": results}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """The history of a memory, oldest first."""
        found = self._find(memory_id, forgotten=True)
        if found is None:
            return []
        hub, memory = found
        changes = (_change(memory_id, entry) for entry in hub.history(memory.id))
        return [change for change in changes if change is not None]

    def chat(self, query: str) -> Any:
        """Not there, as in mem0."""
        raise NotImplementedError("Chat is not implemented.")

    # ── finding ──────────────────────────────────────────────────────────────────────────────

    def _hubs_of(self, scope: _Scope) -> Iterator[HubMemory]:
        """The hubs in which memories of a scope may be: that of the user, or, where no user is
        named, all that an agent or a run may have written to."""
        if "user_id" in scope.ids:
            hub = self._hubs.find(*scope.labels)
            if hub is not None:
                yield hub
            return
        for label in _LABELS.values():
            for _, hub in self._hubs.below(label):
                yield hub

    def _find(self, memory_id: str, *, forgotten: bool = False) -> tuple[HubMemory, Kept] | None:
        reference, at, name = str(memory_id).partition("@")
        if not at or not name.startswith(f"{self._hubs.app}."):
            return None
        try:
            hub = self._hubs.memory.hub(name)
            return hub, hub.find(reference) if forgotten else hub.get(reference)
        except (NotFound, InvalidInput):
            return None

    def _required(self, memory_id: str) -> tuple[HubMemory, Kept]:
        found = self._find(memory_id)
        if found is None:
            raise InvalidInput(f"Memory with id {memory_id} not found.", hint="Use an id of add().")
        return found


def _coroutine(method: Callable[..., R]) -> Callable[..., Coroutine[Any, Any, R]]:
    """A method of `Memory` as one of `AsyncMemory`, which runs it in a thread."""

    @wraps(method)
    async def call(self: AsyncMemory, *args: Any, **values: Any) -> R:
        return cast("R", await in_thread(method, self.wrapped, *args, **values))

    return call


class AsyncMemory:
    """The interface of mem0's library with coroutines, as its `AsyncMemory`."""

    def __init__(
        self,
        config: Any = None,
        *,
        memory: Memories | AsyncHoldfast | None = None,
        app: str = DEFAULT_APP,
    ) -> None:
        self.wrapped = Memory(config, memory=memory, app=app)

    @classmethod
    async def from_config(cls, config_dict: Mapping[str, Any]) -> AsyncMemory:
        return cls(config_dict)

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self.wrapped.close()

    add = _coroutine(Memory.add)
    update = _coroutine(Memory.update)
    delete = _coroutine(Memory.delete)
    delete_all = _coroutine(Memory.delete_all)
    reset = _coroutine(Memory.reset)
    get = _coroutine(Memory.get)
    get_all = _coroutine(Memory.get_all)
    search = _coroutine(Memory.search)
    history = _coroutine(Memory.history)


# ── scopes and filters ───────────────────────────────────────────────────────────────────────


class _Scope(NamedTuple):
    """The owner of memories: at least one of user_id, agent_id and run_id."""

    ids: dict[str, str]

    @classmethod
    def of(cls, **given: Any) -> _Scope:
        ids = {}
        for name, value in given.items():
            if value is None:
                continue
            if isinstance(value, Mapping | list | tuple) or value == "*":
                raise InvalidInput(
                    f"The {name} has to be one id, not {value!r}.",
                    hint="Ask for each of several users, agents or runs by itself.",
                )
            text = str(value).strip()
            if not text or any(char.isspace() for char in text):
                raise InvalidInput(f"The {name} {value!r} is empty or has whitespace in it.")
            ids[name] = text
        if not ids:
            raise InvalidInput(
                "At least one of 'user_id', 'agent_id' or 'run_id' must be provided.",
                hint='For example filters={"user_id": "alice"}.',
            )
        return cls(ids)

    @property
    def labels(self) -> tuple[str, str]:
        """The labels of the hub that a new memory goes to."""
        name = next(name for name in _SCOPES if name in self.ids)
        return _LABELS[name], self.ids[name]

    def condition(self, filters: Mapping[str, Any]) -> dict[str, Any] | None:
        """The conditions for memories of this scope in their hub."""
        tests: list[dict[str, Any]] = [
            {f"metadata.{name}": value} for name, value in self.ids.items() if name != "user_id"
        ]
        if filters:
            tests.append(_translated(filters))
        return {"AND": tests} if tests else None


def _wanted(
    filters: Mapping[str, Any] | None, scope: Mapping[str, Any], method: str
) -> tuple[_Scope, dict[str, Any]]:
    """The scope that filters name, and the rest of them."""
    if unknown := set(scope) - set(_SCOPES) - {"version", "show_expired"}:
        raise InvalidInput(f"{method}() has no parameter {', '.join(sorted(unknown))}.")
    if not isinstance(filters, Mapping | None):
        raise InvalidInput(_NO_OBJECT)
    rest = {_group_of(name) or name: wanted for name, wanted in (filters or {}).items()}
    ids = {name: value for name, value in scope.items() if name in _SCOPES and value is not None}
    together = rest.get("AND")
    if isinstance(together, list):
        # The scope may also be one of the conditions that must all hold.
        for one in together:
            if isinstance(one, Mapping) and len(one) == 1:
                ids |= {name: one[name] for name in _SCOPES if isinstance(one.get(name), str)}
        left = [
            one for one in together if not (isinstance(one, Mapping) and set(one) <= set(_SCOPES))
        ]
        rest = {**rest, "AND": left} if left else {k: v for k, v in rest.items() if k != "AND"}
    ids |= {name: rest.pop(name) for name in _SCOPES if name in rest}
    return _Scope.of(**ids), rest


def _translated(filters: Mapping[str, Any]) -> dict[str, Any]:
    """mem0's filters as conditions on the metadata, and on the times of a memory."""
    if not isinstance(filters, Mapping):
        raise InvalidInput(_NO_OBJECT)
    tests: list[dict[str, Any]] = []
    for name, wanted in filters.items():
        if group := _group_of(name):
            several = [wanted] if group == "NOT" and isinstance(wanted, Mapping) else wanted
            if not isinstance(several, list) or not several:
                raise InvalidInput(f"{name} needs a list of conditions that is not empty.")
            tests.append({group: [_translated(one) for one in several]})
            continue
        tests.append({_path(name): {"exists": True} if wanted == "*" else wanted})
    return tests[0] if len(tests) == 1 else {"AND": tests}


_NO_OBJECT = 'A filter has to be an object such as {"user_id": "alice", "score": {"gte": 3}}.'


def _group_of(name: Any) -> str:
    """AND, OR or NOT, also in lower case and with a dollar sign; empty for the name of a field."""
    group = str(name).removeprefix("$").upper()
    return group if group in _GROUPS else ""


def _path(name: Any) -> str:
    """The path in a memory of the field that a filter names."""
    if name in _TIMES:
        return str(name)
    escaped = str(name).replace(".", "\\.")
    return f"metadata.{name}" if name in _SCOPES else f"metadata.{_GIVEN}.{escaped}"


def _count(top_k: int | None, limit: int | None) -> int:
    found = top_k if top_k is not None else limit if limit is not None else 20
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise InvalidInput(f"The number of results is 0 or more, not {found!r}.")
    return found


def _all(hub: HubMemory, where: dict[str, Any] | None, *, expired: bool = False) -> Iterator[Kept]:
    cursor = None
    while True:
        page = hub.list(where=where, limit=_PAGE, cursor=cursor)
        yield from (memory for memory in page if _shown(memory))
        cursor = page.cursor
        if cursor is None:
            break
    if expired and where is None:
        now = now_of(hub)
        yield from (one for one in hub.scan() if one.expires_at and one.expires_at <= now)


def _shown(memory: Kept) -> bool:
    return not (memory.key or "").startswith(MESSAGE_KEY)


def _forget(hub: HubMemory, memories: list[Kept]) -> None:
    ids = [memory.id for memory in memories]
    for start in range(0, len(ids), _PAGE):
        hub.forget_many(ids[start : start + _PAGE])


# ── what is said ─────────────────────────────────────────────────────────────────────────────


def _messages(given: Any) -> list[dict[str, Any]]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if isinstance(given, Mapping):
        return [dict(given)]
    if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
        raise InvalidInput("The messages must be a text, a dictionary or a list of dictionaries.")
    return [dict(one) for one in given]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = (one.get("text", "") for one in content if isinstance(one, Mapping))
        content = "\n".join(part for part in parts if isinstance(part, str))
    return content.strip() if isinstance(content, str) else ""


def _texts(
    said: list[dict[str, Any]], *, infer: bool, memory_type: str | None, at: datetime
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The texts to remember, with their fields."""
    if memory_type == _PROCEDURAL:
        lines = [f"{one.get('role', 'user')}: {_text(one)}" for one in said if _text(one)]
        if lines:
            yield "\n".join(lines), {"kind": "procedural", "content_type": "markdown"}
        return
    from holdfast.text.capture import capture

    before = ""
    for message in said:
        role, text = str(message.get("role") or "user"), _text(message)
        if not text or role == "system":
            continue
        if not infer:
            trust = "user" if role == "user" else "agent"
            yield text, {"role": role, "trust": trust}
        elif role == "user":
            facts = capture(text, at=at, question=before)
            for fact in facts:
                yield (
                    fact.text,
                    {
                        "category": fact.category,
                        "occurred_at": fact.occurred_at,
                        "occurred_until": fact.occurred_until,
                    },
                )
            if not facts and not text.endswith("?"):
                yield text, {}
        before = text if role != "user" else ""


def _moment(name: str, given: float | date | str | None) -> datetime | None:
    """A time as mem0 has it: seconds since 1970, a time with its zone, or a day, which begins at
    midnight UTC."""
    if given is None or isinstance(given, datetime):
        return clean_time(given)
    if isinstance(given, date):
        return datetime.combine(given, time(), UTC)
    try:
        if isinstance(given, str):
            is_day = len(given.strip()) == len("2026-05-27")
            return clean_time(f"{given.strip()}T00:00:00Z" if is_day else given)
        if not isinstance(given, bool):
            return datetime.fromtimestamp(given, UTC)
    except (InvalidInput, OverflowError, OSError, TypeError, ValueError):
        pass
    raise InvalidInput(
        f"The {name} {given!r} is not a time.",
        hint="Give seconds since 1970, or text such as 2026-05-27 or 2026-05-27T14:30:00Z.",
    )


def _expiry(given: date | str | None) -> datetime | None:
    """The end of the last day on which a memory holds."""
    if given is None:
        return None
    if isinstance(given, str):
        try:
            given = date.fromisoformat(given)
        except ValueError:
            raise InvalidInput(
                f"The expiration_date {given!r} is not a date.", hint="Write it as YYYY-MM-DD."
            ) from None
    day = given.date() if isinstance(given, datetime) else given
    # Not the next day's beginning: programs write 9999-12-31 for never.
    return datetime.combine(day, time.max, UTC)


# ── as mem0 shows it ─────────────────────────────────────────────────────────────────────────


def _id(hub: HubMemory, memory: Kept) -> str:
    return f"{memory.id}@{hub.name}"


def _result(hub: HubMemory, done: Remembered) -> dict[str, Any]:
    event = "NONE" if isinstance(done, Duplicate) else "ADD" if isinstance(done, Stored) else ""
    out = {"id": _id(hub, done.memory), "memory": done.memory.content, "event": event or "UPDATE"}
    previous = getattr(done, "previous", None)
    if previous is not None:
        out["previous_memory"] = previous.content
    return out


def _item(hub: HubMemory, memory: Kept) -> dict[str, Any]:
    found = memory.metadata
    out: dict[str, Any] = {
        "id": _id(hub, memory),
        "memory": memory.content,
        "hash": memory.content_hash,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
        "metadata": found.get(_GIVEN) or None,
    }
    out |= {name: found[name] for name in (*_SCOPES, "role") if name in found}
    if memory.expires_at is not None:
        last = memory.expires_at - timedelta(microseconds=1)
        out["expiration_date"] = last.date().isoformat()
    return out


def _change(memory_id: str, entry: Entry) -> dict[str, Any] | None:
    before, after = entry.before, entry.after
    gone = after.forgotten_at is not None
    if before is None:
        event = "ADD"
    elif gone and before.forgotten_at is None:
        event = "DELETE"
    elif before.content != after.content:
        event = "UPDATE"
    else:
        return None
    return {
        "id": entry.change.id,
        "memory_id": memory_id,
        "old_memory": None if before is None else before.content,
        "new_memory": None if gone else after.content,
        "event": event,
        "created_at": after.created_at.isoformat(),
        "updated_at": entry.revision.at.isoformat(),
        "is_deleted": int(gone),
        "actor_id": after.metadata.get("actor_id"),
        "role": after.metadata.get("role"),
    }
