"""What every operation needs: `Core` is the open store with its clock, ids, actor, settings and
embedder; it also holds the counters that are written on the side, and which memories an operation
left for review, so that every edge can report them. `Scope` is the value that operations are given:
one hub of a core."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
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
        """Work in a thread of its own. `start` begins it, or begins it again; `stop` ends it for
        good, after the current piece of work."""

        def start(self) -> None: ...
        def stop(self) -> None: ...
        def wait(self) -> None: ...


class HeldLog:
    """Collects held memories for each thread until `take` is called."""

    def __init__(self) -> None:
        self._mine = threading.local()

    def note(self, memory: Memory) -> None:
        """Notes a memory that is held; a question for a person has a list of its own."""
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


# Shown counts are written when this many have gathered, and when the memory is closed: each write
# makes readers drop what they have cached.
_SHOWN_MAX = 4_096


# Called before an action, with the memory it is about; raises Forbidden.
Permit: TypeAlias = "Callable[[Act, Memory | None], None]"


class _Shared:
    """What every Core of one open store shares."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.vectors: VectorCache | None = None
        self.embedder: Embedder | None = None
        self.embedder_sought = False
        self.background: dict[str, Background] = {}
        # Whether a worker runs the jobs, so that no thread is started for them.
        self.worked = False
        self.shown: list[tuple[str, str]] = []
        # From when on background work disturbs no operation, by the monotonic clock.
        self.quiet_at = 0.0


def _no_model(name: str, settings: Settings) -> None:
    return None


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
    ) -> None:
        # Everything that is written goes through it; the wrapped store checks it once more.
        self.redactor = Redactor(store, settings, clock.now)
        self.store = guarded(store, self.redactor)
        self.held = HeldLog()
        self.clock = clock
        self.ids = ids
        self.actor = actor
        # What `acting` sets. A viewer of None sees everything; a permit of None allows everything.
        self.viewer: Viewer | None = Viewer(actor)
        self.permit: Permit | None = None
        self.also: Callable[[Writer], None] | None = None
        # When reads end, by the monotonic clock.
        self.until: float | None = None
        self.settings = settings
        # Objects that layers above keep while the store is open, by name; closed together with it.
        self.kept: dict[tuple[str, ...], Any] = {}
        # Turns logged since the store was opened, by hub: they tell when to prune the log.
        self.logged: dict[str, int] = {}
        # The number of turns that a dialect's tools in this process keep in the log of a hub.
        self.log_keeps: dict[str, int] = {}
        self._find_embedder = find_embedder
        self._find_model = find_model
        self._shared = _Shared()

    def acting(
        self,
        actor: PersonName | None = None,
        *,
        viewer: Viewer | None = None,
        permit: Permit | None = None,
        sees_all: bool = False,
        deadline_s: float | None = None,
        also: Callable[[Writer], None] | None = None,
    ) -> Core:
        """This engine for another actor, or with other limits. The store, the caches, the settings
        and the background work are shared; none of the arguments is inherited but the actor.

        - `actor` owns what is written; by default the same as before.
        - `viewer` decides which memories are visible; by default those that the actor may see.
          With `sees_all` every memory is, for rules that treat all memories alike.
        - `permit` raises Forbidden for what the actor may not do; without it everything is allowed.
        - `deadline_s` ends reads after this many seconds.
        - `also` is called with the writer at the end of each transaction, to record something
          exactly if the transaction is committed.
        """
        derived = Core.__new__(Core)
        vars(derived).update(vars(self))
        derived.actor = self.actor if actor is None else actor
        derived.viewer = None if sees_all else viewer or Viewer(derived.actor)
        derived.permit = permit
        derived.also = also
        derived.until = None if deadline_s is None else monotonic() + deadline_s
        return derived

    def require(self, act: Act, memory: Memory | None = None) -> None:
        """Forbidden where the actor may not do this, or not with this memory."""
        if self.permit is not None:
            self.permit(act, memory)

    def allows(self, act: Act, memory: Memory | None = None) -> bool:
        """Whether the actor may do this; for what is done differently where they may not."""
        try:
            self.require(act, memory)
        except Forbidden:
            return False
        return True

    def require_delete(self, memory: Memory) -> None:
        """Forbidden where the actor may not take this memory away."""
        self.require("delete_own" if memory.owner == self.actor else "delete_any", memory)

    def allows_delete(self, memory: Memory) -> bool:
        return self.allows("delete_own" if memory.owner == self.actor else "delete_any", memory)

    def sees(self, memory: Memory) -> bool:
        return self.viewer is None or self.viewer.sees(memory)

    def receipts(self, reader: Reader, hub_id: str) -> list[Receipt]:
        """What was purged in a hub. The reason is shown to the one who purged it and to local
        callers only: the purged memory may have been private, and nothing is left to tell."""
        return [
            one if self.permit is None or one.actor == self.actor else one._replace(reason="")
            for one in reader.receipts(hub_id)
        ]

    # Transactions, limited to what the actor sees

    def read(self, *, deadline_s: float | None = None) -> AbstractContextManager[Reader]:
        if self.until is not None:
            left_s = self.until - monotonic()
            if left_s <= 0:
                raise DeadlineExceeded(
                    "The request took longer than it is allowed.",
                    hint="Ask for less at once, or have server.request_seconds raised.",
                )
            deadline_s = left_s if deadline_s is None else min(deadline_s, left_s)
        return self.store.read(deadline_s=deadline_s, viewer=self.viewer)

    def write(self, hub_id: str | None = None) -> AbstractContextManager[Writer]:
        """A transaction; with a hub's id, one that touches that hub alone, so that writers of
        others need not wait for it where the store can tell them apart."""
        if self.also is None:
            return self.store.write(viewer=self.viewer, hub=hub_id)
        return self._write_also(self.also, hub_id)

    @contextmanager
    def _write_also(self, also: Callable[[Writer], None], hub_id: str | None) -> Iterator[Writer]:
        with self.store.write(viewer=self.viewer, hub=hub_id) as writer:
            yield writer
            also(writer)

    def now(self) -> datetime:
        return self.clock.now()

    # The embedder

    @property
    def vectors(self) -> VectorCache:
        """The vectors that were read, made when first asked for: most commands compare none."""
        shared = self._shared
        if shared.vectors is None:
            from holdfast.recall.vector import VectorCache

            with shared.lock:
                shared.vectors = shared.vectors or VectorCache()
        return shared.vectors

    @property
    def embedder(self) -> Embedder | None:
        """The embedding model, found when first asked for; None where there is none."""
        shared = self._shared
        with shared.lock:
            if not shared.embedder_sought:
                shared.embedder = self._find_embedder()
                shared.embedder_sought = True
        return shared.embedder

    def embed(self, texts: Sequence[str]) -> tuple[str, list[bytes]]:
        """The model's identity and a stored vector for each text; no identity, no vectors.

        Where the model fails, the texts are stored without vectors: they are found by their words
        at once, and embedded later (`holdfast doctor --fix`, or the next model that answers).
        """
        embedder = self.embedder
        if embedder is None or not texts:
            return "", []
        from holdfast.embed import quantise

        try:
            return embedder.identity, quantise(embedder.embed_passages(texts))
        except EmbedderError:
            return "", []

    def catch_up(self) -> None:
        """Makes missing vectors in the background, where that is wanted and there is a model."""
        shared = self._shared
        if self.settings["embed.background"] and shared.embedder is not None:
            from holdfast.engine.writing.indexing import CatchUp

            self.begin("catch-up", lambda: CatchUp(self))

    # Work in the background

    def begin(self, name: str, make: Callable[[], Background]) -> None:
        """Begins work in the background, or begins it again: there is one of each name for all who
        use this store."""
        shared = self._shared
        with shared.lock:
            if name not in shared.background:
                shared.background[name] = make()
            one = shared.background[name]
        one.start()

    def note_call(self, quiet_s: float) -> None:
        """Notes that an operation begins or ends, and for how long background work should wait."""
        self._shared.quiet_at = monotonic() + quiet_s

    @property
    def quiet_at(self) -> float:
        """From when on background work disturbs no operation, by the monotonic clock."""
        return self._shared.quiet_at

    @property
    def is_worked(self) -> bool:
        """Whether a worker runs the jobs that are enqueued here."""
        return self._shared.worked

    @property
    def upkeep_is_here(self) -> bool:
        """Whether threads of this process do the upkeep: not for a caller with a key, nor where a
        worker does it."""
        return self.permit is None and not self.is_worked

    def set_worked(self, worked: bool) -> None:
        self._shared.worked = worked

    def wait(self) -> None:
        """Waits for what runs in the background."""
        # Twice, as what one of them writes is work for another.
        for one in [*self._shared.background.values()] * 2:
            one.wait()

    def stop(self) -> None:
        """Ends what runs in the background, and closes what layers above keep open."""
        for one in [*self._shared.background.values()]:
            one.stop()
        for kept in self.kept.values():
            kept.close()
        self.kept.clear()

    # The language model

    def model(self, name: str = "") -> Model | None:
        """The language model that a pass's setting names; '' is the one of `llm.model`. None where
        there is none, and the offline rules do the work. Asked anew each time, so that a changed
        setting counts at once."""
        return self._find_model(name or self.settings["llm.model"], self.settings)

    # Counters

    def shown(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        """Counts these memories as shown; written later, so that no answer waits for it. A caller
        who may not write changes no counts."""
        if not self.settings["recall.count_shown"] or not self.allows("write"):
            return
        shared = self._shared
        with shared.lock:
            shared.shown += [(hub_id, memory_id) for memory_id in memory_ids]
            due = len(shared.shown) >= _SHOWN_MAX
        if due:
            self.write_counters()

    def write_counters(self) -> None:
        """Writes the shown counts that have gathered; losing them would be no harm."""
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
    """The hub, or a sentence that it is gone."""
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

    The core knows the actor, what they see and what they may do. `hub` is the name by which error
    messages call the hub; everything is looked up by `hub_id`. `beside` is the id of the person's
    own hub, where a project's hub is read together with it."""

    core: Core
    hub_id: str
    hub: str
    beside: str = ""

    @property
    def actor(self) -> PersonName:
        """Who acts: what is written is theirs."""
        return self.core.actor

    @property
    def settings(self) -> Settings:
        return self.core.settings

    @contextmanager
    def read(self, *, deadline_s: float | None = None) -> Iterator[Reader]:
        """A snapshot of the store that shows what the actor may see; raises NotFound if the hub has
        been removed. `scope.core.read()` does not look the hub up again, for further reads of the
        same operation."""
        with self.core.read(deadline_s=deadline_s) as reader:
            self.require_hub(reader)
            yield reader

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """A transaction on this hub; raises NotFound if the hub has been removed."""
        with self.core.write(self.hub_id) as writer:
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
