"""The two kinds of sources that are built in: a folder of text files, which is read anew for each
question, and another hub of this Holdfast or of another one; its store is opened for reading only
(nothing is counted, migrated or taken in there)."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.hub import DEFAULT_HUB
from holdfast.domain.query import Filter
from holdfast.engine.core import Scope
from holdfast.engine.hubs import find_hub
from holdfast.engine.reading.recall import recall_memories
from holdfast.errors import EmbedderError, InvalidInput, NotFound
from holdfast.files.documents import read_text
from holdfast.files.folder_walk import FoundFile, Walked, walk
from holdfast.recall.lexical import bm25
from holdfast.recall.weights import CUT_COVERAGE, CUT_PASSAGES_LEAST
from holdfast.sources import Excerpt, Excerpts
from holdfast.store.values import Candidate, Lexicon
from holdfast.text.analysis.terms import is_unspaced, query_terms, symbols, terms, trigram_text
from holdfast.text.chunking import chunk
from holdfast.wiring import build_for_reading

if TYPE_CHECKING:
    from holdfast.engine.core import Core


# What people and agents write down; code and data are no memory.
NOTE_SUFFIXES = ("md", "mdx", "txt")
# Bounds: some hundred times what an agent's memory holds. It takes 4 s to read, once, and 100 MB
# to keep. Beyond them is no memory folder, but a disk.
ENTRIES_MAX = 50_000
FILES_MAX = 2_000
FILE_BYTES_MAX = 1_000_000
BYTES_MAX = 20_000_000

_JOURNAL = re.compile(r"(\d{4}-\d{2}-\d{2})\.md", re.ASCII)


class _Passage(NamedTuple):
    """A passage of a file, as ranking sees it and as it reads."""

    candidate: Candidate
    text: str
    folded: str
    line: int


class _File(NamedTuple):
    stamp: tuple[int, int, int]
    passages: tuple[_Passage, ...]
    problem: str = ""


class _Index(NamedTuple):
    """Everything that was read: the files, their passages in order, and who holds which term."""

    files: dict[str, _File]
    passages: tuple[_Passage, ...]
    holders: dict[str, list[int]]
    terms: int


class FolderSource:
    """A source of read-only memories: the notes below one folder."""

    primary = False

    def __init__(self, name: str, folder: str) -> None:
        self.name = name
        self.place = folder
        self._index = _Index({}, (), {}, 0)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<source {self.name}: {self.place}>"

    def search(self, query: str, limit: int) -> Excerpts:
        """The passages that hold the words, best first; else those that hold the text itself."""
        index, problems = self._current()
        best = _by_words(index, query) or _as_it_stands(index, query)
        notes = [f"{problems[0]} (1 of {len(problems)} problems)"] if problems[1:] else problems
        return Excerpts([_excerpt(index, passage) for passage in best[:limit]], notes)

    def state(self) -> str:
        """The contents in a few words, and every file that cannot be read."""
        index, problems = self._current()
        read = [file for file in index.files.values() if not file.problem]
        files = "1 file" if len(read) == 1 else f"{len(read):,} files"
        passages = "1 passage" if len(index.passages) == 1 else f"{len(index.passages):,} passages"
        return " ".join([f"{files}, {passages}.", *problems])

    def _current(self) -> tuple[_Index, list[str]]:
        """The index of the files as they are now, and sentences on what cannot be read."""
        with self._lock:
            # The folder itself may be reached by a link; from there on none is followed.
            root = os.path.realpath(self.place)
            wanted, problems = _wanted(walk(root, entries_max=ENTRIES_MAX))
            known = self._index.files
            if {path: file.stamp for path, file in known.items()} != dict(wanted):
                self._index = _indexed(
                    {
                        found.path: known[found.path]
                        if found.path in known and known[found.path].stamp == found.stamp
                        else _read(root, found)
                        for found in wanted
                    }
                )
            files = self._index.files.items()
            problems += [f"{path}: {file.problem}" for path, file in files if file.problem]
            return self._index, problems


# Reading


def _wanted(walked: Walked) -> tuple[list[FoundFile], list[str]]:
    """The files to read, within the bounds, and sentences on what is left out by them. A link is
    left out too; that it is, is no problem of the answer."""
    problems = [
        f"{note.path}: {note.reason}." for note in walked.refused if "link" not in note.reason
    ]
    wanted: list[FoundFile] = []
    room, left = BYTES_MAX, 0
    for found in walked.files:
        size = found.stamp[2]
        if found.path.lower().rpartition(".")[2] not in NOTE_SUFFIXES:
            continue
        if size > FILE_BYTES_MAX:
            problems.append(f"{found.path} has more than {FILE_BYTES_MAX:,} bytes; it is not read.")
        elif len(wanted) == FILES_MAX or size > room:
            left += 1
        else:
            wanted.append(found)
            room -= size
    if left:
        problems.append(f"{left:,} more files are beyond what is read of a folder.")
    return wanted, problems


def _read(folder: str, found: FoundFile) -> _File:
    try:
        stamp, text = read_text(folder, found.path, FILE_BYTES_MAX)
    except InvalidInput as error:
        return _File(found.stamp, (), error.message)
    return _File(stamp, tuple(_passages(found.path, text)))


def _passages(path: str, text: str) -> Iterator[_Passage]:
    stem = path.rpartition(".")[0].replace("/", " ")
    line, seen = 1, 0
    for ordinal, piece in enumerate(chunk(text, content_type="markdown")):
        said = text[piece.start : piece.end]
        line += text.count("\n", seen, piece.start)
        seen = piece.start
        around = " ".join([stem, *piece.headings])
        body = " ".join(terms(said))
        head = " ".join([*terms(around), *symbols(said)])
        candidate = Candidate(
            path, 0, ordinal, piece.start, piece.end, piece.headings, body, head, 1
        )
        yield _Passage(candidate, said, trigram_text(said), line)


def _indexed(files: dict[str, _File]) -> _Index:
    passages = tuple(passage for file in files.values() for passage in file.passages)
    holders: dict[str, list[int]] = {}
    length = 0
    for place, passage in enumerate(passages):
        words = f"{passage.candidate.body} {passage.candidate.head}".split()
        length += len(words)
        for word in dict.fromkeys(words):
            holders.setdefault(word, []).append(place)
    return _Index(files, passages, holders, length)


# Searching


def _by_words(index: _Index, query: str) -> list[_Passage]:
    asked = query_terms(query)
    asked += [term for term in symbols(query) if term not in asked]
    prefixes = [term for term in asked if len(term) == 1 and is_unspaced(term)]
    places = {place for term in asked for place in index.holders.get(term, ())}
    if prefixes:
        begun = [term for term in index.holders if term.startswith(tuple(prefixes))]
        places.update(place for term in begun for place in index.holders[term])
    found = [index.passages[place] for place in sorted(places)]
    frequency = {term: len(index.holders.get(term, ())) for term in asked}
    lexicon = Lexicon(len(index.passages), index.terms, frequency)
    scores = bm25([passage.candidate for passage in found], asked, lexicon, prefixes)
    ranked = sorted(
        zip(scores, range(len(found)), strict=True), key=lambda pair: (-pair[0], pair[1])
    )
    return [found[at] for _, at in ranked if _covers(found[at], asked, lexicon)]


def _covers(passage: _Passage, asked: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether it holds enough of the question, the rare words counting for more: recall asks the
    same of memories that are found by words alone."""
    lexicon = lexicon._replace(passages=max(lexicon.passages, CUT_PASSAGES_LEAST))
    held = {*passage.candidate.body.split(), *passage.candidate.head.split()}
    whole = sum(lexicon.rarity(term) for term in asked)

    def holds(term: str) -> bool:
        begins = len(term) == 1 and is_unspaced(term)
        return term in held or (begins and any(word.startswith(term) for word in held))

    return sum(lexicon.rarity(term) for term in asked if holds(term)) >= CUT_COVERAGE * whole


def _as_it_stands(index: _Index, query: str) -> list[_Passage]:
    needle = trigram_text(query)
    return [passage for passage in index.passages if needle and needle in passage.folded]


def _excerpt(index: _Index, passage: _Passage) -> Excerpt:
    path = passage.candidate.memory_id
    return Excerpt(passage.text, f"{path}, line {passage.line}", _at(path, index.files[path]))


def _at(path: str, file: _File) -> datetime:
    """Of when a file is: a journal is of its day, any other of its last change."""
    if found := _JOURNAL.fullmatch(path.rpartition("/")[2]):
        try:
            return datetime.combine(date.fromisoformat(found[1]), time.min, UTC)
        except ValueError:
            pass
    return datetime.fromtimestamp(file.stamp[0] / 1_000_000_000, UTC)


class HoldfastSource:
    """A source of read-only memories: one hub below one home folder. The caller provides the clock
    and the embedding model."""

    primary = False

    def __init__(
        self,
        name: str,
        home: str,
        hub: str,
        *,
        asking: Core,
        asking_hub: str,
    ) -> None:
        self.name = name
        self.home = home
        self.hub = hub or DEFAULT_HUB
        self._asking = asking
        self._asking_hub = asking_hub
        self._core: Core | None = None
        self._is_loaded = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<source {self.name}: hub {self.hub} of {self.home}>"

    @property
    def place(self) -> str:
        return f"{self.home}#{self.hub}"

    def prepare(self) -> None:
        """Opens the store and loads the caller's embedding model."""
        embedder = self._opened().embedder
        if embedder is not None and not self._is_loaded:
            self._is_loaded = True
            with suppress(EmbedderError):  # `search` says what is missing.
                embedder.embed_query("a")

    def search(self, query: str, limit: int) -> Excerpts:
        """The hits of a recall there, best first."""
        core = self._opened()
        hub = find_hub(core, self.hub)
        if hub.id == self._asking_hub and self._is_own(core):
            # It was asked already, as the primary memory.
            return Excerpts()
        meaning = core.embedder is not None
        found = recall_memories(
            Scope(core, hub.id, hub.name), query, Filter(), limit=limit, meaning=meaning, plain=True
        )
        excerpts = [
            Excerpt(
                hit.passage.text,
                f"#{hit.memory.number} of hub {hub.name}",
                hit.memory.dated,
            )
            for hit in found
        ]
        return Excerpts(excerpts, [f"it may miss something: {why}." for why in found.degraded])

    def state(self) -> str:
        """The contents in a few words."""
        core = self._opened()
        hub = find_hub(core, self.hub)
        with core.read() as reader:
            count = reader.statistics(hub.id).visible
        return "1 memory." if count == 1 else f"{count:,} memories."

    def close(self) -> None:
        with self._lock:
            if self._core is not None:
                self._core.store.close()
                self._core = None

    def _opened(self) -> Core:
        with self._lock:
            if self._core is None:
                if not os.path.isdir(self.home):
                    raise NotFound(f"There is no folder {self.home}.", hint="Check the name.")
                asking = self._asking
                self._core = build_for_reading(
                    self.home,
                    actor=asking.actor,
                    clock=asking.clock,
                    find_embedder=lambda: asking.embedder,
                )
            return self._core

    def _is_own(self, core: Core) -> bool:
        """Whether it is the caller's own store; a copy of it is another one."""
        own, this = (getattr(one.store, "path", "") for one in (self._asking, core))
        if own and this:
            return os.path.exists(own) and os.path.samefile(own, this)
        own, this = (getattr(one.store, "address", "") for one in (self._asking, core))
        return bool(own) and own == this
