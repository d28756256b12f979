"""Redacts input: every text that is about to be written to the store or a hub's files goes through
one Redactor, which replaces each secret by a placeholder and removes control characters.

In one store, the same secret always gives the same placeholder, `[secret:kind:hash8]`. The hash is
keyed with a random key of the store, because the plain hash of a short password could be found by
trying. The key reveals no secret; it only keeps placeholders stable. `text.secrets` recognises
secrets, and is loaded only for writes; `engine/writing/redacting_store.py` redacts everything that
is written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.domain.memory import (
    BOUNDARIES,
    CATEGORIES,
    CONTENT_TYPES,
    COUNTERS,
    KINDS,
    LAYERS,
    SOURCES,
    STABILITIES,
    STATES,
    TIMES,
    TRUSTS,
    Memory,
)
from holdfast.domain.records import NO_HUB, Record
from holdfast.errors import InvalidInput
from holdfast.text.clean import clean_text, content_hash, without_controls

if TYPE_CHECKING:
    from holdfast.domain.records import Turn
    from holdfast.settings import Settings
    from holdfast.store.base import Reader, Store, Writer

KIND = "secret-key"
_KEY_BYTES = 32
# Texts that were scanned and are clean are remembered by their length and their hash, which nobody
# outside this process can predict. So a text that passes several checks is scanned once, and a long
# one only where it has changed.
_CLEAN_MAX = 100_000
# Shorter texts are scanned again faster than they are looked up. A memory is scanned as a draft, as
# a row and as passages: with 200 here, a write of one short memory took 1.2 times as long.
_CLEAN_CHARS_MIN = 40
# Shorter values of a record or of metadata are scanned together, as one text. Longer ones were
# often scanned before, such as the words of a turn that waits for the journaler.
_ALONE_CHARS_MIN = 200
# Shorter texts are no secret by themselves (text.secrets); next to others they may look like one.
_SECRET_CHARS_MIN = 8
# A text this long is scanned in pieces, most of which were scanned before.
_LONG_CHARS_MIN = 20_000
_PIECE_LINES = 32
_OVERLAP_LINES = 3
# The only kind of secret that is longer than the overlap.
_OVER_MANY_LINES = "-----BEGIN"
# Fields that Holdfast fills itself. They are long, and contain no secrets.
_MADE_HERE = ("id", "hub_id", "content_hash", "created_at", "updated_at")
# Names and references are not cleaned but refused if they contain hidden characters, because a
# cleaned one could equal another name (text/clean.py).
_NAMES = frozenset(
    {"key", "tags", "category", "boundary", "parent", "supersedes"}
    | {"kind", "stability", "layer", "content_type", "trust", "source"}
)
# Fields with values of closed lists; every row has a dozen.
_CLOSED = frozenset(
    (
        *(*CONTENT_TYPES, *KINDS, *STABILITIES, *BOUNDARIES, *STATES),
        *(*LAYERS, *TRUSTS, *SOURCES, *CATEGORIES),
    )
)
_HOLDING_TEXT = (tuple, list, Mapping)
# The types of most fields. Checking these is faster than `isinstance(value, Mapping)`.
_WITHOUT_TEXT = frozenset([type(None), bool, int, float, datetime])
_Value = TypeVar("_Value", bound=tuple[Any, ...])


@cache
def _given(
    kind: type[tuple[Any, ...]], but: tuple[str, ...]
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Makes a function that takes from such a row the fields that Holdfast does not fill itself and
    that `but` does not name."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    own = {*_MADE_HERE, *but}
    if kind is Memory:
        own |= {*TIMES, *COUNTERS, "number", "version", "pinned"}
    return itemgetter(*(at for at, name in enumerate(fields) if name not in own))


def _is_plain(text: str) -> bool:
    """Whether a text has no control character and no hidden character."""
    return (text.isascii() and text.isprintable()) or clean_text(text) is text


def _mark(text: str) -> tuple[int, int]:
    return hash(text), len(text)


class Redactor:
    """Replaces secrets and removes control characters, for one store. Thread-safe."""

    def __init__(self, store: Store, settings: Settings, now: Callable[[], datetime]) -> None:
        self._store, self._now = store, now
        self._enabled = bool(settings["secrets.enabled"])
        self._allowed = _Allowed(settings["secrets.allow"])
        self._payment_numbers = bool(settings["secrets.payment_numbers"])
        self._key: bytes | None = None
        self._clean: set[tuple[int, int]] = set()
        # The state of this thread's current transaction: the store's writer, a new key, kinds and
        # counts.
        self._mine = threading.local()

    # Texts and values

    def text(self, text: str, *, keep_hidden: bool = False) -> str:
        """The text without control and hidden characters and with placeholders for its secrets; the
        same object if it has none. `keep_hidden` is for text that the guard reads later, which
        decodes what is hidden."""
        if not (text.isascii() and text.isprintable()):
            text = without_controls(text) if keep_hidden else clean_text(text)
        return self._redacted(text) if self._enabled else text

    def _redacted(self, text: str) -> str:
        if len(text) < _SECRET_CHARS_MIN or _mark(text) in self._clean:
            return text
        if len(text) >= _LONG_CHARS_MIN and self._is_quiet_in_pieces(text):
            self._note_clean(text)
            return text
        from holdfast.text.secrets import redact

        out, kinds = redact(text, self._placeholder, payment_numbers=self._payment_numbers)
        if kinds:
            self._count(kinds)
        elif len(text) >= _CLEAN_CHARS_MIN:
            self._note_clean(text)
        return out

    def answer(self, question: str, text: str) -> str:
        """The text of an answer, with placeholders for its secrets: the answer to 'What is the
        password?' is a secret even if it is a single word."""
        # First by itself; then only the secret that the question reveals is left to find.
        text = self.text(text)
        if not question or not self._enabled:
            return text
        from holdfast.text.secrets import asks_for_secret, find_revealed, redact

        if not asks_for_secret(question):
            return text
        if _mark(text) in self._clean and not find_revealed(question, text):
            return text
        out, kinds = redact(text, self._placeholder, question=question)
        self._count(kinds)
        return out

    def conversation(self, texts: Sequence[str], question: str = "") -> list[str]:
        """Redacts the texts of a conversation, in order; the first one answers `question`. A secret
        that was given as an answer is also replaced where later texts repeat it."""
        if not self._enabled:
            return [self.text(text) for text in texts]
        out: list[str] = []
        answers: dict[str, str] = {}
        for text in texts:
            for secret, placeholder in answers.items():
                text = replace_word(text, secret, placeholder)
            clean = self.answer(question, text)
            if clean != text:
                answers.update(self._answers(question, self.text(text)))
            out.append(clean)
            question = clean
        return out

    def _answers(self, question: str, text: str) -> dict[str, str]:
        """The secrets of an answer, with their placeholders."""
        from holdfast.text.secrets import find_answer

        given = [(one.kind, text[one.start : one.end]) for one in find_answer(question, text)]
        made = {secret: self._placeholder(kind, secret) for kind, secret in given}
        return {secret: instead for secret, instead in made.items() if instead is not None}

    def _is_quiet_in_pieces(self, text: str) -> bool:
        """Whether a long text is clean, checked piece by piece. A text that was scanned before and
        has changed in one line is scanned again only around that line."""
        if _OVER_MANY_LINES in text:
            return False
        from holdfast.text.secrets import find_over_many_lines

        if find_over_many_lines(text):
            return False

        lines = text.splitlines(keepends=True)
        begin = 0
        for at, line in enumerate(lines, 1):
            # Whether a piece ends at a line depends on that line alone, so that an edit does not
            # move the ends of other pieces.
            if hash(line) % _PIECE_LINES and at < len(lines):
                continue
            # The overlap keeps a secret of several lines together in one of two pieces.
            piece = "".join(lines[begin : at + _OVERLAP_LINES])
            if _mark(piece) not in self._clean and not self._holds_nothing(piece):
                return False
            begin = at
        return True

    def value(self, value: Any, name: str = "") -> Any:
        """The same for a JSON value; a value is also judged by its key."""
        if isinstance(value, str):
            kind = _kind_by_name(name, value) if name and self._enabled else ""
            instead = self._placeholder(kind, value) if kind else None
            if instead is None:
                return self.text(value)
            self._count([kind])
            return instead
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(one, str(key)) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            made = [self.value(one, name) for one in value]
            if isinstance(value, list):
                return made
            return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
        return value

    def row(self, row: _Value, *, but: tuple[str, ...] = ()) -> _Value:
        """A named tuple, such as a draft or a turn, with each text in it redacted, except the
        fields in `but`."""
        # The same row passes several checks; only its metadata is mutable.
        if row is getattr(self._mine, "quiet", None):
            return row
        content = "" if but else getattr(row, "content", "")
        if self._is_quiet(_given(type(row), but)(row), content):
            if not but and not getattr(row, "metadata", None):
                self._mine.quiet = row
            return row
        fields: dict[str, Any] = row._asdict()  # type: ignore[attr-defined]
        for name in (*_MADE_HERE, *but):
            fields.pop(name, None)
        new = self.changed(fields)
        return row._replace(**new) if new else row  # type: ignore[attr-defined]

    def turn(self, turn: Turn, question: str) -> Turn:
        """A turn without secrets, including one that is a secret only as the answer to the previous
        turn."""
        out = self.row(turn)
        content = self.answer(question, out.content)
        return out if content == out.content else out._replace(content=content)

    def changed(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields with secrets or control characters, with their new values."""
        if self._is_quiet(fields.values()):
            return {}
        out = {}
        for name, old in fields.items():
            if not isinstance(old, (str, tuple, list, Mapping)):
                continue
            # The names of Holdfast's own fields say nothing about their values.
            new = self._name(old) if name in _NAMES else self.value(old)
            if new != old:
                out[name] = new
        return out

    def _name(self, value: Any) -> Any:
        """A key, a category or tags without secrets."""
        if not self._enabled:
            return value
        if isinstance(value, str):
            return self._redacted(value)
        return type(value)(self._redacted(one) for one in value)

    def _is_quiet(self, values: Iterable[Any], content: str = "") -> bool:
        """Whether none of the values has anything to redact. Short ones are scanned as one text,
        because most rows have many of them and no secret. A value that is part of the content, as
        most titles are, reveals nothing that the content does not."""
        if content and not self._is_clean(content):
            return False
        short: list[str] = []
        for value in values:
            if not value or type(value) in _WITHOUT_TEXT:
                continue
            if isinstance(value, str):
                if value in _CLOSED or value.removesuffix("…") in content:
                    continue
                if len(value) < _CLEAN_CHARS_MIN:
                    short.append(value)
                elif not self._is_clean(value):
                    return False
            elif isinstance(value, _HOLDING_TEXT) and not self._gather(value, "", short):
                return False
        together = "\n".join(short)
        is_simple = together.isascii() and "".join(short).isprintable()
        if not is_simple and not _is_plain(together):
            return False
        if not self._enabled or _mark(together) in self._clean:
            return True
        return self._holds_nothing(together)

    def _gather(self, value: Any, name: str, into: list[str]) -> bool:
        """Collects the texts of a JSON value; False if one of them is a secret by its key."""
        if isinstance(value, str):
            if name and self._enabled and _kind_by_name(name, value):
                return False
            if len(value) >= _ALONE_CHARS_MIN:
                return self._is_clean(value)
            if len(value) >= _SECRET_CHARS_MIN:
                into.append(value)
            elif not _is_plain(value):
                return False
        elif isinstance(value, Mapping):
            return all(
                self._gather(str(key), "", into) and self._gather(one, str(key), into)
                for key, one in value.items()
            )
        elif isinstance(value, (tuple, list)):
            return all(self._gather(one, name, into) for one in value)
        return True

    def _is_clean(self, text: str) -> bool:
        """Whether a longer text is known to be clean and need not be scanned again."""
        if not _is_plain(text):
            return False
        if not self._enabled or _mark(text) in self._clean:
            return True
        if len(text) >= _LONG_CHARS_MIN and self._is_quiet_in_pieces(text):
            self._note_clean(text)
            return True
        return self._holds_nothing(text)

    def _holds_nothing(self, text: str) -> bool:
        from holdfast.text.secrets import find

        if find(text, payment_numbers=self._payment_numbers):
            return False
        self._note_clean(text)
        return True

    def memory(self, memory: Memory) -> Memory:
        """The memory without secrets, control characters and hidden text, with the hash of its new
        content."""
        out = self.row(memory)
        if out.content != memory.content:
            out = out._replace(content_hash=content_hash(out.content))
        return out

    def revised(self, fields: Mapping[str, tuple[Any, Any]]) -> dict[str, tuple[Any, Any]]:
        """The fields of a revision, old and new, redacted, with the hash of the new content."""
        out = {name: (self.value(old), self.value(new)) for name, (old, new) in fields.items()}
        if "content" in out and out["content"] != fields["content"] and "content_hash" in out:
            hashes = (None if text is None else content_hash(text) for text in out["content"])
            out["content_hash"] = tuple(hashes)  # type: ignore[assignment]
        return out

    def json(self, text: str) -> str:
        """Redacts a text that may be JSON; if it was valid JSON, it stays valid."""
        if self.text(text) is text or not text.startswith(("{", "[")):
            return self.text(text)
        import json

        try:
            value = json.loads(text)
        except ValueError:
            return self.text(text)
        return json.dumps(self.value(value), ensure_ascii=False)

    # Reports

    def take(self) -> dict[str, int]:
        """How many secrets of each kind this thread has replaced since the last call."""
        counts: dict[str, int] = getattr(self._mine, "counts", {})
        self._mine.counts = {}
        return counts

    def note(self, before: str, after: str, where: str) -> str:
        """A sentence on what was replaced between two texts; empty if nothing was."""
        if before == after:
            return ""
        from holdfast.text.secrets import placeholders

        old = placeholders(before)
        new = {kind: n - old.get(kind, 0) for kind, n in placeholders(after).items()}
        return f"{redaction_note(new)} in {where} by a placeholder." if any(new.values()) else ""

    def found(self, text: str) -> list[str]:
        """The kinds of the secrets in a text, one per secret; nothing is replaced or counted."""
        if not self._enabled:
            return []
        from holdfast.text.secrets import find

        found = find(text, payment_numbers=self._payment_numbers)
        at = [(one.kind, text[one.start : one.end]) for one in found]
        return [kind for kind, secret in at if self._placeholder(kind, secret) is not None]

    def refuse_in_name(self, name: str, what: str) -> None:
        """Refuses a name that holds a secret: with a placeholder in it, it would be another one."""
        if kinds := self.found(name):
            raise InvalidInput(
                f"The {what} holds a secret ({kinds[0]}), so nothing was written.",
                hint="Use a name without it.",
            )

    def _count(self, kinds: list[str]) -> None:
        counts: dict[str, int] = getattr(self._mine, "counts", {})
        for kind in kinds:
            counts[kind] = counts.get(kind, 0) + 1
        self._mine.counts = counts

    def _note_clean(self, text: str) -> None:
        if len(self._clean) >= _CLEAN_MAX:
            self._clean = set()
        self._clean.add(_mark(text))

    # Placeholders

    def _placeholder(self, kind: str, secret: str) -> str | None:
        from holdfast.text.secrets import PLACEHOLDER

        if PLACEHOLDER.fullmatch(secret) or self._allowed.by_shape(kind, secret):
            return None
        import hmac

        digest = hmac.new(
            self._find_key(), secret.encode("utf-8", "surrogatepass"), "sha256"
        ).hexdigest()[:8]
        return None if digest in self._allowed.hashes else f"[secret:{kind}:{digest}]"

    def _find_key(self) -> bytes:
        if self._key is not None:
            return self._key
        writer: Writer | None = getattr(self._mine, "writer", None)
        if writer is not None:
            key = _read(writer) or self._make(writer)
            self._mine.key = key
            return key
        with self._store.read() as reader:
            found = _read(reader)
        if found is None:
            with self._store.write(hub=NO_HUB) as writer:
                found = _read(writer) or self._make(writer)
        self._key = found
        return found

    def _make(self, writer: Writer) -> bytes:
        import os

        key = os.urandom(_KEY_BYTES)
        writer.put_record(Record(NO_HUB, KIND, KIND, self._now(), {"key": key.hex()}))
        return key

    @contextmanager
    def inside(self, writer: Writer) -> Iterator[None]:
        """A context manager for a write transaction of this thread: the key is read or created in
        that transaction, so that a store never gets a second one."""
        self._mine.writer, self._mine.key = writer, None
        try:
            yield
        finally:
            self._mine.writer = None

    def committed(self) -> None:
        """Called after the commit, which also committed the key if it was created there."""
        self._key = self._key or getattr(self._mine, "key", None)


def replace_word(text: str, word: str, instead: str) -> str:
    """The text with each whole-word occurrence replaced."""
    if word not in text:
        return text
    import re

    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: instead, text)


def redaction_note(kinds: Mapping[str, int]) -> str:
    """The beginning of a sentence on what was replaced: how many secrets of which kinds, never the
    secrets."""
    total = sum(kinds.values())
    named = ", ".join(f"{kind} {n}" if n > 1 else kind for kind, n in sorted(kinds.items()) if n)
    return f"{total} {'secret was' if total == 1 else 'secrets were'} replaced ({named})"


# The metadata of many memories has the same few names.
@lru_cache(maxsize=1_024)
def _may_name(name: str) -> bool:
    from holdfast.text.secrets import may_name_secret

    return may_name_secret(name)


def _kind_by_name(name: str, value: str) -> str:
    if not _may_name(name):
        return ""
    from holdfast.text.secrets import named_secret

    return named_secret(name, value)


def _read(reader: Reader) -> bytes | None:
    found = reader.record(NO_HUB, KIND, KIND)
    return None if found is None else bytes.fromhex(found.body["key"])


class _Allowed:
    """The secrets that may be stored: kinds, hashes as placeholders show them, and patterns with
    `*` that match a whole secret."""

    def __init__(self, setting: str) -> None:
        given = setting.replace(",", " ").split()
        self.hashes = frozenset(one for one in given if _is_hash(one))
        self._shapes = [one for one in given if one not in self.hashes]

    def by_shape(self, kind: str, secret: str) -> bool:
        if not self._shapes:
            return False
        from fnmatch import fnmatchcase

        return any(one == kind or fnmatchcase(secret, one) for one in self._shapes)


def _is_hash(text: str) -> bool:
    return len(text) == 8 and all(char in "0123456789abcdef" for char in text)
