"""The data export of Claude (claude.ai): conversations, projects, and what it has remembered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.importers.conversations import Turn, conversation, open_export
from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, moment

_NAMED = r"conversations(?:-\d+)?\.json"
_HEADING = re.compile(r"(?m)^\s*(?:#{1,6}\s+(.+?)|\*\*([^*\n]+)\*\*:?)\s*$")


def read(path: str, options: Options) -> Iterator[Found]:
    """A document for each conversation and project document, and a memory for each section of what
    is remembered."""
    count = 0
    with open_export(path) as export:
        for one in export.items(_NAMED if export.has(_NAMED) else r".*\.json"):
            if isinstance(one.get("chat_messages"), list):
                count += 1
                yield from _conversation(one)
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


def _conversation(one: Mapping[str, Any]) -> Iterator[Found]:
    name = str(one.get("uuid") or "")
    if not name:
        yield Skipped(str(one.get("name") or "a conversation"), "it has no id")
        return
    messages = [each for each in one["chat_messages"] if isinstance(each, dict)]
    turns = [
        Turn(str(each.get("sender") or ""), _text(each), moment(each.get("created_at")))
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


def _text(message: Mapping[str, Any]) -> str:
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
        parts.append((heading.group(1) or heading.group(2), text[heading.end() : end]))
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


IMPORTER = Importer(
    "claude",
    "the data export of Claude",
    "the zip archive that was sent, the folder it was unpacked to, or conversations.json",
    read,
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
