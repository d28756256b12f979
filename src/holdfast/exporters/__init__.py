"""Writes memories in formats that other programs read: what holds now, without history. The whole
of a hub, with its history, is `engine.transfer.export`'s."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from holdfast.domain.memory import Memory
from holdfast.errors import InvalidInput


class Exporter(NamedTuple):
    """One format. `write` gives the pieces of a file: of the file that was named, or of files in a
    folder, each with its name."""

    name: str
    title: str
    write: Callable[[Iterable[Memory], str], Iterator[tuple[str, str]]]
    folder: bool = False


FORMATS = ("markdown", "jsonl", "csv", "mem0", "mcp-memory")


def exporter_named(name: str) -> Exporter:
    """The exporter of that name."""
    from holdfast.exporters import formats

    known = {one.name: one for one in formats.EXPORTERS}
    if name not in known:
        raise InvalidInput(
            f"There is no export format {name!r}.", hint=f"There are: {', '.join(FORMATS)}."
        )
    return known[name]


def exported(memories: Iterable[Memory]) -> Iterator[Memory]:
    """What goes out: neither forgotten nor held for review, nor superseded."""
    return (one for one in memories if one.visible and one.superseded_by is None)
