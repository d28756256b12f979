"""Follows a source that is edited as text, such as a file of instructions: its statements have no
ids of their own, and are known again by their words.

A statement that was edited becomes a new version of its memory, one that is gone is archived, and
one that comes back is active again. What a person has changed or forgotten here stays so. The text
of the source is stored with the change set of the run, so that the next run sees if this one was
undone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.records import Agreed
from holdfast.engine.core import Scope
from holdfast.engine.transfer.imports import (
    GONE,
    Item,
    Source,
    Taken,
    import_batch,
    memory_of,
    preview_batch,
)
from holdfast.engine.writing.recorder import continued
from holdfast.text.clean import content_hash
from holdfast.text.facts.sameness import similarity

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.store.base import Reader

# As in MEMORY.md: everyday edits score 0.6 and more, different facts in the same words less.
_ALIKE_LEAST = 0.6
# New statements are compared with those that are gone, up to this many pairs.
_PAIRS_MAX = 2_500
# The last text of the source is stored where the base texts of synced files are.
_FRONT = "import:"


class Statement(NamedTuple):
    """A statement of the source, as an item whose id is made from its words, and its section."""

    item: Item
    section: str = ""


class _Known(NamedTuple):
    """A statement of the last run: its section, and the hash of its words."""

    section: str
    hash: str


_Lines = dict[str, _Known]


def follow_items(
    scope: Scope, found: Sequence[Statement], source: Source, change: str, *, dry_run: bool = False
) -> list[Taken]:
    """Brings the memories of a source up to date with all of its statements, as part of the change
    set with this id; what became of each, and then of those that are gone. A dry run writes
    nothing."""
    with scope.read() as reader:
        scope.require_hub(reader)
        before = _load(reader, scope.hub_id, source)
        statements, gone = _known_again(reader, scope, source, found, before)
    items = [one.item for one in statements]
    if dry_run:
        taken = preview_batch(scope, items, source)
        with scope.read() as reader:
            removed = [(one, memory_of(reader, scope.hub_id, source, one)) for one in gone]
        return taken + [_removed(one, memory) for one, memory in removed if _is_shown(memory)]
    taken = import_batch(scope, items, source, change) if items else []
    taken += _archive(scope, source, gone, change)
    now = {
        one.item.id: _Known(one.section, content_hash(one.item.draft.content)) for one in statements
    }
    if now != before:
        _save(scope, source, change, now, before)
    return taken


def followed_places(scope: Scope, program: str) -> list[str]:
    """The sources that were followed before, and held something then."""
    with scope.read() as reader:
        scope.require_hub(reader)
        kept = [
            json.loads(one.text)
            for one in reader.scan_agreed(scope.hub_id)
            if one.path.startswith(f"{_FRONT}{program}:")
        ]
    return [body["place"] for body in kept if body["lines"]]


def _known_again(
    reader: Reader, scope: Scope, source: Source, found: Sequence[Statement], before: _Lines
) -> tuple[list[Statement], list[str]]:
    """The statements with the ids that they had, also where they were edited; and the ids of those
    that are gone."""
    ids: dict[str, list[str]] = {}
    for known_id, known in before.items():
        ids.setdefault(known.hash, []).append(known_id)
    out: list[Statement] = []
    new: list[int] = []
    for one in found:
        same = ids.get(content_hash(one.item.draft.content))
        if same:
            one = one._replace(item=one.item._replace(id=same.pop(0)))
        else:
            new.append(len(out))
        out.append(one)
    left = [known_id for same in ids.values() for known_id in same]
    if len(left) * len(new) <= _PAIRS_MAX:
        alike = _alike(reader, scope, source, {at: out[at] for at in new}, before, left)
        for at, known_id in alike.items():
            out[at] = out[at]._replace(item=out[at].item._replace(id=known_id))
            left.remove(known_id)
    return out, left


def _alike(
    reader: Reader,
    scope: Scope,
    source: Source,
    new: dict[int, Statement],
    before: _Lines,
    left: Sequence[str],
) -> dict[int, str]:
    """Which new statements are edits of which old ones of their section: the most alike first, and
    each once."""
    scores: list[tuple[float, int, str]] = []
    for known_id in left:
        memory = memory_of(reader, scope.hub_id, source, known_id)
        if memory is None:
            continue
        scores += [
            (score, at, known_id)
            for at, one in new.items()
            if one.section == before[known_id].section
            and (score := similarity(memory.content, one.item.draft.content)) >= _ALIKE_LEAST
        ]
    pairs: dict[int, str] = {}
    for _, at, known_id in sorted(scores, key=lambda row: (-row[0], row[1])):
        if at not in pairs and known_id not in pairs.values():
            pairs[at] = known_id
    return pairs


def _archive(scope: Scope, source: Source, gone: Sequence[str], change: str) -> list[Taken]:
    if not gone:
        return []
    out: list[Taken] = []
    with scope.write() as writer:
        scope.require_hub(writer)
        recorder = continued(scope, writer, "import", change, reason=source.reason)
        for one in gone:
            memory = memory_of(writer, scope.hub_id, source, one)
            if memory is not None and _is_shown(memory):
                reason = f"{GONE} {source.place}"
                memory = recorder.revise(memory, state="archived", state_reason=reason)
                out.append(_removed(one, memory))
    return out


def _removed(item_id: str, memory: Memory | None) -> Taken:
    return Taken(item_id, "removed", memory)


def _is_shown(memory: Memory | None) -> bool:
    if memory is None or not memory.visible:
        return False
    return memory.state != "archived" and memory.superseded_by is None


# What the source held


def _path(source: Source) -> str:
    return f"{_FRONT}{source.program}:{content_hash(source.place)[:32]}"


def _load(reader: Reader, hub_id: str, source: Source) -> _Lines:
    """The statements of the last run; of the one before it, where the last was undone."""
    agreed = reader.agreed(hub_id, _path(source))
    if agreed is None:
        return {}
    body: dict[str, Any] = json.loads(agreed.text)
    change = reader.change(hub_id, body["change"])
    undone = change is not None and change.undone_by is not None
    return {one: _Known(*row) for one, row in body["before" if undone else "lines"].items()}


def _save(scope: Scope, source: Source, change: str, now: _Lines, before: _Lines) -> None:
    body = {"place": source.place, "change": change, "lines": now, "before": before}
    text = json.dumps(body, ensure_ascii=False, indent=0)
    with scope.write() as writer:
        scope.require_hub(writer)
        writer.set_agreed(scope.hub_id, Agreed(_path(source), text, scope.now()))
