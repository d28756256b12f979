"""Holdfast as the store of LangGraph: long-term memory of graphs, across their threads.

Each namespace is a hub (see `hubs`), each item a memory in it. Memories that others stored in such
a hub are items too, with `content` as their value.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.adapters.hubs import (
    DEFAULT_APP,
    MESSAGE_KEY,
    VALUE,
    Hubs,
    needed,
    now_of,
    packed,
    text_of,
    unpacked,
)
from holdfast.api.asynchronous import in_thread
from holdfast.errors import InvalidInput, NotFound
from holdfast.text.clean import KEY_CHARS_MAX

with needed("langgraph", extra="langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
    )

if TYPE_CHECKING:
    from holdfast.adapters.hubs import Memories
    from holdfast.api.asynchronous import AsyncHoldfast
    from holdfast.api.hub import HubMemory
    from holdfast.domain.memory import Memory

# Before the digest of a key that cannot be one of a memory.
_DIGEST = "item/"
_ID = "mem_"
# In the metadata of an item: its key, where the memory has a digest of it, and the time to live.
_KEY = "item_key"
_TTL = "ttl_minutes"
# And this, where no query is to find it.
_UNINDEXED = "not_indexed"
# A read renews an expiry at most this often in its time: each renewal is a revision.
_RENEWALS = 20
_PAGE = 100
# What `recall` returns at most, and what is asked for where a filter is applied afterwards.
_HITS_MAX = 1_000
_REMEMBERED_AT_ONCE = 500
_COMPARED = {"$eq": "eq", "$gt": "gt", "$gte": "gte", "$lt": "lt", "$lte": "lte"}
_TEXT_CHARS_MAX = 1_000
# Of a longer filter, the rest is tested afterwards.
_TESTS_MAX = 16


class HoldfastStore(BaseStore):
    """A LangGraph store on an open memory. `app` names the application that has the
    hubs; `fields` are the paths of the values that are searched, by default all; `ttl` is the
    store's configuration of expiry.

    A search by a query gives the items that answer it, with a score: the probability that they do.
    As other stores give the nearest items however far they are, up to `limit` others follow with
    the score 0, the nearest first, then those updated last; `fill=False` leaves them out."""

    supports_ttl = True
    __slots__ = ("_fields", "_fill", "_hubs", "ttl_config")

    def __init__(
        self,
        memory: Memories | AsyncHoldfast,
        *,
        app: str = DEFAULT_APP,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        fill: bool = True,
    ) -> None:
        self._hubs = Hubs(memory, app)
        self._fields = list(fields) if fields is not None else None
        self.ttl_config = ttl
        self._fill = fill

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Runs operations: first all reads, then all writes, as LangGraph's own stores do. The
        writes to one namespace are one transaction."""
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            _check_namespace(op)
            if isinstance(op, PutOp):
                puts[(op.namespace, op.key)] = op
                results.append(None)
            elif isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._list_namespaces(op))
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        by_namespace: dict[tuple[str, ...], list[PutOp]] = {}
        for put in puts.values():
            by_namespace.setdefault(put.namespace, []).append(put)
        for namespace, several in by_namespace.items():
            self._put(namespace, several)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread."""
        return list(await in_thread(self.batch, list(ops)))

    def sweep_ttl(self) -> int:
        """Forgets expired items, which no read returns any more; says how many."""
        swept = 0
        for _, hub in self._hubs.below():
            now = now_of(hub)
            expired = [one.id for one in hub.scan() if one.expires_at and one.expires_at <= now]
            for start in range(0, len(expired), _PAGE):
                swept += len(hub.forget_many(expired[start : start + _PAGE], reason="expired"))
        return swept

    # ── reading ──────────────────────────────────────────────────────────────────────────────

    def _get(self, op: GetOp) -> Item | None:
        hub = self._hubs.find(*op.namespace)
        memory = None if hub is None else _find(hub, op.key)
        if hub is None or memory is None or not memory.current(now_of(hub)):
            return None
        if op.refresh_ttl:
            self._renew(hub, memory)
        return Item(
            value=unpacked(memory),
            key=op.key,
            namespace=op.namespace,
            created_at=memory.created_at,
            updated_at=memory.updated_at,
        )

    def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.offset + op.limit
        hubs = list(self._hubs.below(*op.namespace_prefix))
        if op.query:
            found = _ranked(hubs, op, wanted)
            if self._fill and len(found) < wanted:
                near = _ranked(hubs, op, wanted, caution=0.0)
                found = _joined(found, [one._replace(score=0.0) for one in near])
            if self._fill and len(found) < wanted:
                rest = [_Found(*at, one, 0.0) for at in hubs for one in _filling(at[1], op, wanted)]
                rest.sort(key=lambda one: one.memory.updated_at, reverse=True)
                rest.sort(key=lambda one: _UNINDEXED in one.memory.metadata)
                found = _joined(found, rest)
        else:
            found = [_Found(*at, one, None) for at in hubs for one in _listed(at[1], op, wanted)]
            found.sort(key=lambda one: one.memory.updated_at, reverse=True)
        found = found[op.offset : wanted]
        if op.refresh_ttl:
            for one in found:
                self._renew(one.hub, one.memory)
        return [one.item for one in found]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        found = {
            namespace if op.max_depth is None else namespace[: op.max_depth]
            for namespace, hub in self._hubs.below()
            if all(_matches(one, namespace) for one in conditions) and hub.list(limit=1)
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    def _renew(self, hub: HubMemory, memory: Memory) -> None:
        """Puts the expiry of an item off that was read."""
        minutes = memory.metadata.get(_TTL)
        if not isinstance(minutes, int | float) or memory.expires_at is None:
            return
        now, time_to_live = now_of(hub), timedelta(minutes=minutes)
        if memory.expires_at - now <= time_to_live * (1 - 1 / _RENEWALS):
            hub.update(memory.id, expires_at=now + time_to_live, reason="read")

    # ── writing ──────────────────────────────────────────────────────────────────────────────

    def _put(self, namespace: tuple[str, ...], puts: Sequence[PutOp]) -> None:
        kept = [put for put in puts if put.value is not None]
        gone = [put.key for put in puts if put.value is None]
        hub = self._hubs.make(*namespace) if kept else self._hubs.find(*namespace)
        if hub is None:
            return
        drafts = []
        for put in kept:
            fields = self._fields_of(put, hub)
            # The key of an item that was not put here may be its id.
            other = _by_id(hub, put.key)
            if other is None:
                drafts.append((put, fields))
            else:
                del fields["key"], fields["content_type"]
                hub.update(other.id, **fields)
        for start in range(0, len(drafts), _REMEMBERED_AT_ONCE):
            part = drafts[start : start + _REMEMBERED_AT_ONCE]
            results = hub.remember_many([fields for _, fields in part])
            for (put, _), result in zip(part, results, strict=True):
                if put.ttl is None and result.memory.expires_at is not None:
                    hub.update(result.memory.id, expires_at=None)
        for key in gone:
            memory = _find(hub, key)
            if memory is not None:
                hub.forget(memory.id)

    def _fields_of(self, put: PutOp, hub: HubMemory) -> dict[str, Any]:
        if not isinstance(put.value, Mapping):
            kind = type(put.value).__name__
            raise ValueError(f"A value must be a dictionary, not {kind}: {{'content': …}}.")
        value = dict(put.value)
        text = self._indexed_text(value, put.index)
        content, metadata = packed(value, text or text_of(value))
        if not text:
            metadata[_UNINDEXED] = True
        metadata |= self._hubs.scope_metadata(*put.namespace)
        key = _stored_key(put.key)
        if key != put.key:
            metadata[_KEY] = put.key
        expires_at = None
        if put.ttl is not None:
            metadata[_TTL] = put.ttl
            expires_at = now_of(hub) + timedelta(minutes=put.ttl)
        return {
            "content": content,
            "key": key,
            "metadata": metadata,
            "expires_at": expires_at,
            # Structured, so that an item neither replaces another one nor is taken for a statement.
            "content_type": "structured",
        }

    def _indexed_text(self, value: Mapping[str, Any], index: Any) -> str:
        """The text that is searched; empty if none is."""
        fields = self._fields if index is None else index
        if fields is False:
            return ""
        if fields is None or "$" in fields:
            return text_of(value)
        texts = [text for path in fields for text in get_text_at_path(value, tokenize_path(path))]
        return "\n".join(texts)


class _Found(NamedTuple):
    """An item that a search has found."""

    namespace: tuple[str, ...]
    hub: HubMemory
    memory: Memory
    score: float | None = None

    @property
    def item(self) -> SearchItem:
        return SearchItem(
            namespace=self.namespace,
            key=str(self.memory.metadata.get(_KEY, self.memory.key or self.memory.id)),
            value=unpacked(self.memory),
            created_at=self.memory.created_at,
            updated_at=self.memory.updated_at,
            score=self.score,
        )


def _check_namespace(op: Op) -> None:
    paths: list[tuple[str, ...]] = []
    if isinstance(op, GetOp | PutOp):
        if not op.namespace:
            raise InvalidNamespaceError("The namespace cannot be empty.")
        paths = [op.namespace]
    elif isinstance(op, SearchOp):
        paths = [op.namespace_prefix]
    elif isinstance(op, ListNamespacesOp):
        paths = [condition.path for condition in op.match_conditions or ()]
    for label in (label for path in paths for label in path):
        if not isinstance(label, str) or not label or "." in label or "\0" in label:
            raise InvalidNamespaceError(
                f"{label!r} cannot be a label of a namespace: use a text that is not empty and has"
                " no periods and no NUL characters."
            )


def _find(hub: HubMemory, key: str) -> Memory | None:
    try:
        return hub.get(_stored_key(key))
    except NotFound:
        return _by_id(hub, key)


def _by_id(hub: HubMemory, key: str) -> Memory | None:
    if not key.startswith(_ID):
        return None
    try:
        return hub.get(key)
    except (NotFound, InvalidInput):
        return None


def _stored_key(key: str) -> str:
    """The key of the memory of an item: its own where that can be one, else a digest of it."""
    if (
        0 < len(key) <= KEY_CHARS_MAX
        and key == unicodedata.normalize("NFC", key).strip()
        and key.isprintable()
        and not key.startswith((_ID, _DIGEST))
        and not key.removeprefix("#").isdecimal()
    ):
        return key
    return _DIGEST + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


# ── finding ──────────────────────────────────────────────────────────────────────────────────


def _filling(hub: HubMemory, op: SearchOp, wanted: int) -> list[Memory]:
    """What a query is filled up with: items that are not indexed only where the others are too
    few, also where they were updated later."""
    indexed = _listed(hub, op, wanted, {_UNINDEXED: {"exists": False}})
    return indexed + _listed(hub, op, wanted - len(indexed), {_UNINDEXED: {"exists": True}})


def _listed(hub: HubMemory, op: SearchOp, wanted: int, *conditions: dict[str, Any]) -> list[Memory]:
    """The items of a hub that meet the filter, those updated last first."""
    tests = [*conditions, *([found] if (found := _condition(op)) else [])]
    where = {"AND": tests} if tests else None
    out: list[Memory] = []
    cursor = None
    while len(out) < wanted:
        page = hub.list(where=where, order="updated", limit=_PAGE, cursor=cursor)
        out += [memory for memory in page if _passes(memory, op)]
        cursor = page.cursor
        if cursor is None:
            break
    return out[:wanted]


def _ranked(
    hubs: list[tuple[tuple[str, ...], HubMemory]],
    op: SearchOp,
    wanted: int,
    caution: float | None = None,
) -> list[_Found]:
    """The items of all hubs that answer the query, best first."""
    found = [_Found(*at, *hit) for at in hubs for hit in _hits(at[1], op, wanted, caution)]
    # Unlike scores, probabilities can be compared between hubs.
    found.sort(key=lambda one: one.score or 0.0, reverse=True)
    return found


def _joined(found: list[_Found], rest: list[_Found]) -> list[_Found]:
    there = {one.memory.id for one in found}
    return found + [one for one in rest if one.memory.id not in there]


def _hits(
    hub: HubMemory, op: SearchOp, wanted: int, caution: float | None
) -> list[tuple[Memory, float]]:
    """The items of a hub that answer the query and meet the filter, best first; with a caution of
    0 the nearest, whether they answer or not."""
    limit = min(_HITS_MAX, wanted * 4 if op.filter else wanted)
    found = hub.recall(
        op.query or "",
        limit=limit,
        where=_condition(op),
        plain=True,
        turns=False,
        caution=caution,
    )
    hits = [
        (hit.memory, hit.probability)
        for hit in found
        if _UNINDEXED not in hit.memory.metadata and _passes(hit.memory, op)
    ]
    return hits[:wanted]


def _passes(memory: Memory, op: SearchOp) -> bool:
    if (memory.key or "").startswith(MESSAGE_KEY):
        return False
    value = unpacked(memory)
    return all(_compares(_at(value, name), one) for name, one in (op.filter or {}).items())


def _at(value: Any, name: str) -> Any:
    """The part of a value under a name, or under a path with dots."""
    if name in value or "." not in name:
        return value.get(name)
    for part in name.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def _condition(op: SearchOp) -> dict[str, Any] | None:
    """What of a filter the store of memories can test itself: a superset passes, and the rest is
    tested afterwards."""
    tests: list[dict[str, Any]] = []
    for name, wanted in (op.filter or {}).items():
        # A name with dots may be a path; the value of what others stored has `content` alone.
        if not name or name == "content" or "." in name or not name.isprintable():
            continue
        path = f"metadata.{VALUE}.{name}"
        for operator, value in (wanted if isinstance(wanted, Mapping) else {"$eq": wanted}).items():
            known = _COMPARED.get(operator)
            if known is not None and _can_be_compared(value):
                # Large values are not in the metadata.
                tests.append({"OR": [{path: {known: value}}, {f"metadata.{VALUE}": None}]})
    return {"AND": tests[:_TESTS_MAX]} if tests else None


def _can_be_compared(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _TEXT_CHARS_MAX and value.isprintable()
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) and abs(value) < 2**53


def _compares(value: Any, wanted: Any) -> bool:
    """Whether a value meets a filter, by LangGraph's rules."""
    if isinstance(wanted, Mapping):
        if any(isinstance(name, str) and name.startswith("$") for name in wanted):
            return all(_meets(value, operator, one) for operator, one in wanted.items())
        return isinstance(value, Mapping) and all(
            _compares(value.get(name), one) for name, one in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(_compares(*pair) for pair in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _meets(value: Any, operator: str, wanted: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return bool(value == wanted) == (operator == "$eq")
    if operator not in _COMPARED:
        raise ValueError(
            f"The filter has the operator {operator!r}; there are $eq, $ne, $gt, $gte, $lt, $lte."
        )
    try:
        left, right = float(value), float(wanted)
    except (TypeError, ValueError):
        return False
    return {
        "$gt": left > right,
        "$gte": left >= right,
        "$lt": left < right,
        "$lte": left <= right,
    }[operator]


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return not path or all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
