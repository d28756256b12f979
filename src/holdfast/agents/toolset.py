"""The tools of one dialect at work on one hub: `holdfast.tools("maven", hub).call(name, args)`.

A call never raises for what a model did wrong or for what the memory could not do: the answer says
so in a sentence. Only a defect of ours raises.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.agents.desk import Desk, Report
from holdfast.agents.dialects import find_dialect
from holdfast.agents.schemas import render
from holdfast.agents.tool import Dialect, MissingArguments, Tool, checked
from holdfast.api.caller import without_places
from holdfast.api.hub import HubMemory
from holdfast.errors import CallCancelled, HoldfastError, InvalidInput, NotFound


class Reply(NamedTuple):
    """What a tool answered. `text` is for the model; `data` is there where the answer is JSON."""

    text: str
    data: dict[str, Any] | None = None
    failed: bool = False

    def __str__(self) -> str:
        return self.text


class Toolset:
    """A dialect's tools, bound to a hub and a caller."""

    def __init__(
        self,
        dialect: Dialect,
        desk: Desk,
        *,
        all_tools: bool = False,
        read_only: bool = False,
    ) -> None:
        self.dialect = dialect
        self.desk = desk
        self.read_only = read_only
        self.tools = dialect.offered(all_tools=all_tools, read_only=read_only)
        if dialect.log_keep and not read_only:
            desk.hub.core.log_keeps[desk.hub.id] = dialect.log_keep

    def __repr__(self) -> str:
        return f"<{self.dialect.name} tools of {self.desk.hub!r}>"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.tools)

    def schemas(self, format: str = "mcp") -> list[dict[str, Any]]:  # noqa: A002  the public word
        """The tools as mcp, openai, openai-responses, anthropic or json."""
        return render(self.tools, format)

    def call(
        self, name: str, args: Mapping[str, Any] | None = None, *, report: Report | None = None
    ) -> Reply:
        """Runs one tool. `report` gets the progress of long work, and may raise CallCancelled."""
        try:
            tool = self._find(name)
            given = checked(tool, args)
            self.desk.hub.take_redacted()
            self.desk.take_held()
            answer = tool.run(self.desk._replace(report=report), given)
            if held := self.desk.take_held():
                answer = self.dialect.held(answer, held)
            replaced = self.desk.hub.take_redacted()
        except CallCancelled:
            raise
        except MissingArguments as error:
            words = self.dialect.missing
            text = self.dialect.failure(error) if words is None else words(error.names)
            return Reply(_sendable(text), failed=True)
        except HoldfastError as error:
            return Reply(_sendable(self._for_caller(self.dialect.failure(error))), failed=True)
        if isinstance(answer, str):
            if replaced:
                from holdfast.engine.writing.redact import redaction_note

                answer += (
                    f"\n\nNote: {redaction_note(replaced)} by placeholders; secrets are not stored."
                )
            return Reply(_sendable(answer))
        if replaced:
            answer = {**answer, "redacted": replaced}
        said = json.dumps(answer, ensure_ascii=False)
        text = _sendable(said)
        return Reply(text, answer if text is said else json.loads(text))

    def _for_caller(self, text: str) -> str:
        """What went wrong; to a caller with a key, without places on this machine."""
        hub = self.desk.hub
        return text if hub.core.permit is None else without_places(text, hub.home)

    def _find(self, name: str) -> Tool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        if any(tool.name == name for tool in self.dialect.tools):
            why = "this memory is read-only" if self.read_only else "it is not one of those offered"
            raise InvalidInput(f"The tool {name} cannot be used: {why}.", hint=self._offered)
        raise NotFound(f"There is no tool {str(name)[:80]!r}.", hint=self._offered)

    @property
    def _offered(self) -> str:
        return (
            f"The tools are {', '.join(self.names)}."
            if self.tools
            else "No tools are offered here."
        )


def _sendable(text: str) -> str:
    """The same text where it can go out as UTF-8; else without the halves of character pairs, as
    they are echoed from a query that was cut in the middle of one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def tools(
    dialect: str,
    hub: HubMemory,
    *,
    all_tools: bool = False,
    read_only: bool = False,
    agent: str | None = None,
    every_hub: bool = False,
) -> Toolset:
    """The tools of a dialect (holdfast, max, maven, memax, minion, pynchy, anthropic, chatgpt) on a
    hub. `agent` is noted as the source of what it stores; `every_hub` lets tools that take a hub's
    name reach the other hubs too."""
    desk = Desk(hub, agent=agent, every_hub=every_hub)
    return Toolset(find_dialect(dialect), desk, all_tools=all_tools, read_only=read_only)
