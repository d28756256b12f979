"""From the store to a journal: the lines of its memories, and the paths that tell a line's memory.
It decides nothing about what a person wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from holdfast.domain.memory import Memory
from holdfast.files import journal_text
from holdfast.files.clashes import settled_away
from holdfast.files.journal_base import Line, Place, live_memories, source_path, time_of
from holdfast.files.journal_text import Block

ENTERED = "entered in the journal"
# As often as one line can be typed, edited away and typed again in a day.
_ATTEMPTS_AT_A_PATH = 1_000


def free_path(place: Place, day: date, key: str, text: str, used: set[str]) -> str:
    """The path of a new entry's memory: named after its key, unless that is the path of a memory
    that belongs to another line. One that belongs to none, and says the same, is this entry's:
    what a crash left, or what was removed and is back."""
    path = wanted = source_path(day, key)
    with place.core.store.read() as reader:
        for number in range(2, _ATTEMPTS_AT_A_PATH):
            memory = reader.memory_by_path(place.hub_id, path)
            if memory is None or (
                memory.id not in used
                and journal_text.plain(memory.content) == journal_text.plain(text)
            ):
                break
            path = f"{wanted}~{number}"
    return path


def block_of(memory: Memory, time_of_day: str | None = None) -> Block:
    """The lines of a memory, with its time; without where the file's line had none and can do
    without: words such as `---` or `14:30` would not be read as what they are."""
    if time_of_day == "":
        bare = journal_text.parse(journal_text.render_bare(memory.content) + "\n")
        if len(bare) == 1 and journal_text.plain(bare[0].text) == journal_text.plain(
            memory.content
        ):
            return bare[0]
    return journal_text.parse(
        journal_text.render(memory.content, time_of_day or time_of(memory)) + "\n"
    )[0]


def follow_store(place: Place, day: date, lines: Sequence[Line], known: set[str]) -> list[Line]:
    """The lines as the store would have them; `known` are the memories that had their line."""
    with place.core.store.read() as reader:
        rows = reader.memories_by_id(
            place.hub_id, [one.memory_id for one in lines if one.memory_id]
        )
    out: list[Line] = []
    for line in lines:
        memory = rows.get(line.memory_id)
        if not line.memory_id:
            out.append(line)
        elif memory is not None and memory.visible and not settled_away(memory):
            same = journal_text.plain(memory.content) == journal_text.plain(line.block.text)
            out.append(line if same else Line(block_of(memory, line.block.time), memory.id))
    front = source_path(day, "")
    for memory in live_memories(place, day, day):
        from_here = (memory.source_path or front).startswith(front)
        # The file is for everyone who may read the hub.
        if memory.id not in known and from_here and memory.boundary != "private":
            if out and not out[-1].block.raw.endswith("\n"):
                last = out[-1].block
                out[-1] = out[-1]._replace(block=last._replace(raw=last.raw + "\n"))
            out.append(Line(block_of(memory), memory.id))
    return out


def set_paths(place: Place, day: date, lines: Sequence[Line]) -> None:
    """Gives a path to memories that are new to the file, before it is written: a crash right
    after that must not remember their lines a second time."""
    with place.core.store.read() as reader:
        ids = [line.memory_id for line in lines if line.memory_id]
        rows = reader.memories_by_id(place.hub_id, ids)
    homeless = {memory.id for memory in rows.values() if memory.source_path is None}
    if not homeless:
        return
    from holdfast.engine.recorder import Recorder

    keys = journal_text.keys_of(line.block for line in lines)
    paths = {
        line.memory_id: free_path(place, day, key, rows[line.memory_id].content, set(ids))
        for key, line in zip(keys, lines, strict=True)
        if line.memory_id in homeless
    }
    with place.core.store.write(hub=place.hub_id) as writer:
        recorder = Recorder(place.core, writer, place.hub_id, "update", reason=ENTERED)
        for memory_id, path in paths.items():
            memory = writer.memory(place.hub_id, memory_id)
            if memory is not None and writer.memory_by_path(place.hub_id, path) is None:
                recorder.revise(memory, source_path=path)
