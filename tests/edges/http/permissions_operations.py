"""Who may run which operation through `POST /v1/operations/…`: what each takes, and arguments to
try it with. `{memory}` and the like stand for things that the test makes. Written by hand, like the
table of the routes: nothing here is computed from the code under test."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.edges.http.permissions import FORGOTTEN, MEMORY, Request, Route, Scene

PATH = "POST /v1/operations/{operation}"


class Row(NamedTuple):
    """What an operation takes, arguments that are well, and what `{memory}` stands for."""

    takes: str
    arguments: Mapping[str, Any] = MappingProxyType({})
    about: Callable[[Scene, str, str], str] | None = None


ONE = {"reference": "{memory}"}
SEVERAL = {"references": ["{memory}"]}

# A word after the name tells calls of one operation apart that take different things.
OPERATIONS: dict[str, Row] = {
    # One memory
    "get": Row("read", ONE, MEMORY),
    "find": Row("read", ONE, MEMORY),
    "related": Row("read", ONE, MEMORY),
    "history": Row("read", ONE, MEMORY),
    "diff": Row("read", ONE, MEMORY),
    "access": Row("read", ONE, MEMORY),
    "update": Row("write", {**ONE, "title": "Another"}, MEMORY),
    "update expires_at": Row(
        "retire",
        {**ONE, "expires_at": {"kind": "datetime", "value": "2999-01-01T00:00:00+00:00"}},
        MEMORY,
    ),
    "pin": Row("write", ONE, MEMORY),
    "unpin": Row("write", ONE, MEMORY),
    "archive": Row("retire", ONE, MEMORY),
    "restore": Row("write", ONE, FORGOTTEN),
    "forget": Row("delete", ONE, MEMORY),
    "purge": Row("delete", ONE, MEMORY),
    # Several
    "traces": Row("read", SEVERAL, MEMORY),
    "access_many": Row("read", SEVERAL, MEMORY),
    "archive_many": Row("retire", SEVERAL, MEMORY),
    "restore_many": Row("write", SEVERAL, FORGOTTEN),
    "forget_many": Row("delete", SEVERAL, MEMORY),
    "purge_many": Row("delete", SEVERAL, MEMORY),
    # Taking in and finding
    "remember": Row("write", {"content": "{new}"}),
    "remember supersedes": Row("retire", {"content": "{new}", "supersedes": "{memory}"}, MEMORY),
    "remember_draft": Row("write", {"draft": {"content": "{new}"}}),
    "remember_many": Row("write", {"items": ["{new}"]}),
    "heard": Row("read", {"text": "The harbour [mem:{memory}]"}),
    "recall": Row("read", {"query": "harbour", "explain": True, "include_archived": True}),
    "search_text": Row("read", {"text": "harbour", "limit": 100}),
    "list": Row("read", {"state": "archived"}),
    "scan": Row("read"),
    "statistics": Row("read"),
    "meaning_map": Row("read"),
    "activity": Row("read"),
    "context": Row("read", {"query": "harbour", "budget": 20_000, "explain": True}),
    "jobs": Row("read"),
    # The past
    "changes": Row("read", {"limit": 200}),
    "touched": Row("read", {"changes": ["{change}"]}),
    "undo": Row("write", {"change": "{change}"}),
    "receipts": Row("belong"),
    "export": Row("belong"),
    # Journals, the log, automatic memory
    "journal_add": Row("write", {"text": "{new}"}),
    "journal": Row("read", {"when": "2000-01-01..2100-01-01"}),
    "log_turn": Row("write", {"role": "user", "content": "Hello"}),
    "turns": Row("belong"),
    "search_turns": Row("belong", {"query": "harbour"}),
    "recovery_prompt": Row("belong"),
    "log_rules": Row("belong"),
    "log_size": Row("belong"),
    "speakers": Row("belong"),
    "pause_log": Row("write"),
    "resume_log": Row("write"),
    "set_log_aside": Row("write", {"sessions": ["{new}"]}),
    "forget_turns": Row("manage", {"session": "{new}"}),
    "forget_last": Row("read", {"session": "{new}"}),
    "archive_conversation": Row(
        "write", {"session": "{new}", "messages": [{"role": "user", "content": "Hello"}]}
    ),
    "observe_turn": Row("write", {"user": "Hello", "assistant": "Hi"}),
    "flush": Row("write"),
    "captured": Row("belong"),
    "usage": Row("belong"),
    # Review and decisions
    "review": Row("read"),
    "review_count": Row("read"),
    "approve": Row("write", SEVERAL, Scene.held),
    "reject": Row("retire", SEVERAL, Scene.held),
    "decisions": Row("read", {"every": True}),
    "request_decision": Row("write", {"question": "{asked}?", "options": ["yes", "no"]}),
    "decide": Row("write", {"reference": "{decision}", "option": 1}),
    "withdraw_decision": Row("write", {"reference": "{decision}"}),
    # The whole hub
    "plan_consolidation": Row("manage"),
    "consolidate": Row("manage"),
    "lifecycle": Row("manage and delete"),
    "compact": Row("manage and delete"),
    "purge_forgotten": Row("manage and delete"),
}


def filled(arguments: Mapping[str, Any], values: dict[str, Callable[[], str]]) -> dict[str, Any]:
    """The arguments with things in the place of their names."""
    text = json.dumps(dict(arguments))
    for name, make in values.items():
        if "{" + name + "}" in text:
            text = text.replace("{" + name + "}", make())
    return json.loads(text)  # type: ignore[no-any-return]


def request_of(row: Row) -> Callable[[Scene, str], Request]:
    """Makes a request with the arguments of a row."""

    def request(scene: Scene, memory: str) -> Request:
        made: dict[str, Callable[[], str]] = {
            "memory": lambda: memory,
            "new": scene.new,
            "change": scene.change,
            "decision": scene.decision,
            # There is room for another question once the last one is withdrawn.
            "asked": lambda: scene.decision() and scene.new(),
        }
        return Request(json={"arguments": filled(row.arguments, made)})

    return request


OPERATION_ROUTES: dict[str, Route] = {
    f"{PATH} {name}": Route(row.takes, 200, request_of(row), row.about)
    for name, row in OPERATIONS.items()
}
