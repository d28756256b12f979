"""What the store remembers of a file it mirrors: the text both sides last agreed on, and where they
have disagreed since."""

from datetime import datetime
from typing import NamedTuple


class Agreed(NamedTuple):
    """The text of a file as it was after the last sync: the base of a three-way merge."""

    path: str
    text: str
    at: datetime


class Clash(NamedTuple):
    """A memory that was changed in the file and in the store since they last agreed.

    Both texts are kept, here and as memories, until someone settles it.
    """

    id: str
    memory_id: str
    path: str
    in_store: str
    in_file: str
    at: datetime
    settled_at: datetime | None = None
