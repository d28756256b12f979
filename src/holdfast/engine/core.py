"""The values that every operation needs. `Core` is the open store with its clock, ids, actor,
settings and embedder. It also collects the counters that are written later, and the memories that
an operation held for review, so that every edge can report them. `Scope` is the value that
operations take: one hub of a core."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime, tzinfo
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast.domain.hub import Viewer
from holdfast.domain.memory import AWAITS, Memory
from holdfast.engine.writing.redact import Redactor
from holdfast.engine.writing.redacting_store import guarded
from holdfast.errors import DeadlineExceeded, EmbedderError, Forbidden, HoldfastError, NotFound
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.domain.change import Receipt
    from holdfast.domain.clock import Clock, Ids
    from holdfast.domain.hub import Act, Hub, PersonName
    from holdfast.embed import Embedder
    from holdfast.llm import Model
    from holdfast.recall.vector import VectorCache
    from holdfast.settings import Settings
    from holdfast.store.base import Reader, Store, Writer

    class Background(Protocol):
        """Work in a background thread. `start` starts or restarts it; `stop` stops it permanently,
        after the current piece of work."""

        def start(self) -> None: ...
        def stop(self) -> None: ...
        def wait(self) -> None: ...


class HeldLog:
    """Collects held memories for each thread until `take` is called."""

    def __init__(self) -> None:
        self._mine = threading.local()

    def note(self, memory: Memory) -> None:
        """Notes a memory that is held for review. Questions for a person have a list of their
        own."""
        if memory.quarantine and memory.quarantine != AWAITS:
            self._held()[memory.id] = memory

    def take(self) -> list[Memory]:
        """The memories that this thread has noted since the last call, each once."""
        held = list(self._held().values())
        self._mine.held = {}
        return held

    def _held(self) -> dict[str, Memory]:
        held: dict[str, Memory] | None = getattr(self._mine, "held", None)
        if held is None:
            held = self._mine.held = {}
        return held


# Shown counts are written when this many have gathered, and when the store is closed. Each write
# invalidates the caches of readers.
_SHOWN_MAX = 4_096


# Called before an action, with the memory it is about; raises Forbidden.
Permit: TypeAlias = "Callable[[Act, Memory | None], None]"


class _Shared:
    """State that is shared by every Core of one open store."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.vectors: VectorCache | None = None
        self.embedder: Embedder | None = None
        self.embedder_looked_up = False
        self.background: dict[str, Background] = {}
        # Whether a worker runs the jobs, so that no thread is started for them.
        self.has_worker = False
        self.shown: list[tuple[str, str]] = []
        # The time on the monotonic clock from which background work disturbs no operation.
        self.quiet_at = 0.0


def _no_model(name: str, settings: Settings) -> None:
    return None


def _utc(settings: Settings) -> tzinfo:
    return UTC


class Core:
    """One open store and its surroundings. Thread-safe."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        ids: Ids,
        actor: PersonName,
        settings: Settings,
        find_embedder: Callable[[], Embedder | None],
        find_model: Callable[[str, Settings], Model | None] = _no_model,
        find_zone: Callable[[Settings], tzinfo] = _utc,
    ) -> None:
        # All input is redacted by it; the wrapped store checks everything once more.
        self.redactor = Redactor(store, settings, clock.now)
        self.store = guarded(store, self.redactor)
        self.held = HeldLog()
        self.clock = clock
        self.ids = ids
        self.actor = actor
        # What `acting` sets. A viewer of None sees everything; a permit of None allows everything.
        self.viewer: Viewer | None = Viewer(actor)
        self.permit: Permit | None = None
        self.before_commit: Callable[[Writer], None] | None = None
        # The time on the monotonic clock at which reads are interrupted.
        self.read_deadline: float | None = None
        self.settings = settings
        # Objects of higher layers that live as long as the store is open, by name. They are closed
        # together with it.
        self.resources: dict[tuple[str, ...], Any] = {}
        # Turns logged since the store was opened, by hub. They decide when the log is pruned.
        self.turns_logged: dict[str, int] = {}
        # The most turns that a dialect's tools in this process leave in the log of a hub.
        self.log_limits: dict[str, int] = {}
        self._find_embedder = find_embedder
        self._find_model = find_model
        self._find_zone = find_zone
        self._shared = _Shared()

    def acting(
        self,
        actor: PersonName | None = None,
        *,
        viewer: Viewer | None = None,
        permit: Permit | None = None,
        sees_all: bool = False,
        deadline_s: float | None = None,
        before_commit: Callable[[Writer], None] | None = None,
    ) -> Core:
        """Derives a core for another actor, or with other limits. The store, the caches, the
        settings and the background work are shared. Only the actor is inherited; the other
        arguments start from their defaults.

        - `actor` owns what is written; by default the same as before.
        - `viewer` decides which memories are visible; by default those that the actor may see. With
          `sees_all` every memory is visible, for rules that treat all memories alike.
        - `permit` raises Forbidden for actions that the actor may not take; without it everything
          is allowed.
        - `deadline_s` ends reads after this many seconds.
        - `before_commit` is called with the writer at the end of each transaction, to record
          something exactly if the transaction is committed.
        """
        derived = Core.__new__(Core)
        vars(derived).update(vars(self))
        derived.actor = self.actor if actor is None else actor
        derived.viewer = None if sees_all else viewer or Viewer(derived.actor)
        derived.permit = permit
        derived.before_commit = before_commit
        derived.read_deadline = None if deadline_s is None else monotonic() + deadline_s
        return derived

    def require(self, act: Act, memory: Memory | None = None) -> None:
        """Raises Forbidden if the actor may not do this, or not with this memory."""
        if self.permit is not None:
            self.permit(act, memory)

    def allows(self, act: Act, memory: Memory | None = None) -> bool:
        """Whether the actor may do this. For operations that do less instead of failing."""
        try:
            self.require(act, memory)
        except Forbidden:
            return False
        return True

    def require_delete(self, memory: Memory) -> None:
        """Raises Forbidden if the actor may not delete this memory."""
        self.require("delete_own" if memory.owner == self.actor else "delete_any", memory)

    def allows_delete(self, memory: Memory) -> bool:
        return self.allows("delete_own" if memory.owner == self.actor else "delete_any", memory)

    def sees(self, memory: Memory) -> bool:
        return self.viewer is None or self.viewer.sees(memory)

    def receipts(self, reader: Reader, hub_id: str) -> list[Receipt]:
        """The receipts of a hub's purges. The reason is shown only to the person who purged and to
        local callers: the purged memory may have been private, and its visibility can no longer be
        checked."""
        return [
            one if self.permit is None or one.actor == self.actor else one._replace(reason="")
            for one in reader.receipts(hub_id)
        ]

    # Transactions, limited to what the viewer sees

    def read(self, *, deadline_s: float | None = None) -> AbstractContextManager[Reader]:
        if self.read_deadline is not None:
            left_s = self.read_deadline - monotonic()
            if left_s <= 0:
                raise DeadlineExceeded(
                    "The request took longer than it is allowed.",
                    hint="Ask for less at once, or have server.request_seconds raised.",
                )
            deadline_s = left_s if deadline_s is None else min(deadline_s, left_s)
        return self.store.read(deadline_s=deadline_s, viewer=self.viewer)

    def write(self, hub_id: str | None = None) -> AbstractContextManager[Writer]:
        """Begins a write transaction. With a hub's id it may touch only that hub, so that in a
        store with locks per hub, writers of other hubs need not wait."""
        if self.before_commit is None:
            return self.store.write(viewer=self.viewer, hub=hub_id)
        return self._write_with(self.before_commit, hub_id)

    @contextmanager
    def _write_with(
        self, before_commit: Callable[[Writer], None], hub_id: str | None
    ) -> Iterator[Writer]:
        with self.store.write(viewer=self.viewer, hub=hub_id) as writer:
            yield writer
            before_commit(writer)

    def now(self) -> datetime:
        return self.clock.now()

    def local_clock(self, at: datetime) -> datetime:
        """The person's local time at a moment, as if it were UTC. 'Tomorrow' is read from it,
        since a day that is named in words is stored as a day of UTC."""
        return at.astimezone(self._find_zone(self.settings)).replace(tzinfo=UTC)

    # The embedder

    @property
    def vectors(self) -> VectorCache:
        """The cache of vectors, created on first use: most commands compare none."""
        shared = self._shared
        if shared.vectors is None:
            from holdfast.recall.vector import VectorCache

            with shared.lock:
                shared.vectors = shared.vectors or VectorCache()
        return shared.vectors

    @property
    def embedder(self) -> Embedder | None:
        """The embedding model, loaded on first use; None if there is none."""
        shared = self._shared
        with shared.lock:
            if not shared.embedder_looked_up:
                shared.embedder = self._find_embedder()
                shared.embedder_looked_up = True
        return shared.embedder

    def embed(self, texts: Sequence[str]) -> tuple[str, list[bytes]]:
        """Returns the model's identity and a stored vector for each text; without a model, an empty
        identity and no vectors.

        If the model fails, the texts are stored without vectors: they are found by their words at
        once, and embedded later (`holdfast doctor --fix`, or when a model answers again).
        """
        embedder = self.embedder
        if embedder is None or not texts:
            return "", []
        from holdfast.embed import quantise

        try:
            return embedder.identity, quantise(embedder.embed_passages(texts))
        except EmbedderError:
            return "", []

    @property
    def is_model_loaded(self) -> bool:
        return self._shared.embedder is not None

    def catch_up(self, *, words: bool = False) -> bool:
        """Makes missing vectors in the background, if that is enabled and a model is loaded; and
        with `words`, indexes those of long turns in any case. Returns whether it is enabled."""
        if not self.settings["embed.background"]:
            return False
        if words or self.is_model_loaded:
            from holdfast.engine.writing.indexing import CatchUp

            self.start_background("catch-up", lambda: CatchUp(self))
        return True

    # Work in the background

    def start_background(self, name: str, make: Callable[[], Background]) -> None:
        """Starts or restarts background work. There is one thread of each name per open store."""
        shared = self._shared
        with shared.lock:
            if name not in shared.background:
                shared.background[name] = make()
            one = shared.background[name]
        one.start()

    def note_call(self, quiet_s: float) -> None:
        """Notes that an operation begins or ends, and how long background work should wait."""
        self._shared.quiet_at = monotonic() + quiet_s

    @property
    def quiet_at(self) -> float:
        """The time on the monotonic clock from which background work disturbs no operation."""
        return self._shared.quiet_at

    @property
    def has_worker(self) -> bool:
        """Whether a worker runs the jobs that are enqueued here."""
        return self._shared.has_worker

    @property
    def runs_upkeep(self) -> bool:
        """Whether threads of this process do the upkeep: not for a caller with a key, nor if a
        worker process does it."""
        return self.permit is None and not self.has_worker

    def set_has_worker(self, worked: bool) -> None:
        self._shared.has_worker = worked

    def wait(self) -> None:
        """Waits until the background work is done."""
        # Twice, because one thread's output may be work for another.
        for one in [*self._shared.background.values()] * 2:
            one.wait()

    def stop(self) -> None:
        """Stops the background work and closes the resources of higher layers."""
        for one in [*self._shared.background.values()]:
            one.stop()
        for resource in self.resources.values():
            resource.close()
        self.resources.clear()

    # The language model

    def model(self, name: str = "") -> Model | None:
        """The language model that a pass's setting names; an empty name means the one of
        `llm.model`. None if there is no model; then the offline rules do the work. Looked up on
        each call, so that a changed setting takes effect at once."""
        return self._find_model(name or self.settings["llm.model"], self.settings)

    # Counters

    def count_shown(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        """Counts these memories as shown. The counts are written later, so that no reply waits for
        them. Callers without the write permission change no counts."""
        if not self.settings["recall.count_shown"] or not self.allows("write"):
            return
        shared = self._shared
        with shared.lock:
            shared.shown += [(hub_id, memory_id) for memory_id in memory_ids]
            due = len(shared.shown) >= _SHOWN_MAX
        if due:
            self.write_counters()

    def write_counters(self) -> None:
        """Writes the shown counts collected so far. Losing them would do no harm."""
        shared = self._shared
        with shared.lock:
            waiting, shared.shown = shared.shown, []
        if not waiting:
            return
        by_hub: dict[str, list[str]] = {}
        for hub_id, memory_id in waiting:
            by_hub.setdefault(hub_id, []).append(memory_id)
        for hub_id, memory_ids in by_hub.items():
            # A read-only folder or a full disk must not turn an answer into an error.
            with (
                suppress(HoldfastError),
                self.store.write(durable=False, hub=hub_id) as writer,
            ):
                if writer.hub_by_id(hub_id) is not None:
                    writer.count_shown(hub_id, memory_ids)


def require_hub(reader: Reader, hub_id: str, name: str) -> Hub:
    """The hub's record; raises NotFound if the hub has been removed."""
    hub = reader.hub_by_id(hub_id)
    if hub is None:
        raise NotFound(
            f"The hub `{name}` is not there any more.",
            hint="List the hubs to see which there are.",
            command="`holdfast hub list` shows what is.",
        )
    return hub


class Scope(NamedTuple):
    """One hub of one engine, used by one person.

    The core knows the actor, what they see and what they may do. `hub` is the hub's name for error
    messages; all lookups use `hub_id`. `beside` is the id of the person's own hub, if this is a
    project's hub that is read together with it."""

    core: Core
    hub_id: str
    hub: str
    beside: str = ""

    @property
    def actor(self) -> PersonName:
        """The person who acts and owns what is written."""
        return self.core.actor

    @property
    def settings(self) -> Settings:
        return self.core.settings

    @contextmanager
    def read(self, *, deadline_s: float | None = None) -> Iterator[Reader]:
        """A snapshot of the store that shows what the actor may see; raises NotFound if the hub has
        been removed. Further reads of the same operation use `scope.core.read()`, which does not
        look the hub up again."""
        with self.core.read(deadline_s=deadline_s) as reader:
            self.require_hub(reader)
            yield reader

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """A transaction on this hub; raises NotFound if the hub has been removed."""
        with self.core.write(self.hub_id) as writer:
            self.require_hub(writer)
            yield writer

    @contextmanager
    def read_unfiltered(self) -> Iterator[Reader]:
        """A snapshot that shows every memory, whatever the actor may see: for the files of the hub,
        which contain what the store does, and for upkeep."""
        with self.core.store.read() as reader:
            self.require_hub(reader)
            yield reader

    @contextmanager
    def write_unfiltered(self) -> Iterator[Writer]:
        """A transaction on this hub in which every memory is visible, and nothing but its own rows
        is recorded (`Core.acting`, `before_commit`)."""
        with self.core.store.write(hub=self.hub_id) as writer:
            self.require_hub(writer)
            yield writer

    def now(self) -> datetime:
        return self.core.now()

    def require(self, act: Act, memory: Memory | None = None) -> None:
        """Raises Forbidden if the actor may not do this, or not with this memory."""
        self.core.require(act, memory)

    def require_hub(self, reader: Reader) -> Hub:
        """The hub's record; raises NotFound if the hub has been removed."""
        return require_hub(reader, self.hub_id, self.hub)

    def acting(self, actor: PersonName | None = None, *, sees_all: bool = False) -> Scope:
        """The same hub for another actor, or with every memory visible; see `Core.acting`."""
        return self._replace(core=self.core.acting(actor, sees_all=sees_all))
