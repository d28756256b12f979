"""Files as Anthropic's memory tool shows them: a page with numbered lines, a folder with sizes.

A page is ours only where its words are those of the file that it names. Only a text that is nothing
but a page is looked at: with words around it, it is somebody's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory

# Each repeated part begins with a line end, so that there is only one way to read it. The last
# tab may be gone, where white space at the end was cut off.
_PAGE = re.compile(
    r"Here's the content of /memories/(?P<path>[^\n]{1,1000}) with line numbers:"
    r"(?P<lines>(?:\n *\d{1,6}(?:\t[^\n]*)?)+)"
)
_NUMBER = re.compile(r"\n *\d{1,6}\t?")
_FOLDER = re.compile(
    r"Here're the files and directories up to 2 levels deep in /memories[^\n]{0,1000}, excluding"
    r" hidden items:(?:\n[\d.]+[BKMG]\t/memories[^\n]*)+"
)
_QUOTED = re.compile(r"^[ \t]*> ?", re.MULTILINE)


def is_folder(text: str) -> bool:
    """Whether it is nothing but the list of a folder's files."""
    return _FOLDER.fullmatch(_unquoted(text)) is not None


def page_words(text: str) -> tuple[str, str] | None:
    """The path in a page and the words on it, without numbers; None where it is no page."""
    found = _PAGE.fullmatch(_unquoted(text))
    if found is None:
        return None
    return found["path"], _NUMBER.sub("\n", found["lines"]).removeprefix("\n")


def holder(path: str, words: str, at_path: Callable[[str], Memory | None]) -> Memory | None:
    """The memory that is the file at that path, where it has these lines."""
    memory = at_path(path)
    if memory is None or not words.strip():
        return None
    lines = f"\n{memory.content.strip()}\n".replace("\r\n", "\n")
    return memory if f"\n{words.strip()}\n" in lines else None


def _unquoted(text: str) -> str:
    plain = text.replace("\r\n", "\n").strip()
    return _QUOTED.sub("", plain).strip() if plain.startswith(">") else plain
