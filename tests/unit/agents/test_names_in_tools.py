"""Every tool that takes a name decides the same for every spelling of it. Which parameters are
names is written down here; a new parameter that is in neither list fails."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

import holdfast
from holdfast import Holdfast
from holdfast.agents import Tool, ToolContext
from holdfast.agents.dialects import NAMES as DIALECTS
from holdfast.agents.dialects import find_dialect
from holdfast.agents.toolset import Toolset
from holdfast.api.caller import Caller
from holdfast.domain.hub import PersonName
from holdfast.engine.people import keys, members
from holdfast.text.names import parse_label

NAMES = {"id", "number", "key", "new_key", "hub", "change", "supersedes"}
OTHERS = {
    *("about", "action", "as_of", "category", "command", "content", "context", "cursor", "date"),
    *("decisions", "file_text", "hint", "insert_text", "keyword", "kind", "layer", "learnings"),
    *("messages", "name", "new_path", "new_str", "old_path", "old_str", "options", "order", "path"),
    *("project", "query", "question", "reason", "role", "session", "since", "sort", "source"),
    *("source_path", "stability", "state", "summary", "tags", "title", "until", "view_range"),
    "where",
}
NAMED = sorted(
    (dialect, tool.name, one.name)
    for dialect in DIALECTS
    for tool in find_dialect(dialect).tools
    for one in tool.parameters
    if one.name in NAMES and one.kind in ("text", "reference")
)
_NUMBERS = count(1)
SPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda name: f" {name}",
    lambda name: f"\u00a0\t{name}\u3000\n",
    lambda name: unicodedata.normalize("NFD", name),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    folder = tmp_path_factory.mktemp("home")
    with holdfast.open(folder, settings={"embed.model": "none", "actor": "olga"}) as opened:
        hubs = opened.create_hub("plans"), opened.create_hub("zoë")
        for hub in hubs:
            members.set_member(opened.core, "hub", hub.id, PersonName("vera"), "viewer")
            members.set_member(opened.core, "hub", hub.id, PersonName("carl"), "contributor")
        yield opened


def test_every_parameter_is_a_name_or_is_not() -> None:
    text = {
        one.name
        for dialect in DIALECTS
        for tool in find_dialect(dialect).tools
        for one in tool.parameters
        if one.kind in ("text", "texts", "reference", "value")
    }
    assert text <= NAMES | OTHERS, "Add each of them to NAMES or to OTHERS."
    assert len(NAMED) > 20


@pytest.mark.parametrize(("dialect", "tool", "parameter"), NAMED)
def test_every_spelling_of_a_name_is_decided_the_same(
    memory: Holdfast, dialect: str, tool: str, parameter: str
) -> None:
    (row,) = (one for one in find_dialect(dialect).tools if one.name == tool)
    for actor in ("vera", "carl"):
        plain = _failed(memory, actor, dialect, row, parameter, lambda name: name)
        # Only for the role is anybody refused, or the comparison would say nothing.
        assert plain is (actor == "vera" and not row.reads and row.name != "review")
        for spell in SPELLINGS:
            assert _failed(memory, actor, dialect, row, parameter, spell) is plain, spell("é")


def _failed(
    memory: Holdfast,
    actor: str,
    dialect: str,
    tool: Tool,
    parameter: str,
    spell: Callable[[str], str],
) -> bool:
    """Whether a call failed; what it is about is made anew."""
    name = parse_label("k", "key")
    caller = Caller(memory, keys.create_key(memory.core, name, actor=PersonName(actor)).what)
    key = f"café {next(_NUMBERS)}"
    carl = holdfast.HubMemory(
        memory.core.acting(PersonName("carl")), memory.hub("plans").info, memory.home
    )
    made = carl.remember(
        f"Note {key}", key=key, category="core" if dialect == "pynchy" else None
    ).memory
    given: dict[str, Any] = {
        one.name: ["yes", "no"] if one.kind == "texts" else f"Something about {key}"
        for one in tool.parameters
        if one.required
    }
    if parameter == "new_key":
        given["id"] = made.id
    elif tool.name == "memory_update":
        given["title"] = key
    values = {
        "id": made.id,
        "number": f"#{made.number}",
        "key": key,
        "hub": "zoë",
        "new_key": f"{key} é",
        "supersedes": made.id,
        "change": carl.changes(limit=1)[0].id,
    }
    if tool.name in ("remember", "save_memory"):
        values["key"] = f"{key} é"
    given[parameter] = spell(values[parameter])
    other = memory.hub("zoë")
    for asked in other.decisions():
        other.withdraw_decision(asked.memory.id)
    context = ToolContext(caller.hub("plans"), every_hub=True, caller=caller)
    return Toolset(find_dialect(dialect), context, all_tools=True).call(tool.name, given).failed
