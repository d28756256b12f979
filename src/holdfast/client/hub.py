"""One hub on a server, with the methods of `HubMemory`: the same names, arguments and results. What
needs the machine that has the hub is refused with a sentence that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, overload

from holdfast.api.arguments import draft_from, to_draft
from holdfast.client import values
from holdfast.client.base import PUSH_MAX, at_most, reference_text, understanding
from holdfast.client.passes import RemotePasses
from holdfast.client.past import RemotePast
from holdfast.client.review import RemoteReview
from holdfast.client.talk import RemoteTalk
from holdfast.domain.query import Page
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    import os

    from holdfast.domain.draft import Draft
    from holdfast.domain.hub import Statistics
    from holdfast.domain.memory import Memory, Origin
    from holdfast.domain.query import Recalled
    from holdfast.domain.results import Remembered
    from holdfast.engine.context.build import Context
    from holdfast.engine.jobs.queue import Job
    from holdfast.engine.reading.lookup import Reference
    from holdfast.files.attachments.storage import Received
    from holdfast.files.folders.documents import Report

# As many as a server gives at once.
_PAGE_MAX = 100
_SCAN_MAX = 500
_SEARCH_MAX = 100
_RELATED_MAX = 50

_FILES = "it is about the hub's files, which are on the server's machine"
_UPKEEP = "it is upkeep, which whoever runs the server does there"
# What a hub on a server does not do, and why.
NEEDS_THE_MACHINE: dict[str, str] = {
    "core": "the engine is on the server's machine",
    "scope": "the engine is on the server's machine",
    "home": _FILES,
    "folder": _FILES,
    "memory_md": _FILES,
    "sync": _FILES,
    "conflicts": _FILES,
    "settle": _FILES,
    "read_memory_md": _FILES,
    "append_memory_md": _FILES,
    "rewrite_memory_md": _FILES,
    "files": _FILES,
    "sync_journals": _FILES,
    "attachments": _FILES,
    "attachment": _FILES,
    "export_files": _FILES,
    "compact": _UPKEEP,
    "purge_forgotten": _UPKEEP,
    "find_secrets": _UPKEEP,
    "redact_secrets": _UPKEEP,
    "remember_stream": "any number in one change set needs the store itself; use remember_many",
}

# Inside the class the word `list` is the method; here it is the type.
list_ = list


@understanding
class RemoteHub(RemotePast, RemoteTalk, RemoteReview, RemotePasses):
    """One hub on a server: remember, recall, change, look back."""

    def __getattr__(self, name: str) -> Any:
        if name in NEEDS_THE_MACHINE:
            raise AttributeError(
                f"`{name}` does not work through a server: {NEEDS_THE_MACHINE[name]}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def notes(self) -> list_[str]:
        """None: they are about files, which the server keeps in step."""
        return []

    # Taking in

    def remember(
        self,
        content: str,
        *,
        category: str | None = None,
        key: str | None = None,
        session: str | None = None,
        occurred_at: datetime | str | None = None,
        title: str | None = None,
        summary: str | None = None,
        tags: Iterable[str] | None = None,
        kind: str | None = None,
        stability: str | None = None,
        boundary: str | None = None,
        layer: str | None = None,
        content_type: str | None = None,
        pinned: bool = False,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
        assisted_by_agent: str | None = None,
        source_path: str | None = None,
        speaker: str | None = None,
        occurred_until: datetime | str | None = None,
        valid_from: datetime | str | None = None,
        valid_until: datetime | str | None = None,
        expires_at: datetime | str | None = None,
        ttl: timedelta | None = None,
        supersedes: Reference | None = None,
        parent: str | None = None,
        origin: Origin | None = None,
        metadata: Mapping[str, Any] | None = None,
        fetch: bool = False,
    ) -> Remembered:
        """Keeps a piece of knowledge; see `HubMemory.remember`."""
        given = dict(locals())
        del given["self"], given["ttl"]
        if ttl is not None:
            if expires_at is not None:
                raise InvalidInput("Give ttl or expires_at, not both.")
            try:
                given["expires_at"] = self.clock.now() + ttl
            except (TypeError, OverflowError):
                raise InvalidInput(
                    "The ttl must be a timedelta that ends before the year 10000."
                ) from None
        return self.remember_draft(draft_from(given))

    def remember_draft(self, draft: Draft) -> Remembered:
        result = values.result_of(self._send("/memories", values.sent_draft(draft)))
        self._note_redacted(draft.content, result.memory.content)
        return result

    def remember_many(
        self, items: Iterable[str | Draft | Mapping[str, Any]], *, first_is_parent: bool = False
    ) -> list_[Remembered]:
        """Keeps all of them or none, as one change set."""
        drafts = [values.sent_draft(to_draft(item)) for item in items]
        if not drafts:
            return []
        if len(drafts) > PUSH_MAX:
            raise InvalidInput(
                f"These are {len(drafts)} memories; a server takes {PUSH_MAX} at once, all or"
                " none.",
                hint="Send them in parts.",
            )
        body = {"items": drafts, "first_is_parent": first_is_parent}
        results = [values.result_of(one) for one in self._send("/memories/batch", body)["data"]]
        for draft, result in zip(drafts, results, strict=True):
            self._note_redacted(draft["content"], result.memory.content)
        return results

    def remember_file(
        self,
        file: str | os.PathLike[str] | BinaryIO | Received,
        *,
        name: str | None = None,
        **fields: Any,
    ) -> Remembered:
        """Keeps a file of this machine on the server, whose worker reads its text."""
        from holdfast.client.uploads import upload

        return upload(self, file, name, fields)

    def jobs(self, *, limit: int = 100) -> list_[Job]:
        found = self._get("/jobs", limit=limit)["data"]
        return [values.job_of(one, self.id) for one in found]

    # Finding

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        as_of: datetime | str | None = None,
        category: str | None = None,
        kind: str | None = None,
        layer: str | None = None,
        tags: Iterable[str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        session: str | None = None,
        include_archived: bool = False,
        now: datetime | None = None,
        zone: tzinfo | None = None,
        meaning: bool = True,
        explain: bool = False,
        project: str | None = None,
        plain: bool = False,
    ) -> Recalled:
        """Finds what answers a question, best first; each hit says why."""
        asked = {
            "query": query,
            "limit": limit,
            "as_of": values.sent_time(as_of),
            "category": category,
            "kind": kind,
            "layer": layer,
            "tags": None if tags is None else list_(tags),
            "since": values.sent_time(since),
            "until": values.sent_time(until),
            "session": session,
            "include_archived": include_archived,
            "now": values.sent_time(now),
            "zone": values.sent_zone(zone, now or self.clock.now()),
            "meaning": meaning,
            "explain": explain,
            "project": project,
            "plain": plain,
        }
        return values.recalled_of(self._ask("/recall", asked))

    def search_text(
        self,
        text: str,
        *,
        words: bool = False,
        category: str | None = None,
        layer: str | None = None,
        order: str = "newest",
        limit: int = 20,
    ) -> list_[Memory]:
        found = self._get(
            "/memories/search",
            q=text,
            words=words,
            category=category,
            layer=layer,
            order=order,
            limit=at_most(limit, _SEARCH_MAX),
        )
        return values.memories_of(found["data"])

    def get(self, reference: Reference, *, as_of: datetime | str | None = None) -> Memory:
        at = values.sent_time(as_of)
        return values.memory_of(self._get(self._path(reference), as_of=at)["data"])

    def find(self, reference: Reference) -> Memory:
        named = reference_text(reference)
        return values.memory_of(self._get("/memories/find", reference=named)["data"])

    def list(
        self,
        *,
        category: str | None = None,
        kind: str | None = None,
        state: str | None = None,
        stability: str | None = None,
        layer: str | None = None,
        source: str | None = None,
        tags: Iterable[str] | None = None,
        session: str | None = None,
        pinned: bool | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        forgotten: bool = False,
        quarantined: bool = False,
        order: str = "newest",
        limit: int | None = None,
        cursor: str | None = None,
        as_of: datetime | str | None = None,
    ) -> Page:
        """Memories in an order; with a limit, a page whose `cursor` fetches the next one."""
        if limit is not None and (type(limit) is not int or limit < 1):
            raise InvalidInput(f"The limit is {limit}; it must be a whole number of at least 1.")
        asked = {
            "category": category,
            "kind": kind,
            "state": state,
            "stability": stability,
            "layer": layer,
            "source": source,
            "tag": None if tags is None else list_(tags),
            "session": session,
            "pinned": pinned,
            "since": values.sent_time(since),
            "until": values.sent_time(until),
            "forgotten": forgotten,
            "quarantined": quarantined,
            "order": order,
            "as_of": values.sent_time(as_of),
        }
        out: list_[Memory] = []
        while True:
            size = _PAGE_MAX if limit is None else min(_PAGE_MAX, limit - len(out))
            answer = self._get("/memories", limit=size, cursor=cursor, **asked)
            out += values.memories_of(answer["data"])
            cursor = answer["next_cursor"]
            if cursor is None or len(out) == limit:
                return Page(out, cursor)

    def scan(self, *, after: int = 0) -> Iterator[Memory]:
        """Every visible memory by number, without holding all of them at once."""
        while True:
            answer = self._get("/memories/scan", after=after, limit=_SCAN_MAX)
            found = values.memories_of(answer["data"])
            yield from found
            if len(found) < _SCAN_MAX:
                return
            after = found[-1].number

    def related(self, reference: Reference, *, limit: int = 5) -> Recalled:
        found = self._get(self._path(reference, "/related"), limit=at_most(limit, _RELATED_MAX))
        return values.recalled_of(found, "hits")

    def statistics(self) -> Statistics:
        return values.statistics_of(self._get("/usage")["data"])

    @overload
    def context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        unit: str = "chars",
        style: str = "plain",
        count_tokens: Callable[[str], int] | str | None = None,
        explain: Literal[False] = False,
    ) -> str: ...

    @overload
    def context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        unit: str = "chars",
        style: str = "plain",
        count_tokens: Callable[[str], int] | str | None = None,
        explain: Literal[True],
    ) -> Context: ...

    def context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        unit: str = "chars",
        style: str = "plain",
        count_tokens: Callable[[str], int] | str | None = None,
        explain: bool = False,
    ) -> str | Context:
        """The block to put into an agent's prompt. The server counts tokens, so a tokenizer is
        named, such as `tiktoken:o200k_base`; a function of yours cannot be sent."""
        if count_tokens is not None and not isinstance(count_tokens, str):
            raise InvalidInput(
                "A function that counts tokens cannot be sent to a server.",
                hint="Name a tokenizer, such as tiktoken:o200k_base, or leave it out.",
            )
        told = self._get(
            "/context",
            query=query,
            budget=budget,
            unit=unit,
            style=style,
            count_tokens=count_tokens,
            explain=explain,
        )["data"]
        if explain:
            return values.context_of(told)
        text: str = told["text"]
        return text

    def index_files(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        remove: bool = True,
        remove_many: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Brings documents on the server up to date with a folder of this machine."""
        from holdfast.client.folders import index_files

        return index_files(
            self,
            folder,
            remove=remove,
            remove_many=remove_many,
            dry_run=dry_run,
            progress=progress,
        )
