"""The program of the limited process. It sets its limits first, reads one file or page, and writes
lines of JSON: progress, then the text or the reason why there is none.

It has no store and no settings; what it needs is in its first argument, and a file comes as its
standard input. It ends itself if nobody waits for it any more.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from holdfast.extract.readers import ExtractedText, Unavailable, Unreadable, kind_of, named_image

if TYPE_CHECKING:
    from holdfast.extract.link import FetchedPage

_HEAD = 1 << 16
# Few, as readers open few; enough for a library to load.
_FILES_MAX = 256


def limit(cpu_s: int, memory_mb: int, wall_s: int) -> None:
    """Limits the process that reads a file: memory, processor time and the clock; no files are
    written, no core is left."""
    import signal

    if sys.platform == "win32":
        # There only the time is limited, by the parent process.
        return
    import resource

    bounds = {
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_AS: memory_mb << 20,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: _FILES_MAX,
    }
    for kind, most in bounds.items():
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # Some systems have the name of a limit and do not enforce it; the parent enforces the time
        # everywhere.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))
    # The parent process may have been killed.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(wall_s)


def _speak_alone() -> None:
    """Reserves standard output for this module: what a library prints is discarded."""
    sys.stdout = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)


def _say(**what: Any) -> None:
    # ASCII, so that a lone surrogate out of a broken file cannot break the line.
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _progress(done: int, total: int) -> None:
    _say(progress=[done, total])


def read_file(file: BinaryIO, asked: dict[str, Any]) -> tuple[ExtractedText, str]:
    """The text of a file, and what it turned out to be."""
    from holdfast.extract.readers import Ocr

    head = file.read(_HEAD)
    file.seek(0)
    media_type, family = kind_of(head, asked["name"])
    if family != "image" and named_image(asked["name"]):
        raise Unreadable("it is named like an image and is none")
    chars_max = asked["chars_max"]
    ocr = Ocr(asked["tesseract"], asked["languages"])
    if family == "pdf":
        from holdfast.extract.readers import read_pdf

        return read_pdf(file, chars_max, _progress, ocr), media_type
    if family == "image":
        from holdfast.extract.readers import read_image

        return read_image(file, ocr), media_type
    if family == "zip":
        from holdfast.extract.readers import read_office

        return read_office(file, chars_max, _progress)
    if family == "other":
        raise Unreadable(f"nothing here reads files of the type {media_type}")
    # More bytes than the limit would only be cut off: no character has more than four.
    data = file.read(chars_max * 4 + 4)
    return _read_text(data, family == "html", bool(file.read(1))), media_type


def _read_text(data: bytes, is_html: bool, cut: bool) -> ExtractedText:
    from holdfast.extract.link import page_text
    from holdfast.extract.readers import decoded

    if cut:
        # Never in the middle of a character, nor of a line.
        data = data[: data.rfind(b"\n") + 1] or data[: len(data) & ~3]
    text = decoded(data)
    found = page_text(text) if is_html else ExtractedText(text)
    return found._replace(note="only its first part was read") if cut else found


def read_page(asked: dict[str, Any]) -> tuple[ExtractedText, str, str]:
    """The text of a page, its type, and its final address."""
    from holdfast.extract.link import Bounds, fetch

    bounds = Bounds(asked["bytes_max"], asked["timeout_s"], tuple(asked["allowed"]))
    page = fetch(asked["address"], bounds)
    is_html = page.media_type in ("text/html", "application/xhtml+xml")
    return _decoded_page(page, is_html), page.media_type, page.address


def _decoded_page(page: FetchedPage, is_html: bool) -> ExtractedText:
    from holdfast.extract.link import page_text

    try:
        text = page.data.decode(page.charset or "utf-8", "replace")
    except LookupError:
        text = page.data.decode("utf-8", "replace")
    return page_text(text) if is_html else ExtractedText(text)


def main() -> None:
    from holdfast.extract.link import TryLater

    asked = json.loads(sys.argv[1])
    _speak_alone()
    limit(asked["cpu_s"], asked["memory_mb"], asked["wall_s"])
    address = ""
    try:
        if asked["what"] == "page":
            found, media_type, address = read_page(asked)
        else:
            found, media_type = read_file(os.fdopen(0, "rb"), asked)
    except Unreadable as error:
        _say(failed=str(error), final=True)
    except Unavailable as error:
        # No failure: the file is stored, and can be read where the program for it is installed.
        _say(text="", title="", note=str(error), media_type="", address="")
    except TryLater as error:
        _say(failed=str(error), final=False)
    except (MemoryError, RecursionError):
        _say(failed="reading it takes more memory than is allowed", final=True)
    else:
        text = found.text[: asked["chars_max"] + 1]
        _say(text=text, title=found.title, note=found.note, media_type=media_type, address=address)


if __name__ == "__main__":
    main()
