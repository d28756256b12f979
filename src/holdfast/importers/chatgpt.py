"""The data export of ChatGPT: conversations, and what it has remembered of its user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.importers.conversations import Turn, conversation, open_export
from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, digest, moment

_CONVERSATIONS = r"conversations(?:-\d+)?\.json|.*\.json"
_NAMED = r"conversations(?:-\d+)?\.json"
_MEMORIES = r"(?:user_)?memor(?:y|ies)\.json"
# A line of what the model is shown of its memory: a number, a date, a fact.
_REMEMBERED = re.compile(r"\s*(?:\d+\.\s+)?(?:\[(\d{4}-\d\d-\d\d)\]\.?\s*)?(.+)")
_NODES_MAX = 100_000


def read(path: str, options: Options) -> Iterator[Found]:
    """A document for each conversation, and a memory for each thing remembered."""
    count = 0
    remembered: dict[str, Record] = {}
    with open_export(path) as export:
        pattern = _NAMED if export.has(_NAMED) else _CONVERSATIONS
        for one in export.items(pattern):
            if isinstance(one.get("mapping"), dict):
                count += 1
                for record in _remembered(one):
                    remembered.setdefault(record.id, record)
                yield from _conversation(one)
            elif isinstance(one.get("chat_messages"), list):
                raise InvalidInput(
                    f"{path} is an export of Claude.",
                    hint="Import it as `claude`.",
                    command="Use `holdfast import claude`.",
                )
        for one in export.items(_MEMORIES):
            text = one.get("content") or one.get("memory") or one.get("text")
            if isinstance(text, str) and text.strip():
                count += 1
                record = _memory(text, one.get("created_at") or one.get("updated_at"))
                remembered.setdefault(record.id, record)
    if not count:
        raise InvalidInput(
            f"{path} has no conversations, so it is no export of ChatGPT.",
            hint="Name the zip archive that was sent, or the conversations.json in it.",
        )
    yield from remembered.values()


def _conversation(one: Mapping[str, Any]) -> Iterator[Found]:
    name = str(one.get("conversation_id") or one.get("id") or "")
    messages = _messages(one)
    if not name:
        yield Skipped(str(one.get("title") or "a conversation"), "it has no id")
        return
    turns = [
        Turn(role, text, moment(message.get("create_time")))
        for message in messages
        if (role := _role(message)) in ("user", "assistant") and (text := _text(message))
    ]
    yield from conversation(
        name,
        turns,
        title=str(one.get("title") or ""),
        created=moment(one.get("create_time")),
        updated=moment(one.get("update_time")),
        noted={
            "model": one.get("default_model_slug"),
            "gpt": one.get("gizmo_id"),
            "project": one.get("conversation_template_id"),
            "archived": one.get("is_archived") or None,
        },
    )


def _messages(one: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages from the first to the one that was shown last; other branches are left out."""
    mapping: dict[Any, Any] = one["mapping"]
    node = one.get("current_node")
    if node not in mapping:
        node = next((name for name, n in reversed(mapping.items()) if not _children(n)), None)
    chain: list[dict[str, Any]] = []
    seen: set[Any] = set()
    while node in mapping and node not in seen and len(seen) < _NODES_MAX:
        seen.add(node)
        entry = mapping[node]
        if not isinstance(entry, dict):
            break
        if isinstance(entry.get("message"), dict):
            chain.append(entry["message"])
        node = entry.get("parent")
    return chain[::-1]


def _children(node: Any) -> Any:
    return node.get("children") if isinstance(node, dict) else None


def _role(message: Mapping[str, Any]) -> str:
    author = message.get("author")
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return ""
    # What it says to a tool is not said to the user.
    if message.get("recipient") not in (None, "all"):
        return ""
    return str(author.get("role") or "") if isinstance(author, dict) else ""


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if not isinstance(content, dict):
        return ""
    if content.get("content_type") not in ("text", "multimodal_text"):
        return ""
    parts = content.get("parts")
    texts = [_part(part) for part in parts] if isinstance(parts, list) else []
    return "\n\n".join(text for text in texts if text.strip())


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        kind = str(part.get("content_type") or "attachment")
        # A voice message comes with its words.
        said = part.get("text")
        return said if isinstance(said, str) else f"[{kind.replace('_', ' ')}]"
    return ""


def _remembered(one: Mapping[str, Any]) -> Iterator[Record]:
    for entry in one["mapping"].values():
        message = entry.get("message") if isinstance(entry, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(content, dict):
            continue
        parts = content.get("parts")
        if message.get("recipient") == "bio" and isinstance(parts, list):
            for part in parts:
                if isinstance(part, str) and part.strip():
                    yield _memory(part, message.get("create_time"))
        for line in str(content.get("model_set_context") or "").splitlines():
            if (found := _REMEMBERED.match(line)) and found.group(2).strip():
                yield _memory(found.group(2), found.group(1))
        for name in ("user_profile", "user_instructions"):
            text = content.get(name)
            if isinstance(text, str) and text.strip():
                yield Record(f"{name}:{digest(text)}", text, category="core", tags=(name,))


def _memory(text: str, at: Any) -> Record:
    text = text.strip()
    return Record(f"memory:{digest(text)}", text, created=moment(at))


IMPORTER = Importer(
    "chatgpt",
    "the data export of ChatGPT",
    "the zip archive that was sent, the folder it was unpacked to, or conversations.json",
    read,
    (
        Row("conversation", "a document of content type chat, with its times", "model, gpt"),
        Row("what was said last in each branch", "the turns; other branches are left out"),
        Row("what ChatGPT saved to its memory (in conversations, or memories.json)", "a memory"),
        Row("custom instructions, profile", "a memory of category core"),
        Row("facts that the user states", "memories that point to the conversation"),
        Row("pictures, files, tool calls", "a mark in the text, or left out"),
    ),
    example="chatgpt-export.zip",
    tried="archives written by hand in the form of conversations.json, not a real one",
)
