"""One hub as a person's program sees it: remember, recall, change, look back. Thin: each method
parses its arguments into values and calls the engine. How a hub takes things in stands here; the
rest of its methods stand in the classes it is made of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, BinaryIO

from holdfast import engine
from holdfast.arguments import draft_from, to_draft
from holdfast.done_again import done_again
from holdfast.errors import InvalidInput
from holdfast.hub_changing import HubChanging
from holdfast.hub_finding import HubFinding
from holdfast.hub_passes import HubPasses
from holdfast.hub_past import HubPast
from holdfast.in_step import keep_in_step

if TYPE_CHECKING:
    from holdfast.domain.draft import Draft
    from holdfast.domain.memory import Origin
    from holdfast.domain.results import Remembered
    from holdfast.engine.echo import Heard
    from holdfast.engine.find import Reference
    from holdfast.files.attachments.storage import Kept, Received


@done_again
@keep_in_step
class HubMemory(HubFinding, HubChanging, HubPast, HubPasses):
    """One hub: remember, recall, change, look back."""

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
        """Keeps a piece of knowledge.

        Returns Stored, Updated (same key or source path), Duplicate (same content), Superseded or
        Quarantined. What is not given is picked by the rules in the classification reference. For a
        link, `fetch` asks for the page behind it: a worker fetches it later.
        """
        values = dict(locals())
        del values["self"], values["ttl"]
        if ttl is not None:
            if expires_at is not None:
                raise InvalidInput("Give ttl or expires_at, not both.")
            try:
                values["expires_at"] = self.core.now() + ttl
            except (TypeError, OverflowError):
                raise InvalidInput(
                    "The ttl must be a timedelta that ends before the year 10000."
                ) from None
        return self.remember_draft(draft_from(values))

    def remember_draft(self, draft: Draft) -> Remembered:
        return engine.remember.remember(self.core, self.id, self.name, draft, by_rule=True)

    def remember_many(
        self, items: Iterable[str | Draft | Mapping[str, Any]], *, first_is_parent: bool = False
    ) -> list[Remembered]:
        """Keeps all of them or none, as one change set; each is text, a Draft or a dictionary.
        With `first_is_parent` the others point to the first, as parts of what it tells."""
        drafts = [to_draft(item) for item in items]
        return engine.remember.remember_many(
            self.core,
            self.id,
            self.name,
            drafts,
            first_is_parent=first_is_parent,
            by_rule=True,
        )

    def remember_stream(
        self, items: Iterable[str | Draft | Mapping[str, Any]]
    ) -> Iterator[Remembered]:
        """Keeps any number, a batch at a time, as one change set; memory stays flat."""
        drafts = (to_draft(item) for item in items)
        return engine.remember.remember_stream(self.core, self.id, self.name, drafts)

    def remember_file(
        self,
        file: str | os.PathLike[str] | BinaryIO | Received,
        *,
        name: str | None = None,
        **fields: Any,
    ) -> Remembered:
        """Keeps a file: its bytes beside the store, and a memory with its name as the title. A
        worker reads its text (`holdfast work`, or the server); until then it is `processing`. The
        other fields are those of `remember`. The same bytes again are a duplicate."""
        from holdfast.files.attachments.storage import described

        if isinstance(file, str | os.PathLike):
            self._refuse_guest()
        place = self.attachments
        with place.received(file) as received:
            if name is None:
                called = file if isinstance(file, str | os.PathLike) else getattr(file, "name", "")
                name = str(called)
            attachment = described(received, name)
            values = {**fields, "content": attachment.name, "content_type": "file"}
            draft = draft_from({**values, "attachment": attachment})
            with place.placing(received):
                return self.remember_draft(draft)

    def attachment(self, reference: Reference) -> Kept:
        """The file of a memory: what is known of it, and where its bytes are."""
        return self.attachments.kept(self.get(reference))

    def heard(self, text: str) -> Heard:
        """A text without what this hub has handed out itself, in blocks and replies: `text` is what
        remains, `memories` what came back. For whoever stores what an agent says."""
        return engine.echo.without_echo(self.core, self.id, text)

    def take_redacted(self) -> dict[str, int]:
        """How many secrets of each kind were replaced by placeholders, in what this thread has
        written since it last asked. Never what they were."""
        return self.core.redactor.take()
