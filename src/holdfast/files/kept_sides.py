"""One file that is kept in step, from its three sides: the file, the memory, and what both last
agreed on. Pure values: what follows from a difference is `kept_files`' business.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.domain.memory import Memory, Source, Trust
from holdfast.files.documents import REMOVED
from holdfast.files.kept_folder import FileText
from holdfast.text.normalise import is_visible

# The state of a memory whose file is there and says nothing: a memory cannot be empty.
EMPTIED = "file is empty"
_BLANK = "blank"


class Author(NamedTuple):
    """Who writes, as a memory notes it."""

    trust: Trust = "user"
    source: Source = "sdk"
    agent: str | None = None


BY_HAND = Author(source="import")


class Base(NamedTuple):
    """What store and file last agreed on: which memory, and the digest of the text; none where
    both agree that there is no file."""

    memory_id: str
    digest: str
    bom: bool = False


class Sides(NamedTuple):
    """One path as it stands: the file, the memory at this path, and what both agreed on."""

    file: FileText | None
    memory: Memory | None
    base: Base | None

    @property
    def text(self) -> str | None:
        return self.file.text if self.file else None

    @property
    def meant(self) -> str:
        """The digest of what the store wants the file to say."""
        if self.memory is None and self.base == Base("", _BLANK, self.bom):
            return _BLANK  # An empty file that never said anything has no memory.
        if self.memory and self.memory.state == "archived" and self.base and not self.base.digest:
            return ""  # Whatever reason is given for it later, a removed file stays removed.
        return digest(wanted(self.memory))

    @property
    def bom(self) -> bool:
        return self.file.bom if self.file else bool(self.base and self.base.bom)


def wanted(memory: Memory | None) -> str | None:
    """What the file of a memory should say; None where there should be no file."""
    if memory is None or memory.forgotten_at is not None or memory.boundary == "private":
        return None
    if memory.state == "archived" and memory.state_reason == REMOVED:
        return None
    if memory.state == "archived" and memory.state_reason == EMPTIED:
        return ""
    # Archived for another reason is hidden from recall, and the file stays.
    return memory.content


def digest(text: str | None) -> str:
    """What tells texts apart to the letter. All that show nothing are alike, and nothing is ''."""
    if text is None:
        return ""
    if not is_visible(text):
        return _BLANK
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
