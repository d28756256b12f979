"""Data exports of chat services, Claude (claude.ai) and ChatGPT: a zip archive, the folder that it
was unpacked to, or a file. A conversation becomes a document: turns with their times, as
`text.chunking` reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from holdfast.errors import InvalidInput, NotFound
from holdfast.importers import Found, Importer, Options, Record, Row, Skipped, digest, moment
from holdfast.importers.source_files import is_zip, member, parse_json, read_json, zip_members


class Export:
    """The JSON files of a chat program's export, by name, each read when it is asked for."""

    def __init__(self, path: str, names: list[str], load: Callable[[str], Any]) -> None:
        self.path, self._names, self._load = path, names, load

    def all_named(self, pattern: str) -> Iterator[Any]:
        """The content of each file with a matching name, without its folder."""
        for name in self._names:
            if re.fullmatch(pattern, os.path.basename(name)):
                yield self._load(name)

    def items(self, pattern: str) -> Iterator[dict[str, Any]]:
        """The objects in the lists of these files."""
        for value in self.all_named(pattern):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict):
                    yield one

    def has(self, pattern: str) -> bool:
        return any(re.fullmatch(pattern, os.path.basename(name)) for name in self._names)


@contextmanager
def open_export(path: str) -> Iterator[Export]:
    """The export; NotFound where the path leads nowhere."""
    if os.path.isdir(path):
        names = sorted(
            os.path.relpath(os.path.join(folder, name), path)
            for folder, _, files in os.walk(path)
            for name in files
            if name.endswith(".json") and not os.path.islink(os.path.join(folder, name))
        )
        yield Export(path, names, lambda name: read_json(os.path.join(path, name)))
    elif is_zip(path):
        with zip_members(path) as archive:
            inside = sorted(one for one in archive.namelist() if one.endswith(".json"))
            yield Export(
                path,
                inside,
                lambda name: parse_json(member(archive, name, path), f"{name} in {path}"),
            )
    elif os.path.exists(path):
        yield Export(path, [os.path.basename(path)], lambda name: read_json(path))
    else:
        raise NotFound(f"There is no file or folder {path}.", hint="Check the path.")


# A longer conversation is cut into parts, each a document: half of what one memory may hold, as
# characters may take several bytes.
_PART_CHARS_MAX = 700_000
_NAMES = {"user": "User", "human": "User", "assistant": "Assistant", "ai": "Assistant"}


class Turn(NamedTuple):
    """A message of an imported chat: its speaker, text and time."""

    role: str
    text: str
    at: datetime | None = None


def conversation(
    name: str,
    turns: Sequence[Turn],
    *,
    title: str = "",
    created: datetime | None = None,
    updated: datetime | None = None,
    scope: str = "",
    labels: tuple[str, ...] = (),
    noted: dict[str, Any] | None = None,
) -> Iterator[Found]:
    """An imported chat as a record, or several where it is long."""
    said = [turn for turn in turns if turn.text.strip()]
    if not said:
        yield Skipped(name, "nothing is said in it")
        return
    for number, part in enumerate(_split(said), 1):
        yield Record(
            name if number == 1 else f"{name}#{number}",
            "\n\n".join(part),
            created=created or said[0].at,
            updated=updated,
            title=title if number == 1 else f"{title} ({number})",
            category="conversation",
            kind="episodic",
            layer="library",
            content_type="chat",
            scope=scope,
            labels=labels,
            session=name,
            event=True,
            noted=noted or {},
        )


def _split(turns: Sequence[Turn]) -> Iterator[list[str]]:
    part: list[str] = []
    chars = 0
    for turn in turns:
        line = _as_line(turn)
        if part and chars + len(line) > _PART_CHARS_MAX:
            yield part
            part, chars = [], 0
        part.append(line)
        chars += len(line)
    yield part


def _as_line(turn: Turn) -> str:
    name = _NAMES.get(turn.role, turn.role.capitalize() or "User")
    text = turn.text.strip()[:_PART_CHARS_MAX]
    if turn.at is None:
        return f"{name}: {text}"
    return f"[{turn.at.astimezone(UTC):%Y-%m-%d %H:%M}] {name}: {text}"


_NAMED = r"conversations(?:-\d+)?\.json"
_HEADING = re.compile(r"(?m)^[^\S\n]*(?:#{1,6}[^\S\n]+(\S[^\n]*)|\*\*([^*\n]+)\*\*:?[^\S\n]*)$")


def read_claude(path: str, options: Options) -> Iterator[Found]:
    """A document for each conversation and project document, and a memory for each section of what
    is remembered."""
    count = 0
    with open_export(path) as export:
        for one in export.items(_NAMED if export.has(_NAMED) else r".*\.json"):
            if isinstance(one.get("chat_messages"), list):
                count += 1
                yield from _claude_conversation(one)
            elif isinstance(one.get("mapping"), dict):
                raise InvalidInput(
                    f"{path} is an export of ChatGPT.",
                    hint="Import it as `chatgpt`.",
                    command="Use `holdfast import chatgpt`.",
                )
        projects = {}
        for one in export.items(r"projects\.json"):
            count += 1
            projects[str(one.get("uuid"))] = str(one.get("name") or "")
            yield from _project(one)
        for one in export.items(r"memor(?:y|ies)\.json"):
            found = list(_memories(one, projects))
            count += len(found)
            yield from found
    if not count:
        raise InvalidInput(
            f"{path} has no conversations, so it is no export of Claude.",
            hint="Name the zip archive that was sent, or the conversations.json in it.",
        )


def _claude_conversation(one: Mapping[str, Any]) -> Iterator[Found]:
    name = str(one.get("uuid") or "")
    if not name:
        yield Skipped(str(one.get("name") or "a conversation"), "it has no id")
        return
    messages = [each for each in one["chat_messages"] if isinstance(each, dict)]
    turns = [
        Turn(str(each.get("sender") or ""), _claude_text(each), moment(each.get("created_at")))
        for each in messages
    ]
    files = [
        str(file.get("file_name"))
        for each in messages
        for key in ("attachments", "files")
        for file in _list(each.get(key))
        if isinstance(file, dict) and file.get("file_name")
    ]
    yield from conversation(
        name,
        turns,
        title=str(one.get("name") or ""),
        created=moment(one.get("created_at")),
        updated=moment(one.get("updated_at")),
        noted={"files": files[:100], "summary": one.get("summary")},
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _claude_text(message: Mapping[str, Any]) -> str:
    texts = [
        part.get("text")
        for part in _list(message.get("content"))
        if isinstance(part, dict) and part.get("type", "text") == "text"
    ]
    said = "\n\n".join(text for text in texts if isinstance(text, str) and text.strip())
    return said or str(message.get("text") or "")


def _project(one: Mapping[str, Any]) -> Iterator[Found]:
    project = str(one.get("name") or one.get("uuid") or "")
    about = "\n\n".join(
        str(one[key]).strip() for key in ("description", "prompt_template") if one.get(key)
    )
    if about:
        yield Record(
            f"project:{one.get('uuid')}",
            about,
            created=moment(one.get("created_at")),
            updated=moment(one.get("updated_at")),
            title=project,
            category="project",
            layer="library",
            tags=(project,),
            noted={"project": project},
        )
    for document in _list(one.get("docs")):
        if isinstance(document, dict) and str(document.get("content") or "").strip():
            yield Record(
                f"document:{document.get('uuid')}",
                str(document["content"]),
                created=moment(document.get("created_at")),
                title=str(document.get("filename") or ""),
                category="project",
                layer="library",
                tags=(project,),
                noted={"project": project, "file": document.get("filename")},
            )


def _memories(one: Mapping[str, Any], projects: Mapping[str, str]) -> Iterator[Found]:
    yield from _sections("memory", str(one.get("conversations_memory") or ""), "")
    of_projects = one.get("project_memories")
    for name, text in of_projects.items() if isinstance(of_projects, dict) else ():
        if isinstance(text, str):
            yield from _sections(f"memory:{name}", text, projects.get(name, name))


def _sections(name: str, text: str, project: str) -> Iterator[Found]:
    """Each part below a heading; they are known by it."""
    found = list(_HEADING.finditer(text))
    ends = [one.start() for one in found[1:]] + [len(text)]
    parts = [("", text[: found[0].start()] if found else text)]
    for heading, end in zip(found, ends if found else [], strict=True):
        title = (heading.group(1) or heading.group(2)).rstrip()
        parts.append((title, text[heading.end() : end]))
    for title, part in parts:
        if part.strip():
            yield Record(
                f"{name}:{title}",
                part.strip(),
                title=title,
                category="project" if project else None,
                tags=(project,) if project else (),
                noted={"section": title, "project": project},
            )


CLAUDE = Importer(
    "claude",
    "the data export of Claude",
    "the zip archive that was sent, the folder it was unpacked to, or conversations.json",
    read_claude,
    (
        Row("conversation", "a document of content type chat, with its times", "files, summary"),
        Row("memories.json", "a memory for each section", "section, project"),
        Row("project: description, instructions", "a document", "project"),
        Row("document of a project", "a document with its name", "project, file"),
        Row("facts that the user states", "memories that point to the conversation"),
        Row("attachments, artifacts, thinking, tool calls", "left out", "names of files"),
    ),
    example="claude-export.zip",
    tried="archives written by hand in the form of the export, not a real one",
)


_ANY = r"conversations(?:-\d+)?\.json|.*\.json"
_MEMORIES = r"(?:user_)?memor(?:y|ies)\.json"
# A line of what the model is shown of its memory: a number, a date, a fact.
_REMEMBERED = re.compile(r"\s*(?:\d+\.\s+)?(?:\[(\d{4}-\d\d-\d\d)\]\.?\s*)?(.+)")
_NODES_MAX = 100_000


def read_chatgpt(path: str, options: Options) -> Iterator[Found]:
    """A document for each conversation, and a memory for each thing remembered."""
    count = 0
    remembered: dict[str, Record] = {}
    with open_export(path) as export:
        pattern = _NAMED if export.has(_NAMED) else _ANY
        for one in export.items(pattern):
            if isinstance(one.get("mapping"), dict):
                count += 1
                for record in _remembered(one):
                    remembered.setdefault(record.id, record)
                yield from _chatgpt_conversation(one)
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


def _chatgpt_conversation(one: Mapping[str, Any]) -> Iterator[Found]:
    name = str(one.get("conversation_id") or one.get("id") or "")
    messages = _messages(one)
    if not name:
        yield Skipped(str(one.get("title") or "a conversation"), "it has no id")
        return
    turns = [
        Turn(role, text, moment(message.get("create_time")))
        for message in messages
        if (role := _role(message)) in ("user", "assistant") and (text := _chatgpt_text(message))
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
    if not isinstance(node, str) or node not in mapping:
        node = next((name for name, n in reversed(mapping.items()) if not _children(n)), None)
    chain: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(node, str) and node not in seen and len(seen) < _NODES_MAX:
        seen.add(node)
        entry = mapping.get(node)
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


def _chatgpt_text(message: Mapping[str, Any]) -> str:
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


CHATGPT = Importer(
    "chatgpt",
    "the data export of ChatGPT",
    "the zip archive that was sent, the folder it was unpacked to, or conversations.json",
    read_chatgpt,
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
