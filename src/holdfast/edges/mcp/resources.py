"""A hub as resources: its MEMORY.md, its journals, and each memory by its id.

Addresses are `memory://{hub}/…`; those of another hub are refused, whatever they name. It knows
addresses and their contents; it does not know how requests come in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

import mcp_types as types

from holdfast.agents.wording import in_brief, whole
from holdfast.api.hub import HubMemory
from holdfast.api.project_hub import UnmadeHub
from holdfast.errors import InvalidInput, NotFound

FILE_NAME = "MEMORY.md"
# A month of days is what a person scrolls through; older ones are reached by their date.
DAYS_LISTED = 30
# The most that the protocol lets a completion hold.
VALUES_MAX = 100
# MEMORY.md as it is, not as much of it as a prompt has room for. Larger than any file the mirror
# takes in.
_FILE_CHARS_MAX = 100_000_000
_DAY = re.compile(r"today|yesterday|\d{4}-\d{2}-\d{2}", re.ASCII)
_TEXT = "text/plain"
_MARKDOWN = "text/markdown"
_JOURNAL = "journal/"


class Resources:
    """The resources of one hub."""

    def __init__(self, hub: HubMemory) -> None:
        self._hub = hub
        # Fixed when the server starts: clients keep addresses, also when the hub is renamed.
        self._root = f"memory://{quote(hub.name, safe='')}/"

    def listed(self) -> list[types.Resource]:
        """What is worth showing unasked: the file, and the newest journals there are."""
        file = types.Resource(
            uri=self._root + FILE_NAME,
            name=FILE_NAME,
            title="Long-term memory",
            description=f"What the hub {self._hub.name} always keeps in mind, by category.",
            mime_type=_MARKDOWN,
        )
        if isinstance(self._hub, UnmadeHub) and not self._hub.is_made:
            # Looking makes no hub.
            return [file]
        return [file, *(self._journal(day) for day in self._days()[:DAYS_LISTED])]

    def _journal(self, day: str) -> types.Resource:
        return types.Resource(
            uri=f"{self._root}{_JOURNAL}{day}",
            name=f"{_JOURNAL}{day}",
            title=f"Journal of {day}",
            description=f"What was noted on {day} (UTC).",
            mime_type=_MARKDOWN,
        )

    def templates(self) -> list[types.ResourceTemplate]:
        """The three forms of address."""
        return [
            types.ResourceTemplate(
                uri_template=f"memory://{{hub}}/{FILE_NAME}",
                name="long-term memory",
                title="Long-term memory",
                description="What a hub always keeps in mind, by category.",
                mime_type=_MARKDOWN,
            ),
            types.ResourceTemplate(
                uri_template="memory://{hub}/journal/{date}",
                name="journal",
                title="Journal of a day",
                description="The journal of one UTC day: today, yesterday or YYYY-MM-DD.",
                mime_type=_MARKDOWN,
            ),
            types.ResourceTemplate(
                uri_template="memory://{hub}/{id}",
                name="memory",
                title="One memory",
                description="One memory whole, by its id, its number or its key.",
                mime_type=_TEXT,
            ),
        ]

    def read(self, uri: str) -> types.TextResourceContents:
        """The content of an address, or an error that says what is wrong with it."""
        path = self._path(uri)
        if path == FILE_NAME:
            text = self._hub.context(style="maven", budget=_FILE_CHARS_MAX)
            return types.TextResourceContents(uri=uri, text=text, mime_type=_MARKDOWN)
        if path.startswith(_JOURNAL):
            text = self._journal_text(path.removeprefix(_JOURNAL))
            return types.TextResourceContents(uri=uri, text=text, mime_type=_MARKDOWN)
        return types.TextResourceContents(uri=uri, text=self._memory_text(path), mime_type=_TEXT)

    def _path(self, uri: str) -> str:
        """The part after the hub. What another hub has is not said, not even whether it is."""
        scheme, _, rest = uri.partition("://")
        named, slash, path = rest.partition("/")
        if scheme != "memory" or not slash:
            raise InvalidInput(
                f"{in_brief(uri)!r} is not the address of a memory.",
                hint=f"Addresses begin with {self._root}.",
            )
        if unquote(named) not in (unquote(self._root[len("memory://") : -1]), self._hub.id):
            raise NotFound(
                f"There is no hub {in_brief(unquote(named))!r} here.",
                hint=f"Addresses begin with {self._root}.",
            )
        return unquote(path)

    def _journal_text(self, day: str) -> str:
        if not _DAY.fullmatch(day):
            raise InvalidInput(
                f"{in_brief(day)!r} is not a day.", hint="Use today, yesterday or YYYY-MM-DD."
            )
        found = self._hub.journal(day)
        if not found:
            near = ", ".join(self._days()[:3]) or "none yet"
            raise NotFound(f"There is no journal of {day}.", hint=f"The newest are: {near}.")
        return found[0].text

    def _memory_text(self, reference: str) -> str:
        memory = self._hub.get(reference)
        if memory.quarantine:
            raise NotFound(f"Memory #{memory.number} waits until a person has looked at it.")
        return whole(memory)

    def _days(self) -> list[str]:
        """The days that have a journal, newest first: those with a file, and those whose entries
        came without one, as an import brings them. With a key, those with something to see."""
        # Not before it is needed: journals are half of what a start would load.
        from holdfast.files.journal.journal import journal_files

        local = self._hub.core.permit is None
        found = set(journal_files(self._hub.folder)[0]) if local else set()
        for memory in self._hub.list(layer="journal", limit=VALUES_MAX):
            found.add((memory.occurred_at or memory.created_at).date())
        return [day.isoformat() for day in sorted(found, reverse=True)]

    def completed(self, template: str, name: str, start: str) -> list[str]:
        """The values of a template's argument that begin like that."""
        if template not in {row.uri_template for row in self.templates()}:
            raise NotFound(f"There is no resource template {in_brief(template)!r}.")
        if name == "hub":
            return _beginning([self._hub.name], start)
        if name == "date":
            return _beginning(["today", "yesterday", *self._days()], start)
        if name == "id":
            newest = self._hub.list(limit=VALUES_MAX)
            keys = [memory.key for memory in newest if memory.key]
            return _beginning([*keys, *(memory.id for memory in newest)], start)
        return []


def _beginning(values: Iterable[str], start: str) -> list[str]:
    return [value for value in values if value.startswith(start)][:VALUES_MAX]
