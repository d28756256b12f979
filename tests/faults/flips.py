"""Random bytes flipped in a store's file, and what every read answers before and after.

The rule that a trial checks: either `doctor` finds damage, or every read answers as it did before
the flip, to the byte. After `doctor --fix` the store is healthy, and whatever could be read on the
damaged store is still there.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from holdfast.api.memory import Holdfast
from holdfast.domain.change import Receipt
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.domain.query import EVERYTHING, ORDERS, Filter
from holdfast.domain.records import NO_HUB, Agreed, Clash, Record
from holdfast.engine.upkeep.doctor import examine, mend
from holdfast.errors import HoldfastError, NotFound, StoreDamaged
from holdfast.store.base import Reader
from holdfast.store.values import TermQuery, TextQuery
from holdfast.testing import START, FixedClock, HashEmbedder, open_for_tests

PAGE = 4096
_ALL = 10_000
_WORDS = ("apples", "pears", "kitchen", "meeting", "budget", "garden", "Lisbon", "train")


def open_home(folder: Path) -> Holdfast:
    ids = TimeIds(SystemClock())
    return open_for_tests(folder, clock=FixedClock(), ids=ids, embedder=HashEmbedder())


def fill(folder: Path, count: int = 40) -> None:
    """A store with rows in every table, several pages in most trees, overflow and free pages."""
    chance = random.Random(7)
    with open_home(folder) as memory:
        for name in ("work", "home"):
            hub = memory.create_hub(name)
            for n in range(count):
                words = " ".join(chance.choice(_WORDS) for _ in range(12))
                long = "A long report about the garden. " * 300 if n % 13 == 5 else ""
                hub.remember(
                    f"Note {n} of {name}: {words}. {long}",
                    key=f"key-{n}" if n % 3 == 0 else None,
                    tags=["fruit", f"tag{n}"] if n % 4 == 0 else None,
                    session=f"session-{n % 3}" if n % 2 else None,
                    speaker=("Ann", "Bob", "Cem")[n % 3],
                    source_path=f"notes/{n}.md" if n % 5 == 1 else None,
                )
            hub.update(1, content=f"The first note of {name} says plums now.")
            hub.update(1, title="Plums")
            hub.update(2, tags=["changed"])
            hub.forget(3)
            hub.pin(4)
            hub.purge(5)
            hub.update(6, content="Something to be taken back.")
            hub.undo()
            for n in range(20):
                hub.log_turn("user", f"Turn {n}: {chance.choice(_WORDS)} please", session="s")
            _put_others(memory, hub.id, name)
        # Leaves free pages.
        gone = memory.create_hub("gone")
        gone.remember_many([f"Gone {n}. " + "More. " * 300 for n in range(12)])
        memory.delete_hub("gone")
        # The vectors of turns are made later; the same reads have the same answers from here on.
        memory.embed_missing()


def _put_others(memory: Holdfast, hub_id: str, name: str) -> None:
    with memory.core.store.write() as writer:
        for n in range(6):
            writer.set_agreed(hub_id, Agreed(f"{n}.md", f"Line {n}.\n" * 40, START))
            writer.add_clash(
                hub_id, Clash(f"clash_{name}_{n}", f"mem_{n}", f"{n}.md", "ours", "theirs", START)
            )
            writer.add_receipt(hub_id, Receipt(f"mem_x{n}", 900 + n, START, "ann", "gone", 2))
            for owner in (hub_id, NO_HUB):
                due = START + timedelta(days=n) if n % 2 else None
                writer.put_record(
                    Record(owner, f"kind-{name}", f"rec{n}", START, {"n": n}, f"look{n}", due)
                )


Reads = dict[str, Any]
Question = tuple[str, Callable[[Reader], Any]]


def _questions() -> Iterator[Question]:
    """What is asked of the whole store."""
    yield "hubs", lambda r: r.hubs()
    yield "hub work", lambda r: r.hub("work")
    yield "hub home", lambda r: r.hub("home")
    late = START + timedelta(days=99)
    for kind in ("kind-work", "kind-home"):
        yield f"due {kind}", lambda r, kind=kind: r.due_records(kind, late, limit=_ALL)
    yield "records of no hub", lambda r: list(r.scan_records(NO_HUB))


def _questions_of(h: str, name: str, ids: list[str], changes: list[str]) -> Iterator[Question]:
    """What is asked of a hub: its rows, one by one and in lists, and its indexes."""
    rows: list[Question] = [
        ("visible", lambda r: r.memories(h, Filter(), order="newest", after=None, limit=_ALL)),
        ("all changes", lambda r: r.changes(h, limit=_ALL)),
        ("last undoable", lambda r: r.last_undoable(h)),
        ("all revisions", lambda r: list(r.scan_revisions(h))),
        ("changed after", lambda r: r.changed_after(h, START - timedelta(days=1))),
        ("receipts", lambda r: r.receipts(h)),
        ("turns", lambda r: r.turns(h, limit=_ALL)),
        ("turns of s", lambda r: r.turns(h, limit=_ALL, session="s")),
        ("all turns", lambda r: list(r.scan_turns(h))),
        ("all agreed", lambda r: list(r.scan_agreed(h))),
        ("clashes", lambda r: r.clashes(h, settled=True)),
        ("all records", lambda r: list(r.scan_records(h))),
        ("statistics", lambda r: r.statistics(h)),
        ("by use", lambda r: r.ids_by_use(h, EVERYTHING)),
        ("speakers", lambda r: r.speakers(h, limit=_ALL)),
        ("text", lambda r: list(r.matching(h, _TEXT, EVERYTHING, order="number"))),
        ("vectors", lambda r: list(r.vectors(h, _MODEL, after=0))),
        ("unembedded", lambda r: r.unembedded_count(h, _MODEL)),
    ]
    rows += [(f"by {order}", lambda r, o=order: _list(r, h, o)) for order in ORDERS]
    for one in ids:
        rows.append((f"memory {one}", lambda r, one=one: r.memory(h, one)))
        rows.append((f"revisions of {one}", lambda r, one=one: r.revisions(h, one)))
        rows.append((f"passages of {one}", lambda r, one=one: r.passages(h, [one])))
    # Those that there are, and one that there is not.
    for n in range(1, len(ids) + 2):
        rows.append((f"number {n}", lambda r, n=n: r.memory_by_number(h, n)))
        rows.append((f"key {n}", lambda r, n=n: r.memory_by_key(h, f"key-{n}")))
        rows.append((f"path {n}", lambda r, n=n: r.memory_by_path(h, f"notes/{n}.md")))
    for one in changes:
        rows.append((f"change {one}", lambda r, one=one: r.change(h, one)))
        rows.append((f"revisions in {one}", lambda r, one=one: r.revisions_of(h, one)))
    for n in range(6):
        kind, record, lookup = f"kind-{name}", f"rec{n}", f"look{n}"
        rows.append((f"agreed {n}", lambda r, n=n: r.agreed(h, f"{n}.md")))
        rows.append((f"record {n}", lambda r, k=kind, i=record: r.record(h, k, i)))
        rows.append((f"lookup {n}", lambda r, k=kind, i=lookup: r.record_by_lookup(h, k, i)))
    said = ("turn", "pear", "garden")
    rows += [(f"said {word}", lambda r, w=word: _said(r, h, w)) for word in said]
    for word in ("appl", "pear", "garden", "meet", "plum", "lisbon", "note", "fruit"):
        rows.append((f"word {word}", lambda r, w=word: _found(r, h, w)))
        rows.append((f"count of {word}", lambda r, w=word: r.lexicon(h, [w])))
        rows.append(
            (f"part {word}", lambda r, w=word: r.search_substring(h, w, EVERYTHING, limit=_ALL))
        )
    for question, act in rows:
        yield f"{name}: {question}", act


_TEXT = TextQuery("note", ("note",))
_MODEL = HashEmbedder().identity


def _list(reader: Reader, hub_id: str, order: Any) -> Any:
    return reader.memories(hub_id, EVERYTHING, order=order, after=None, limit=_ALL)


def _found(reader: Reader, hub_id: str, word: str) -> Any:
    # Damage may leave a text where a number was, or nothing.
    found = reader.search_terms(hub_id, TermQuery((word,)), EVERYTHING, limit=_ALL)
    return sorted(found, key=repr)


def _said(reader: Reader, hub_id: str, word: str) -> Any:
    wanted = EVERYTHING._replace(layers=("turn",), turns=True)
    return sorted(reader.search_terms(hub_id, TermQuery((word,)), wanted, limit=_ALL), key=repr)


class Known(NamedTuple):
    """What the questions are made of."""

    hubs: dict[str, str]
    memories: dict[str, list[str]]
    changes: dict[str, list[str]]


def known(memory: Holdfast) -> Known:
    with memory.core.store.read() as reader:
        hubs = {hub.name: hub.id for hub in reader.hubs()}
        return Known(
            hubs,
            {
                name: [
                    one.id
                    for one in reader.memories(
                        hub_id, EVERYTHING, order="number", after=None, limit=_ALL
                    )
                ]
                for name, hub_id in hubs.items()
            },
            {
                name: [one.id for one in reader.scan_changes(hub_id)]
                for name, hub_id in hubs.items()
            },
        )


def read_everything(home: Path, asked: Known) -> Reads:
    """The answer to every question, or the StoreDamaged that it raised; on a copy, since recall
    counts what it shows."""
    copy = home.with_name(f"{home.name}-read")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(home, copy)
    with open_home(copy) as memory:
        return _answers(memory, asked)


def _answers(memory: Holdfast, asked: Known) -> Reads:
    out: Reads = {}
    questions = list(_questions())
    for name, hub_id in asked.hubs.items():
        questions += _questions_of(hub_id, name, asked.memories[name], asked.changes[name])
    for name, act in questions:
        try:
            with memory.core.store.read() as reader:
                out[name] = act(reader)
        except StoreDamaged as error:
            out[name] = error
    for name in asked.hubs:
        for text in ("apples in the kitchen", "plums", "budget meeting in Lisbon"):
            try:
                hits = memory.hub(name).recall(text, limit=5)
                out[f"{name}: recall {text}"] = [(hit.memory.id, hit.score) for hit in hits]
            except StoreDamaged as error:
                out[f"{name}: recall {text}"] = error
            except NotFound as error:
                # Of a hub that is there: a wrong answer, and no error.
                out[f"{name}: recall {text}"] = str(error)
    return out


class Trial(NamedTuple):
    """What one trial showed."""

    where: str
    found: bool
    changed: list[str]
    """Reads that answer otherwise than before the flip, without an error."""
    failed: list[str]
    """Reads that raise StoreDamaged."""
    unopened: bool = False
    left: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    """Reads that were right before the repair and are not after it."""
    repaired_all: bool = False

    @property
    def wrong(self) -> list[str]:
        """Why the trial failed; empty where it did not."""
        out = []
        if not self.found and (self.changed or self.failed):
            out.append(f"called healthy: {(self.changed + self.failed)[:3]}")
        if self.left:
            out.append(f"not healthy after the repair: {self.left[:3]}")
        if self.lost:
            out.append(f"lost by the repair: {self.lost[:3]}")
        return [f"{self.where}: {one}" for one in out]


def trees(database: Path) -> dict[str, list[int]]:
    """The pages of every table and index, and those that are free."""
    connection = apsw.Connection(str(database))
    pages: dict[str, list[int]] = {}
    for name, page in connection.execute("SELECT name, pageno FROM dbstat ORDER BY pageno"):
        pages.setdefault(str(name), []).append(int(page))
    count = connection.pragma("page_count")
    connection.close()
    used = {page for some in pages.values() for page in some}
    free = [page for page in range(1, int(count) + 1) if page not in used]
    return {**pages, "free pages": free} if free else pages


def indexes(database: Path) -> set[str]:
    """The names of the trees that are indexes of a table."""
    connection = apsw.Connection(str(database))
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index'").fetchall()
    connection.close()
    return {str(name) for (name,) in rows}


def flip(data: bytearray, page: int, chance: random.Random) -> str:
    """Changes 1 to 16 bytes of a page: in a row, or here and there; mostly where something is."""
    count = chance.choice((1, 1, 2, 4, 16, 16))
    start = (page - 1) * PAGE
    # The first 100 bytes of the file are its header, without which nothing can be opened.
    low = start if page > 1 or chance.random() < 0.2 else start + 100
    used = [place for place in range(low, start + PAGE) if data[place]]
    where = used if used and chance.random() < 0.8 else range(low, start + PAGE)
    first = chance.choice(where)
    in_a_row = chance.random() < 0.5
    places = [
        min(first + n, start + PAGE - 1) if in_a_row else chance.choice(where) for n in range(count)
    ]
    for place in dict.fromkeys(places):
        data[place] ^= chance.randrange(1, 256)
    return f"page {page}, bytes {[place - start for place in places][:4]}"


class Bench:
    """A filled store, and trials on copies of it."""

    def __init__(self, folder: Path, count: int = 40) -> None:
        self.folder = folder
        source = folder / "source"
        source.mkdir()
        fill(source, count)
        with open_home(source) as memory:
            assert examine(memory.core).found == [], examine(memory.core).found
            self.asked = known(memory)
        self.answers = read_everything(source, self.asked)
        self.data = (source / "memory.db").read_bytes()
        self.trees = trees(source / "memory.db")
        self.indexes = indexes(source / "memory.db")
        self._log()

    def _log(self) -> None:
        """The same store with its last writes still in the log, as a crash leaves it."""
        source = self.folder / "logged"
        shutil.copytree(self.folder / "source", source)
        with open_home(source) as memory:
            for n in range(6):
                memory.hub("work").remember(f"Written last: number {n}, apples.")
            self.log = (source / "memory.db-wal").read_bytes()
            self.log_base = (source / "memory.db").read_bytes()
            self.log_asked = known(memory)
        self.log_answers = read_everything(source, self.log_asked)

    def trial(self, name: str, seed: int) -> Trial:
        """Flips bytes in one tree, one free page, or the log."""
        chance = random.Random(f"{name} {seed}")
        home = self.folder / "trial"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        if name == "log":
            log = bytearray(self.log)
            for _ in range(chance.choice((1, 2, 16))):
                log[chance.randrange(len(log))] ^= chance.randrange(1, 256)
            (home / "memory.db-wal").write_bytes(log)
            (home / "memory.db").write_bytes(self.log_base)
            return self._judged(home, f"log, seed {seed}", self.log_asked, self.log_answers)
        data = bytearray(self.data)
        where = flip(data, chance.choice(self.trees[name]), chance)
        (home / "memory.db").write_bytes(data)
        return self._judged(home, f"{name}, seed {seed}, {where}", self.asked, self.answers)

    def _judged(self, home: Path, where: str, asked: Known, answers: Reads) -> Trial:
        try:
            with open_home(home) as memory:
                found = examine(memory.core).found
        except HoldfastError:
            return Trial(where, True, [], [], unopened=True)
        before = read_everything(home, asked)
        changed = [
            name
            for name, answer in before.items()
            if not isinstance(answer, StoreDamaged) and answer != answers[name]
        ]
        failed = [name for name, answer in before.items() if isinstance(answer, StoreDamaged)]
        if not found:
            return Trial(where, False, changed, failed)
        with open_home(home) as memory:
            left = [problem.what for problem in mend(memory.core).left]
        after = read_everything(home, asked)
        lost = [
            name
            for name in answers
            if before[name] == answers[name] and after[name] != answers[name] and _single(name)
        ]
        complete = all(after[name] == answers[name] for name in answers if not _numbered(name))
        return Trial(where, True, changed, failed, False, tuple(left), tuple(lost), complete)


def _numbered(name: str) -> bool:
    """Whether an answer holds numbers of passages, which a rebuild gives anew."""
    return any(f": {kind}" in name for kind in ("passages", "vectors", "word ", "said "))


def _single(name: str) -> bool:
    """Whether a read is of one thing, not of many, some of which may be what was set aside."""
    return any(f": {kind} " in name for kind in ("memory", "change", "agreed", "record"))
