"""Text files: bytes into characters. UTF-8, UTF-16 with its mark, else Windows-1252, which is what
old western files are in; what is none of them is not guessed at."""

from __future__ import annotations

from holdfast.extract.found import Unreadable

# In a western text most letters are plain ones; a file with more others is in another encoding.
_FOREIGN_SHARE_MAX = 0.3
_FOREIGN = bytes(range(128, 256))


def decoded(data: bytes) -> str:
    """The text; Unreadable where no encoding fits."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _or_unreadable(data, "utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    plain = len(data.translate(None, delete=_FOREIGN))
    if len(data) - plain > _FOREIGN_SHARE_MAX * len(data):
        raise Unreadable("it is in an encoding that is not known; save it as UTF-8")
    return _or_unreadable(data, "cp1252")


def _or_unreadable(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        raise Unreadable("it is in an encoding that is not known; save it as UTF-8") from None
