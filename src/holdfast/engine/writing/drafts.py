"""Turns a draft into a complete memory: checked, redacted, classified, titled. Facts found in a
conversation become drafts of their own that point to it. All of this happens before the write
transaction begins, while no lock is held. `twin_of` finds the memory that a draft is a version or a
copy of, by source path, key, origin (a file or a page) and content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import (
    ATTACHMENT,
    BOUNDARIES,
    CONTENT_TYPES,
    KINDS,
    LAYERS,
    PAGE,
    SOURCES,
    STABILITIES,
    TRUSTS,
    Attachment,
    Draft,
    Memory,
    Origin,
    attachment_of,
    page_of,
)
from holdfast.domain.results import HELD
from holdfast.engine.core import Core, Scope
from holdfast.engine.writing import origins
from holdfast.engine.writing.indexing import Indexed, indexed_all
from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple
from holdfast.text import clean
from holdfast.text.classify import classify
from holdfast.text.classify.classifier import content_type_of
from holdfast.text.classify.titles import summary_of, title_of
from holdfast.text.clean import without_hidden
from holdfast.text.private import without_private

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.engine.writing.supersede import Seen
    from holdfast.store.base import Reader


# Facts are taken only from longer conversations: a shorter one is a greeting, and is found by its
# own words.
CHARS_MIN = 100
_CONVERSATIONS = ("chat", "transcript")


def facts_in(core: Core, draft: Draft, memory: Memory) -> list[Draft]:
    """The facts found in a draft that is a conversation; none if it is held for review."""
    if memory.content_type not in _CONVERSATIONS or len(memory.content) < CHARS_MIN:
        return []
    if memory.source == "extraction" or memory.quarantine or memory.state == "processing":
        return []
    if not core.settings["extract.facts"]:
        return []
    from holdfast.text.capture.transcript import extract_facts

    return [
        Draft(
            fact.text,
            category=fact.category,
            boundary=draft.boundary,
            trust=draft.trust,
            source="extraction",
            source_agent=draft.source_agent,
            assisted_by_agent=draft.assisted_by_agent,
            occurred_at=fact.occurred_at,
            occurred_until=fact.occurred_until,
            valid_from=draft.occurred_at,
            expires_at=draft.expires_at,
            metadata={"said": {"start": fact.start, "end": fact.end}},
        )
        for fact in extract_facts(memory.content, at=draft.occurred_at)
    ]


# Trusts whose text is not the user's own words, so that instructions in it are held for review. An
# agent writes down what the user says, and sometimes what it read on a page: see `reason_to_hold`.
GUARDED = frozenset({"agent", "tool", "import"})
_METADATA_BYTES_MAX = 65_536
# JSON encoders fail at some depth (the server's framework at 255), and a memory that cannot be
# encoded would break every list that contains it. Nobody nests this deep by hand.
_METADATA_DEPTH_MAX = 32
_LABEL_CHARS_MAX = 1_000
# More characters than any turn has.
_ORIGIN_END_MAX = 2**31 - 1
_SWITCHES = ("pinned", "fetch")
# Fields with their default values are not checked.
_DEFAULTS = tuple(Draft._field_defaults.values())
_CLOSED = {
    "content_type": CONTENT_TYPES,
    "kind": KINDS,
    "stability": STABILITIES,
    "boundary": BOUNDARIES,
    "layer": LAYERS,
    "trust": TRUSTS,
    "source": SOURCES,
}


def clean_draft(core: Core, draft: Draft) -> Draft:
    """Returns the draft without secrets and with every field checked; raises InvalidInput that
    names the invalid field."""
    bytes_max = core.settings["content.bytes_max"]
    draft = without_secrets(core, _without_private(draft))
    checked: dict[str, Any] = {}
    given: dict[str, Any] = {}
    for name, value, default in zip(Draft._fields[1:], draft[1:], _DEFAULTS, strict=True):
        if value is None:
            # 'Not given', also for a field that is never empty.
            if default is not None:
                checked[name] = default
        elif value is not default and value != default:
            given[name] = value
    checked |= clean_fields(given)
    checked["content"] = clean.clean_content(draft.content, bytes_max=bytes_max)
    out = draft._replace(**checked)
    refuse_backwards(out)
    return out


def _without_private(draft: Draft) -> Draft:
    """A conversation without its `<private>` passages. Other texts keep them: they may be about the
    tag itself."""
    content = draft.content
    if not isinstance(content, str) or (shown := without_private(content)) == content:
        return draft
    if (draft.content_type or content_type_of(content, draft.source_path)) not in _CONVERSATIONS:
        return draft
    return draft._replace(content=shown)


def without_secrets(core: Core, draft: Draft) -> Draft:
    """The draft with placeholders instead of secrets. Done before the fields are checked: a secret
    may be longer than a tag may be, and tags are put in lower case."""
    refuse_deep(draft.metadata)
    out = core.redactor.row(draft, but=("content", "attachment"))
    # The guard reads the content later, and decodes what is hidden in it.
    if isinstance(draft.content, str):
        content = core.redactor.text(draft.content, keep_hidden=True)
        if content is not draft.content:
            out = out._replace(content=content)
    if draft.attachment is not None:
        if not isinstance(draft.attachment, Attachment):
            raise InvalidInput(
                "An attachment is made by `remember_file`.", hint="Hand the path of the file to it."
            )
        name = core.redactor.text(draft.attachment.name)
        out = out._replace(attachment=draft.attachment._replace(name=name))
    return out


def refuse_backwards(out: Draft | Memory) -> None:
    """Raises InvalidInput if an end of a draft's times is before its beginning."""
    if out.occurred_until and out.occurred_at and out.occurred_until < out.occurred_at:
        raise InvalidInput("It ends before it begins: occurred_until is earlier than occurred_at.")
    if out.valid_until and out.valid_from and out.valid_until < out.valid_from:
        raise InvalidInput("It ends before it begins: valid_until is earlier than valid_from.")


def clean_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Checks the given fields of a memory, except the content, which has its own limit."""
    out: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None or name == "content":
            continue
        if name in _CLOSED:
            allowed = _CLOSED[name]
            out[name] = value if value in allowed else clean.one_of(value, allowed, name)
        elif name == "key":
            out[name] = clean.clean_key(value)
        elif name == "category":
            out[name] = clean.clean_category(value)
        elif name == "tags":
            out[name] = clean.clean_tags(value)
        elif name.endswith(("_at", "_until", "_from")):
            out[name] = clean.clean_time(value)
        elif name == "metadata":
            out[name] = _clean_metadata(value)
        elif name in _SWITCHES:
            if not isinstance(value, bool):
                raise InvalidInput(f"The field {name} is true or false, not {value!r}.")
            out[name] = value
        elif name == ATTACHMENT:
            out[name] = value
        elif name == "origin":
            out[name] = clean_origin(value)
        elif isinstance(value, str) or name != "supersedes":  # A memory is named by a number too.
            out[name] = clean_label(name, value)
    return out


def clean_label(name: str, value: str) -> str:
    """Checks a short text such as a title, a session or a reason."""
    if not isinstance(value, str):
        raise InvalidInput(f"The {name} must be text, not {type(value).__name__}.")
    if "\0" in value or (
        not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)
    ):
        raise InvalidInput(f"The {name} holds characters that are not text.", hint="Remove them.")
    if len(value) > _LABEL_CHARS_MAX:
        raise InvalidInput(
            f"The {name} has {len(value)} characters; at most {_LABEL_CHARS_MAX} are allowed."
        )
    return value.strip()


def clean_origin(value: Any) -> Origin:
    """The place in a turn, whose parts are read back by position: one that is of another form would
    make every list that the memory is in unreadable."""
    if not isinstance(value, Origin):
        raise InvalidInput(
            f"The origin must be a place in a turn, not {type(value).__name__}.",
            hint="Use holdfast.Origin(turn, start, end, hash).",
        )
    turn, start, end, content_hash = value
    if not all(isinstance(one, int) and not isinstance(one, bool) for one in (start, end)):
        raise InvalidInput(
            "The start and the end of the origin must be whole numbers.",
            hint="Count characters of the turn from 0.",
        )
    if not 0 <= start <= end <= _ORIGIN_END_MAX:
        raise InvalidInput(
            f"The origin is from {start} to {end}, which is no place in a turn.",
            hint="Count characters of the turn from 0.",
        )
    return Origin(
        clean_label("turn of the origin", turn),
        start,
        end,
        clean_label("hash of the origin", content_hash),
    )


def _clean_metadata(value: Mapping[str, Any]) -> dict[str, Any]:
    import json

    refuse_deep(value)
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"The metadata cannot be written as JSON: {error}.",
            hint="Use text, numbers, true, false, lists and dictionaries with text keys.",
        ) from None
    if not isinstance(value, Mapping) or size > _METADATA_BYTES_MAX:
        raise InvalidInput(
            f"The metadata must be a dictionary of at most {_METADATA_BYTES_MAX} bytes as JSON."
        )
    # Through JSON and back, so that the stored value equals the one that is read later.
    plain: dict[str, Any] = json.loads(text)
    return plain


def refuse_deep(metadata: Any) -> None:
    """Refuses metadata that is nested too deep, contains itself or is far too large, before
    anything iterates over it."""
    if not metadata:
        return
    layer = [metadata]
    for _ in range(_METADATA_DEPTH_MAX + 1):
        layer = [
            inner
            for one in layer
            if isinstance(one, Mapping | list | tuple)
            for inner in (one.values() if isinstance(one, Mapping) else one)
        ]
        if not layer or len(layer) > _METADATA_BYTES_MAX:
            break
    if layer:
        raise InvalidInput(
            f"The metadata is nested more than {_METADATA_DEPTH_MAX} deep, or far too large.",
            hint="Keep it flat, or put it into the content.",
        )


def reason_to_hold(text: str, trust: str) -> str:
    """The reason to hold a text of this trust for review; empty if there is none.

    The user's text is never held. An agent writes down what the user says, so standing orders pass,
    and only attempts to take over the model are held. Text of tools, pages, files and imports is
    held if it contains any instruction.
    """
    if trust not in GUARDED:
        return ""
    # Imported here, because the user's own text does not need the rules.
    from holdfast.text.guard import instruction_shaped

    return instruction_shaped(text, in_conversation=trust == "agent") or ""


def _without_hidden(content: str) -> str:
    cleaned = without_hidden(content)
    if cleaned is not content and not clean.is_visible(cleaned):
        raise InvalidInput(
            "The content has only characters that cannot be seen.",
            hint="Give at least one word that is worth remembering.",
        )
    return cleaned


def compose(draft: Draft, core: Core, hub_id: str, now: datetime | None = None) -> Memory:
    """Makes a memory from a clean draft, without id, number and times."""
    # The guard also reads hidden characters; the memory is stored without them.
    quarantine = reason_to_hold(draft.content, draft.trust)
    content = _without_hidden(draft.content)
    picked = classify(
        content,
        title=draft.title or "",
        category=draft.category,
        source_path=draft.source_path,
        content_type=draft.content_type,
        kind=draft.kind,
    )
    file = draft.attachment
    # The title of a file is its name, whatever path it came from.
    title = draft.title or title_of(
        content,
        content_type=picked.content_type,
        source_path=draft.source_path if file is None else file.name,
    )
    now = now or core.now()
    return Memory(
        id="",
        hub_id=hub_id,
        number=0,
        content=content,
        content_hash=clean.content_hash(content),
        title=title,
        owner=core.actor,
        created_at=now,
        updated_at=now,
        summary=summary_of(content) if draft.summary is None else draft.summary,
        content_type=picked.content_type,
        key=draft.key,
        category=picked.category,
        tags=picked.tags if draft.tags is None else draft.tags,
        kind=picked.kind,
        stability=draft.stability or picked.stability,
        boundary=draft.boundary or "hub",
        # An attachment copied from another hub comes with its text as the content.
        state="processing" if draft.fetch or (file and content == file.name) else "active",
        layer=draft.layer or picked.layer,
        pinned=draft.pinned,
        trust=draft.trust,
        quarantine=quarantine,
        source=draft.source,
        source_agent=draft.source_agent,
        assisted_by_agent=draft.assisted_by_agent,
        source_path=draft.source_path,
        session=draft.session,
        speaker=draft.speaker,
        occurred_at=draft.occurred_at,
        occurred_until=draft.occurred_until,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        expires_at=draft.expires_at,
        parent=draft.parent,
        origin=draft.origin,
        metadata=_metadata_of(draft),
    )


def _metadata_of(draft: Draft) -> dict[str, Any]:
    """The metadata of the memory. Its attachment and page come from the draft, never from metadata
    that a caller gave."""
    if not draft.metadata and draft.attachment is None:
        return {}
    metadata = dict(draft.metadata or {})
    if attachment_of(metadata) is not None:
        del metadata[ATTACHMENT]
    if page_of(metadata) is not None:
        del metadata[PAGE]
    metadata.pop(HELD, None)
    if draft.attachment is not None:
        metadata[ATTACHMENT] = draft.attachment._asdict()
    return metadata


def derived_title(memory: Memory) -> str:
    """The title that the rules derive from the content; a person may have chosen another."""
    return title_of(
        memory.content, content_type=memory.content_type, source_path=memory.source_path
    )


class Prepared(NamedTuple):
    """A draft that was checked, classified and indexed before the transaction begins. `facts` were
    found in it. `seen` are the memories that it may replace, as they were then, and `close` is the
    id of one that says something similar."""

    draft: Draft
    memory: Memory
    indexed: Indexed | None
    facts: tuple[Prepared, ...] = ()
    seen: Seen | None = None
    close: str | None = None


def prepare(
    scope: Scope, drafts: Sequence[Draft], now: datetime | None = None
) -> Iterator[Prepared]:
    """Makes memories of drafts, before the transaction begins because it is slow: checks, rules and
    embedding. Texts that are stored already are not embedded."""
    cleaned = [clean_draft(scope.core, draft) for draft in drafts]
    if any("://" in draft.content for draft in cleaned) and scope.settings["fetch.links"]:
        cleaned = [origins.with_page_fetched(draft) for draft in cleaned]
    for draft in cleaned:
        if draft.fetch:
            origins.refuse_unfetchable(draft)
    now = now or scope.now()
    memories = [compose(draft, scope.core, scope.hub_id, now) for draft in cleaned]
    # Avoids embedding what is stored already. Without a model, the check inside the transaction is
    # enough.
    known = [False] * len(memories)
    if scope.core.embedder is not None:
        with scope.read() as reader:
            reader.expect(scope.hub_id, memories)
            known = [unchanged(reader, *pair) for pair in zip(cleaned, memories, strict=True)]
    fresh = [memory for memory, there in zip(memories, known, strict=True) if not there]
    indexes = iter(indexed_all(fresh, scope.core))
    for draft, memory, there in zip(cleaned, memories, known, strict=True):
        indexed = None if there else next(indexes)
        facts: tuple[Prepared, ...] = ()
        if not there and (found := facts_in(scope.core, draft, memory)):
            facts = tuple(prepare(scope, found, now))
        yield Prepared(draft, memory, indexed, facts)


# The memory that exists already


def unchanged(reader: Reader, draft: Draft, memory: Memory) -> bool:
    """Whether the content of a draft is stored already."""
    twin = twin_of(reader, draft, memory)
    if twin is None:
        return False
    return twin.content_hash == memory.content_hash or origins.is_the_same_thing(memory, twin)


def twin_of(reader: Reader, draft: Draft, memory: Memory) -> Memory | None:
    """The existing memory that this one is a version or a copy of."""
    hub_id = memory.hub_id
    # Without a boundary, the caller's own private memory of that path or key takes precedence.
    audience = None if draft.boundary is None else memory.audience
    if memory.source_path is not None:
        at_path = reader.memory_by_path(hub_id, memory.source_path, audience=audience)
        if at_path is not None:
            return at_path
    if memory.key is not None:
        with_key = reader.memory_by_key(hub_id, memory.key, audience=audience)
        if with_key is not None:
            return with_key
    alike: list[Memory] = []
    if (memory.metadata or memory.content_type == "link") and (digest := origins.digest_of(memory)):
        alike = origins.made_from(reader, hub_id, digest)
    if draft.attachment is None:
        # Until a file has been read, its content is its name, which identifies nothing.
        alike += reader.memories_by_hash(hub_id, memory.content_hash)
    return next((other for other in alike if says_the_same(memory, other)), None)


def says_the_same(memory: Memory, other: Memory) -> bool:
    """Whether two memories with the same content count as one."""
    return (
        other.superseded_by is None
        and (memory.key is None or _may_have_key(other, memory))
        # An event that happened twice is two events.
        and (_occasion(memory) == _occasion(other) or _was_noticed(memory, other))
        and (other.expires_at is None or other.expires_at > memory.created_at)
        # A memory that waits for review is no duplicate of what a trusted source says.
        and bool(other.quarantine) == bool(memory.quarantine)
        # The result 'duplicate' must not reveal what somebody else keeps private.
        and ("private" not in (other.boundary, memory.boundary) or other.owner == memory.owner)
        # A note with the content or the name of a file is not that file.
        and origins.is_made_from_same(memory, other)
    )


def _occasion(memory: Memory) -> tuple[object, ...]:
    return memory.session, memory.speaker, memory.event_at


def _was_noticed(memory: Memory, other: Memory) -> bool:
    """Whether the other one was captured from a conversation without a speaker or time, and this
    one has no session, speaker or time."""
    return (
        other.source == "extraction"
        and (other.layer, other.speaker, other.event_at) == ("long_term", None, None)
        and _occasion(memory) == (None, None, None)
    )


def _may_have_key(other: Memory, memory: Memory) -> bool:
    """Whether an existing memory without a key may be given this one's key. A key is permanent, so
    not a memory that follows a file or is in another layer: it may be changed or removed for other
    reasons."""
    return other.key is None and other.source_path is None and other.layer == memory.layer
