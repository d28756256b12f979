"""Reads the transcripts of clients as turns. Each is JSON Lines; unknown lines are skipped, because
clients add types of lines. Nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from holdfast.edges.hooks.event import bounded, is_of_program, without_injected
from holdfast.text.clean import storable

# A line with a pasted file or an image; longer lines are skipped.
_LINE_BYTES_MAX = 8_000_000


class Turn(NamedTuple):
    """A person's message in a client's transcript and the answer; the answer is empty if the turn
    was cut off."""

    name: str
    user: str
    assistant: str
    at: datetime | None
    folder: str = ""


class _Said(NamedTuple):
    """One relevant line of a transcript."""

    role: str
    text: str
    at: datetime | None
    turn: str = ""
    folder: str = ""


def name_of(prompt: str, answer: str) -> str:
    """The name of a turn of a client's transcript, for clients that give none."""
    return answer_name(digest_of(prompt), answer)


def digest_of(prompt: str) -> str:
    """The digest that identifies a prompt in a client's transcript when its answer comes."""
    return sha256(prompt.encode(errors="replace")).hexdigest()[:24]


def answer_name(prompt_digest: str, answer: str) -> str:
    """The name of a turn in the log by the digest of its prompt, for clients that give none."""
    data = f"{prompt_digest}\0{answer}".encode(errors="replace")
    return f"said-{sha256(data).hexdigest()[:24]}"


def read_turns(client: str, path: str, start: int = 0) -> tuple[list[Turn], int]:
    """The turns after a position in a transcript, and the start of the last one, which may
    continue. A turn that began before `start` is left out."""
    reader = _READERS.get(client)
    if reader is None:
        return [], start
    turns: list[Turn] = []
    # What the agent said in each turn: joined in the end, as a turn may have thousands of parts.
    answers: list[list[str]] = []
    begins = start
    with open(path, "rb") as file:
        file.seek(start)
        for place, row in _rows(file, start):
            said = reader(row)
            if said is None or not said.text.strip():
                continue
            if said.role == "user":
                turns.append(Turn(said.turn, said.text, "", said.at, said.folder))
                answers.append([])
                begins = place
            elif turns:
                answers[-1].append(said.text)
    bound = [
        turn._replace(user=bounded(turn.user), assistant=bounded("\n\n".join(answered)))
        for turn, answered in zip(turns, answers, strict=True)
    ]
    named = [
        turn
        if turn.name
        else turn._replace(name=name_of(turn.user, bounded("".join(answered[-1:]))))
        for turn, answered in zip(bound, answers, strict=True)
    ]
    return named, begins


def _rows(file: Any, start: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    place = start
    while line := file.readline(_LINE_BYTES_MAX):
        here, place = place, place + len(line)
        if not line.endswith(b"\n"):
            # It is still being written, or too long to be useful.
            if len(line) < _LINE_BYTES_MAX:
                return
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield here, row


def _claude_code(row: Mapping[str, Any]) -> _Said | None:
    if row.get("isSidechain") or row.get("isMeta") or row.get("isCompactSummary"):
        return None
    message = row.get("message")
    if row.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return None
    text = _text(message.get("content"), ("text",))
    if row["type"] == "user" and (is_of_program(text) or "toolUseResult" in row):
        return None
    folder = str(row.get("cwd") or "")
    return _Said(row["type"], text, _time(row), str(row.get("promptId") or ""), folder)


def _codex(row: Mapping[str, Any]) -> _Said | None:
    given = row.get("payload")
    if row.get("type") != "response_item" or not isinstance(given, dict):
        return None
    if given.get("type") != "message" or given.get("role") not in ("user", "assistant"):
        return None
    text = _text(given.get("content"), ("input_text", "output_text", "text"))
    if given["role"] == "user" and is_of_program(text):
        return None
    if text.startswith("# Context from my IDE setup:"):
        text = text.rpartition("## My request for Codex:")[2]
    passed = given.get("internal_chat_message_metadata_passthrough")
    turn = passed.get("turn_id") if isinstance(passed, dict) else ""
    return _Said(given["role"], text, _time(row), str(turn or ""))


def _gemini(row: Mapping[str, Any]) -> _Said | None:
    if row.get("type") == "user":
        text = without_injected(_text(row.get("content"), ("text",)))
        return None if is_of_program(text) else _Said("user", text, _time(row))
    if row.get("type") == "gemini":
        return _Said("assistant", _text(row.get("content"), ("text",)), _time(row))
    return None


_READERS: dict[str, Callable[[Mapping[str, Any]], _Said | None]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini,
}


def _text(content: Any, kinds: Iterable[str]) -> str:
    if isinstance(content, str):
        return storable(content)
    if not isinstance(content, list):
        return ""
    parts = [
        part.get("text")
        for part in content
        if isinstance(part, dict) and part.get("type", "text") in kinds
    ]
    return storable("\n\n".join(part for part in parts if isinstance(part, str) and part))


def _time(row: Mapping[str, Any]) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(row.get("timestamp")))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
