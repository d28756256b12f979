"""Checks and cleans what a caller gives: fields of a memory, times, control and hidden characters,
and passages marked as private. What cannot be cleaned is refused with a sentence that helps.

Content is stored as it is given; only names, keys, tags and categories are put into one form.
`without_controls` removes escape sequences, control characters and bidirectional overrides,
`without_hidden` removes characters that carry hidden data. Stored text is escaped where it is
printed (`printable`, `printable_line`). No store holds NUL or lone surrogates, so they are refused.
This module does not know which hubs, keys or memories exist.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, cast

from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.names import hidden_character

if TYPE_CHECKING:
    from typing import Protocol

    class _Digest(Protocol):
        def hexdigest(self) -> str: ...


# The bound Memax's clients already know; a book is about 1 MB.
CONTENT_BYTES_MAX = 3_000_000
# Longer than any key seen in use, short enough for a line on a terminal and for an index row.
KEY_CHARS_MAX = 200
# A hub's name is a folder's name too, and those end at 255 bytes: 63 characters of four.
HUB_NAME_CHARS_MAX = 63
# More tags than this no longer distinguish memories.
TAGS_MAX = 32
LABEL_CHARS_MAX = 64

# Patterns are compiled when first needed: most processes check a hub name and nothing else.

# Windows opens a device under these names, with or without an extension.
_RESERVED_NAMES = frozenset(
    [
        "con",
        "prn",
        "aux",
        "nul",
        *(f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"),
    ]
)
_SURROGATE = "[\ud800-\udfff]"
_ILLEGAL_IN_NAME = r"[^\w.-]"
# A comma or semicolon would read as two tags in a list; a slash is a nested tag, as in Obsidian.
_ILLEGAL_IN_TAG = r"\s*[,;\\]\s*"
_ILLEGAL_IN_CATEGORY = r"\s*[,;/\\]\s*"


# ── content ──────────────────────────────────────────────────────────────────────────────────


def clean_content(text: str, *, bytes_max: int = CONTENT_BYTES_MAX) -> str:
    """Checks that the text can be stored, and returns it unchanged.

    NUL and half characters are refused. Other control characters, and those that hide text, are
    removed where the text is stored (`text/clean.py`).
    """
    _require_text(text, "Content")
    if not is_visible(text):
        raise InvalidInput(
            "The content is empty.", hint="Give at least one word that is worth remembering."
        )
    _require_encodable(text, "The content")
    # len() is a lower bound of the bytes, so a huge text is refused before it is encoded.
    size = len(text) if len(text) > bytes_max or text.isascii() else len(text.encode())
    if size > bytes_max:
        size = len(text.encode())
        raise InvalidInput(
            f"The content has {size:,} bytes; at most {bytes_max:,} are allowed.",
            hint="Split it into several memories, or keep a summary and the path to the file.",
        )
    return text


def is_visible(text: str) -> bool:
    """Whether anything in it can be seen; ends at the first character that can."""
    return any(
        not char.isspace() and unicodedata.category(char) not in ("Cf", "Cc", "Zs", "Zl", "Zp")
        for char in text
    )


def content_hash(text: str) -> str:
    """The hash two texts share when they differ only in what a re-save changes.

    Composed and decomposed letters, line endings, and whitespace around the whole are alike.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.strip()
    # Surrogates cannot be stored, but asking for a hash must not fail on them.
    return _sha256()(text.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _sha256() -> Callable[[bytes], _Digest]:
    """The interpreter's own SHA-256, by the names it has had, as its `random` takes it: hashlib
    loads OpenSSL, which is a tenth of the time that `holdfast remember` takes."""
    for name in ("_sha2", "_sha256"):
        try:
            return cast("Callable[[bytes], _Digest]", __import__(name).sha256)
        except ImportError:
            continue
    import hashlib

    return hashlib.sha256


def _require_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise InvalidInput(
            f"{what} must be text, not {type(value).__name__}.",
            hint="Decode bytes first, and turn other values into text yourself.",
        )


def _require_encodable(text: str, what: str) -> None:
    if (position := text.find("\0")) >= 0:
        raise InvalidInput(
            f"{what} has a NUL character at position {position}.",
            hint="Remove it; if this is a binary file, remember its text or its path instead.",
        )
    if not text.isascii() and (found := re.search(_SURROGATE, text)):
        raise InvalidInput(
            f"{what} has a lone surrogate (U+{ord(found.group()):04X}) at position "
            f"{found.start()}, which is half a character.",
            hint="The text was decoded wrongly or cut in the middle of an emoji; decode it anew.",
        )


# ── names ────────────────────────────────────────────────────────────────────────────────────


def clean_key(text: str) -> str:
    """A key: one line of any characters that can be seen, in composed form, trimmed.

    Agents choose keys like `user/name` or `what?`. No key is ever a path or a file's name.
    """
    text = _one_line(text, "key", KEY_CHARS_MAX)
    # Where a memory is asked for, these would be read as its number or its id.
    if text.removeprefix("#").isdecimal() or text.startswith("mem_"):
        raise InvalidInput(
            f"The key {text!r} reads like a memory's number or id.",
            hint=_suggestion(f"key-{text.removeprefix('#').removeprefix('mem_')}"),
        )
    return text


def clean_hub_name(text: str) -> str:
    """A hub's name: letters, digits, `-`, `_`, `.`; safe as a folder's name on every system."""
    text = _one_line(text, "hub name", HUB_NAME_CHARS_MAX)
    suggestion = _suggestion(_suggest(text, _ILLEGAL_IN_NAME).strip(".-")[:HUB_NAME_CHARS_MAX])
    if found := re.search(_ILLEGAL_IN_NAME, _without_marks(text)):
        raise InvalidInput(
            f"The hub name {text!r} has {_named(found.group())}; names have letters, digits, "
            "'-', '_' and '.'.",
            hint=suggestion,
        )
    # A leading dash would read as an option on the command line, a leading dot hides the folder,
    # and Windows drops a trailing dot.
    if text[0] in ".-" or text[-1] == "." or ".." in text:
        raise InvalidInput(
            f"The hub name {text!r} starts with '.' or '-', ends with '.', or has two dots "
            "in a row.",
            hint=suggestion,
        )
    if text.partition(".")[0].lower() in _RESERVED_NAMES:
        raise InvalidInput(
            f"The hub name {text!r} is reserved on Windows and cannot be a folder there.",
            hint=_suggestion(f"{text.partition('.')[0]}-hub"),
        )
    return text


def clean_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Tags in lower case, trimmed, without a leading `#`, each once, in the order given."""
    if isinstance(values, str):
        raise InvalidInput(
            "Tags must be a list of texts, not one text.", hint=f"Use [{values!r}] instead."
        )
    if isinstance(values, Mapping) or not isinstance(values, Iterable):
        raise InvalidInput(f"Tags must be a list of texts, not {type(values).__name__}.")
    tags: dict[str, None] = {}
    for value in values:
        _require_text(value, "A tag")
        if tag := value.strip().removeprefix("#"):
            tags[_label(tag, "tag", _ILLEGAL_IN_TAG)] = None
    if len(tags) > TAGS_MAX:
        raise InvalidInput(
            f"There are {len(tags)} tags; at most {TAGS_MAX} are allowed.",
            hint="Keep the ones you would search by.",
        )
    return tuple(tags)


def clean_category(text: str) -> str:
    """A category: any label, in lower case, trimmed; it may become a file's name."""
    return _label(text, "category", _ILLEGAL_IN_CATEGORY)


def _label(text: str, what: str, illegal: str) -> str:
    text = " ".join(_one_line(text, what, LABEL_CHARS_MAX).lower().split())
    if found := re.search(illegal, text):
        raise InvalidInput(
            f"The {what} {text!r} has {_named(found.group().strip())}, which is not allowed there.",
            hint=_suggestion(_suggest(text, illegal)),
        )
    return text


def _one_line(text: str, what: str, chars_max: int) -> str:
    """Composed and trimmed, 1 to `chars_max` characters, none of them a control character."""
    _require_text(text, f"A {what}")
    text = unicodedata.normalize("NFC", text).strip()
    if not text:
        raise InvalidInput(f"The {what} is empty.", hint=f"Give a {what} of at least one letter.")
    _require_encodable(text, f"The {what}")
    if len(text) > chars_max:
        raise InvalidInput(
            f"The {what} has {len(text)} characters; at most {chars_max} are allowed.",
            hint="Use a shorter one.",
        )
    # Invisible characters (zero width, right-to-left marks) would let two names that look the same
    # be different.
    # A tag or a category may be an emoji, which is spelled with variation selectors.
    seen = text if what in ("key", "hub name") else with_blank_selectors(text)
    if (position := hidden_character(seen)) is not None:
        raise InvalidInput(
            f"The {what} has an invisible character (U+{ord(text[position]):04X}) at position "
            f"{position}.",
            hint="Type it anew instead of pasting it.",
        )
    return text


def _without_marks(text: str) -> str:
    """Text without combining marks, which belong to letters though `\\w` leaves them out."""
    if text.isascii():
        return text
    return "".join(c for c in text if not unicodedata.category(c).startswith("M"))


def _named(character: str) -> str:
    named = {"/": "a slash", "\\": "a backslash", " ": "a space"}
    return named.get(character, f"the character {character!r}")


def _suggest(text: str, illegal: str) -> str:
    return re.sub(r"\.{2,}", ".", re.sub("-{2,}", "-", re.sub(illegal, "-", text))).strip("-. ")


def _suggestion(text: str) -> str:
    return f"Try {text!r}." if text else "Use letters and digits."


# ── closed lists and times ───────────────────────────────────────────────────────────────────


def one_of(value: str, allowed: tuple[str, ...], field: str) -> str:
    """The value, when it is one of a closed list; case and outer whitespace do not matter."""
    _require_text(value, f"The {field}")
    plain = value.strip().lower()
    if plain in allowed:
        return plain
    import difflib  # here, because only a mistake needs it

    nearest = difflib.get_close_matches(plain, allowed, n=1)
    guess = f"Did you mean {nearest[0]!r}? " if nearest else ""
    raise InvalidInput(
        f"{value!r} is not a valid {field}.", hint=f"{guess}Valid are: {', '.join(allowed)}."
    )


def clean_time(value: datetime | str | None) -> datetime | None:
    """An aware UTC time from one with a zone, from ISO 8601 text with a zone, or None."""
    if value is None:
        return None
    given = value
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError as error:
            raise InvalidInput(
                f"{given!r} is not a date and time that exists ({error}).",
                hint="Write it like 2026-05-27T14:30:00+02:00 or 2026-05-27T12:30:00Z.",
            ) from None
    if not isinstance(value, datetime):
        raise InvalidInput(
            f"A time must be a datetime or text, not {type(value).__name__}.",
            hint="Use datetime(2026, 5, 27, tzinfo=UTC) or '2026-05-27T00:00:00Z'.",
        )
    if value.utcoffset() is None:
        raise InvalidInput(
            f"The time {given!s} has no zone, so it could mean any of 26 hours.",
            hint="Add a zone: tzinfo=UTC in Python, or a trailing Z or +02:00 in text.",
        )
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(
            f"The time {given!s} is outside the years 1 to 9999 in UTC.",
            hint="Use a time within these years.",
        ) from None


# Line ends other than LF and CRLF. Some programs break the line there, others do not.
_OTHER_LINE_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
# Embeddings, overrides and isolates reorder the text around them. The marks U+200E, U+200F and
# U+061C only give a direction to the characters beside them; Arabic and Hebrew need them.
_BIDIRECTIONAL = "\u202a-\u202e\u2066-\u2069"
# C0 without NUL, tab, LF and CR; DEL and C1; deprecated format characters; interlinear marks.
_CONTROLS = "\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u206a-\u206f\ufff9-\ufffb"
_ESCAPE_SEQUENCE = (
    # CSI: colours, cursor movement, erasing. ESC [ or its C1 form.
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"
    # OSC, DCS, SOS, PM, APC: titles, links, clipboard; up to BEL or ST, on one line.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x01-\x1f\x7f-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    # Other sequences of two characters, such as a reset or a change of character set.
    r"|\x1b[ -/]{0,4}[0-~]"
)
_PLAIN_ASCII = bytes([ord("\t"), ord("\n"), *range(0x20, 0x7F)])
_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
# A black flag, a subdivision of a country in tag letters, and the tag that ends it.
_SUBDIVISION_FLAG = "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{3,6}\U000e007f"
# Zero-width characters have uses between letters and in emoji; nobody needs eight in a row.
_ZERO_WIDTH_RUN = "[\u200b-\u200d\u2060-\u2064\ufeff]{8,}"
_KEYCAPS = frozenset("0123456789#*")
_EMOJI_OF_OTHER_KINDS = frozenset("‼⁉ℹ〰")


class _Patterns(NamedTuple):
    """Compiled when first needed. The first three are plain sets, which are searched many times as
    fast as alternatives; most texts have nothing of them."""

    control: re.Pattern[str]
    carrier: re.Pattern[str]
    zero_width: re.Pattern[str]
    sequence: re.Pattern[str]
    hidden: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    return _Patterns(
        re.compile(f"[{_CONTROLS}{_BIDIRECTIONAL}]"),
        re.compile(f"[{_TAGS}{_SELECTORS}]"),
        re.compile(_ZERO_WIDTH_RUN),
        re.compile(f"{_ESCAPE_SEQUENCE}|[{_CONTROLS}{_BIDIRECTIONAL}]|\r(?!\n)"),
        re.compile(f"{_SUBDIVISION_FLAG}|[{_TAGS}]|[{_SELECTORS}]|{_ZERO_WIDTH_RUN}"),
    )


def without_controls(text: str) -> str:
    """Text without escape sequences, control characters and bidirectional overrides; every line
    end is LF or CRLF. The very same object where there is nothing to remove."""
    # Most texts are plain: that is known in a quarter of the time that the pattern takes.
    if text.isascii() and not text.encode().translate(None, _PLAIN_ASCII):
        return text
    patterns = _patterns()
    if patterns.control.search(text) is None and text.count("\r") == text.count("\r\n"):
        return text
    return patterns.sequence.sub(_plain_control, text)


def _plain_control(found: re.Match[str]) -> str:
    return "\n" if found[0] in _OTHER_LINE_ENDS or found[0] == "\r" else ""


def without_hidden(text: str) -> str:
    """Text without tag characters, variation selectors and long runs of zero-width characters,
    except where they are part of an emoji or of an ideograph. The very same object where there is
    nothing to remove."""
    if text.isascii():
        return text
    patterns = _patterns()
    if patterns.carrier.search(text) is None and patterns.zero_width.search(text) is None:
        return text
    cleaned = patterns.hidden.sub(_kept, text)
    return text if cleaned == text else cleaned


def _kept(found: re.Match[str]) -> str:
    matched = found[0]
    if matched.startswith("\U0001f3f4"):
        return matched
    before = found.string[found.start() - 1] if found.start() else ""
    return matched if before and _selects(before, matched) else ""


@lru_cache(maxsize=4096)
def _selects(base: str, selector: str) -> bool:
    """Whether a variation selector has a meaning after this character."""
    category = unicodedata.category(base)
    if selector in "\ufe0e\ufe0f":
        return category in ("So", "Sm", "Sk") or base in _KEYCAPS or base in _EMOJI_OF_OTHER_KINDS
    is_ideograph = category == "Lo" and unicodedata.name(base, "").startswith("CJK")
    if selector >= "\U000e0100":
        return is_ideograph and selector <= "\U000e01ef"
    return selector == "\ufe00" and (is_ideograph or category == "Sm")


def with_blank_selectors(text: str) -> str:
    """Text of the same length with a space for each selector of an emoji's style that has a meaning
    in its place."""
    if text.isascii():
        return text
    return re.sub("[\ufe0e\ufe0f]", lambda found: " " if _kept(found) else found[0], text)


def clean_text(text: str) -> str:
    """Text as it is stored: without controls and without hidden characters."""
    if text.isascii() and text.isprintable():
        return text
    return without_hidden(without_controls(text))


def storable(text: str) -> str:
    """The text without NUL and lone surrogates, which no store can hold."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode()


# ── output ───────────────────────────────────────────────────────────────────────────────────

# The codes of all characters that steer a terminal or reorder text, NUL and CR among them.
STEERING = (
    *(code for code in range(0x20) if code not in (0x09, 0x0A)),
    *range(0x7F, 0xA0),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x2070),
)
_ESCAPED = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in STEERING}
_ESCAPED_LINE = _ESCAPED | {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x5C: "\\\\"}
# JSON escapes C0 itself, and leaves the rest as it is.
JSON_ESCAPES = {code: f"\\u{code:04x}" for code in STEERING if code >= 0x7F}


def printable(text: str) -> str:
    """Text with an escape like `\\x1b` for whatever steers a terminal; lines stay lines."""
    return text.replace("\r\n", "\n").translate(_ESCAPED)


def printable_line(text: str) -> str:
    """Text on one line, every control character and backslash escaped: nothing is lost."""
    return text.translate(_ESCAPED_LINE)
