"""The text format of an archived conversation: creating, reading, and adding messages.

It is Markdown. Each message is a quotation, so that no heading, fence or comment in it extends
beyond it; hidden comments identify messages and sessions when more are added. This module knows
neither files nor the store.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from holdfast.text.classify import summarise

# The length to which the original systems cut a message.
MESSAGE_CHARS_MAX = 2_000
SLUG_CHARS_MAX = 50
_TITLE_CHARS_MAX = 200
_LABEL_CHARS_MAX = 100

_SESSION = re.compile(r"^<!-- session (\".*\") -->$", re.MULTILINE)
_MESSAGE = re.compile(r"^<!-- message (\S+) -->$", re.MULTILINE)
_SUMMARY = re.compile(r"^## Summary\n.*?(?=^## Conversation$)", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"\A# .*$", re.MULTILINE)
_HEAD = re.compile(r"\*\*(.+)\*\*(?: \((.*)\))?$")
_COUNT = re.compile(r"^- Messages: \d+$", re.MULTILINE)


class Message(NamedTuple):
    """A message of an archived conversation: its id, the speaker (with the place and time, if
    known), and the text."""

    id: str
    who: str
    about: str
    text: str


def slug_of(name: str) -> str:
    """A name as part of the file name of an archive, in any script; empty if no character is
    usable."""
    folded = unicodedata.normalize("NFKC", name).lower()
    kept = []
    for char in folded:
        kind = unicodedata.category(char)
        if kind[0] in "LMN":
            kept.append(char)
        elif kind != "Cf":
            kept.append("-")
    slug = re.sub("-+", "-", unicodedata.normalize("NFC", "".join(kept))).strip("-")
    # A combining mark cannot be the first character.
    while slug and unicodedata.category(slug[0])[0] == "M":
        slug = slug[1:].lstrip("-")
    if len(slug) > SLUG_CHARS_MAX:
        cut = slug[:SLUG_CHARS_MAX]
        word_end = cut.rfind("-", SLUG_CHARS_MAX // 2)
        slug = (cut[:word_end] if slug[SLUG_CHARS_MAX] != "-" and word_end > 0 else cut).strip("-")
    return slug


def bare(text: str) -> str:
    """Text on one line, without invisible characters."""
    return " ".join("".join(" " if unicodedata.category(c)[0] == "C" else c for c in text).split())


def one_line(text: str, chars_max: int = _LABEL_CHARS_MAX) -> str:
    """A label that cannot break out of its line or its emphasis."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", bare(text)[:chars_max])


def text_of(said: str) -> str:
    """The text of a message as stored in an archive: cut to its limit, with uniform line ends."""
    plain = said.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return plain if len(plain) <= MESSAGE_CHARS_MAX else plain[:MESSAGE_CHARS_MAX] + "…"


def message_of(
    id_: str, role: str, text: str, *, source: str = "", at: datetime | None = None
) -> Message:
    """A message of an archive."""
    when = f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else ""
    about = ", ".join(one_line(part) for part in (source, when) if part)
    return Message(id_, one_line(role) or "Unknown", about, text_of(text))


def make(title: str, session: str, day: str, messages: Sequence[Message]) -> str:
    """The text of a new archive."""
    head = [
        f"# {one_line(title, _TITLE_CHARS_MAX)}",
        f"<!-- session {_quoted(session)} -->",
        f"- Session: {one_line(session, _TITLE_CHARS_MAX)}\n"
        f"- Date: {day}\n"
        f"- Messages: {len(messages)}",
        f"## Summary\n\n{_shown(summary_of(messages))}",
        "## Conversation",
    ]
    return "\n\n".join(head) + "\n" + "".join(map(_rendered, messages))


def add(text: str, messages: Sequence[Message]) -> str:
    """The archive with the messages added that it lacks; unchanged if it has all.

    Text that a person wrote between the messages stays.
    """
    known = read(text)
    fresh = _missing(known, messages)
    if not fresh:
        return text
    every = [*known, *fresh]
    summary = f"## Summary\n\n{_shown(summary_of(every))}\n\n"
    text = _SUMMARY.sub(lambda _: summary, text, count=1)
    text = _COUNT.sub(f"- Messages: {len(every)}", text, count=1)
    return text.rstrip("\n") + "\n" + "".join(map(_rendered, fresh))


def without(text: str, said: Mapping[str, str]) -> str | None:
    """The archive without messages that have one of these ids, or that a caller passed in with the
    same text; None if no message is left. Text that a person wrote between the messages stays."""
    texts = set(map(text_of, said.values()))
    every = read(text)
    gone = [one for one in every if one.id in said or (not is_logged(one.id) and one.text in texts)]
    if not gone:
        return text
    left = [one for one in every if one not in gone]
    if not left:
        return None
    places = [*(match.start() for match in _MESSAGE.finditer(text)), len(text)]
    parts = [text[: places[0]]]
    for message, start, end in zip(every, places, places[1:], strict=False):
        part = text[start:end]
        parts.append(_unquoted(part) if message in gone else part)
    cut = "".join(parts)
    summary = f"## Summary\n\n{_shown(summary_of(left))}\n\n"
    cut = _SUMMARY.sub(lambda _: summary, cut, count=1)
    cut = _COUNT.sub(f"- Messages: {len(left)}", cut, count=1)
    return _TITLE.sub("# Conversation", cut, count=1)


def _unquoted(part: str) -> str:
    """Text that a person wrote after a message."""
    lines = part.split("\n")[1:]
    own = [line for line in lines if not line.startswith(">") and not _HEAD.match(line)]
    return "\n".join(own).strip("\n") + "\n\n" if any(map(str.strip, own)) else ""


def _missing(known: Sequence[Message], messages: Sequence[Message]) -> list[Message]:
    """The messages that are not among the known ones.

    A message has one id in the log and another when a caller passes it in, so between these two
    kinds the text decides: each known message matches one with the same text. Two turns of the log
    with the same text are two messages.
    """
    seen = {message.id for message in known}
    given = {message.id for message in messages}
    alike: dict[tuple[bool, str, str], int] = {}
    for message in known:
        if message.id not in given:
            kind = (is_logged(message.id), message.who, message.text)
            alike[kind] = alike.get(kind, 0) + 1
    out = []
    for message in messages:
        other_kind = (not is_logged(message.id), message.who, message.text)
        if message.id in seen:
            continue
        if alike.get(other_kind, 0):
            alike[other_kind] -= 1
        else:
            out.append(message)
    return out


def is_logged(id_: str) -> bool:
    """Whether the id is that of a turn of the log, not one made from the text."""
    return id_.startswith("trn_")


def read(text: str) -> list[Message]:
    """The messages of an archive, in order."""
    found = list(_MESSAGE.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    out = []
    for match, end in zip(found, ends, strict=True):
        lines = text[match.end() : end].strip("\n").split("\n")
        head = _HEAD.match(lines[0])
        quoted = [line[1:].removeprefix(" ") for line in lines if line.startswith(">")]
        who, about = (head[1], head[2] or "") if head else ("Unknown", "")
        out.append(Message(match[1], who, about, "\n".join(quoted)))
    return out


def session_of(text: str) -> str | None:
    """The session of an archive; None for other files."""
    found = _SESSION.search(text)
    try:
        value = json.loads(found[1]) if found else None
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def summary_of(messages: Sequence[Message]) -> str:
    """The most important sentences of a conversation, with their speakers; not empty if anybody
    spoke."""
    found: list[str] = []
    speakers: list[int] = []
    for place, message in enumerate(messages):
        for sentence in summarise.sentences(message.text):
            found.append(sentence)
            speakers.append(place)
    # Every sentence may be on a line of its own after the speaker's name.
    each = max((len(message.who) for message in messages), default=0) + 3
    said: dict[int, list[str]] = {}
    for chosen in summarise.choose(found, each=each):
        said.setdefault(speakers[chosen], []).append(found[chosen])
    lines = [f"{messages[place].who}: {' '.join(parts)}" for place, parts in said.items()]
    return "\n".join(lines)[: summarise.SUMMARY_CHARS_MAX]


def ids_of(messages: Iterable[tuple[str, str]]) -> list[str]:
    """Ids for messages of an archive without one, from role and text; repeated ones get a
    number."""
    import hashlib

    seen: dict[str, int] = {}
    out = []
    for role, text in messages:
        digest = hashlib.sha256(f"{role}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
        seen[digest] = seen.get(digest, 0) + 1
        out.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return out


def _quoted(session: str) -> str:
    """The session in a comment, escaped so that it cannot end the comment."""
    return (
        json.dumps(session).replace("<", "\\u003c").replace(">", "\\u003e").replace("-", "\\u002d")
    )


def _shown(summary: str) -> str:
    return "\n".join(f"- {line}" for line in summary.split("\n"))


def _rendered(message: Message) -> str:
    about = f" ({message.about})" if message.about else ""
    quoted = "\n".join(f"> {line}" if line else ">" for line in message.text.split("\n"))
    return f"\n<!-- message {message.id} -->\n**{message.who}**{about}\n\n{quoted}\n"
