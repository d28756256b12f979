"""One MEMORY.md, a person with an editor and two tools, each in a process of its own and all at
once: whatever was acknowledged can be reached in the end."""

from __future__ import annotations

import multiprocessing
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path

from holdfast import Holdfast, HoldfastError, HubMemory
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.domain.query import EVERYTHING
from holdfast.files.memory_md import MarkdownItem
from holdfast.files.memory_md.cache import our_memories
from holdfast.files.memory_md.parse import parse
from holdfast.testing import open_for_tests

EDITS = 20
TOOLS = ("a", "b")
# Far more than it ever takes, so that a sync which takes nothing in ends the test.
LOOKS_MAX = 5_000


def opened(folder: str) -> Holdfast:
    clock = SystemClock()
    return open_for_tests(folder, clock=clock, ids=TimeIds(clock))


def tool(folder: str, name: str, done: Event) -> None:
    """Remembers, updates and forgets until the editor is done; says what was acknowledged."""
    chance = random.Random(name)
    with opened(folder) as memory, open(f"{folder}/said-{name}", "w") as said:
        hub = memory.hub("work")
        step = 0
        while not done.is_set() or step < EDITS:
            step += 1
            text = f"Tool {name} says {step}."
            try:
                known = [one.number for one in hub.list(layer="long_term")]
                kind = chance.random() if len(known) > 6 else 0.0
                if kind < 0.5:
                    hub.remember(text, layer="long_term", category=chance.choice(["fact", "own"]))
                elif kind < 0.8:
                    hub.update(chance.choice(known), content=text)
                else:
                    hub.forget(chance.choice(known))
                    continue
            except HoldfastError:
                continue  # Somebody else was faster, and nothing was acknowledged.
            print(text, file=said, flush=True)


def editor(folder: str, path: str, done: Event) -> None:
    """Saves what a person types, as editors do; an edit counts as done once the store has it. A
    save that another one has overtaken is made again, as a person would."""
    with opened(folder) as memory, open(f"{folder}/said-editor", "w") as said, ended(done):
        hub = memory.hub("work")
        for step in range(EDITS):
            text = f"Typed by hand {step}."
            for _ in range(LOOKS_MAX):
                if text in reachable(hub):
                    break
                if text not in Path(path).read_text():
                    # In the same way each time, so that no way gets by without working.
                    save(random.Random(step), Path(path), text)
            else:
                raise AssertionError(f"{text} was never taken in")
            print(text, file=said, flush=True)


@contextmanager
def ended(done: Event) -> Iterator[None]:
    """However it ends, the others need not wait for it."""
    try:
        yield
    finally:
        done.set()


def save(chance: random.Random, path: Path, text: str) -> None:
    blocks = list(parse(path.read_text()).blocks)
    items = [place for place, block in enumerate(blocks) if isinstance(block, MarkdownItem)]
    raws = [block.raw for block in blocks]
    kind = chance.random() if len(items) > 4 else 0.0
    if kind < 0.5:
        raws.append(f"\n## By Hand\n- {text}\n")
    else:
        place = chance.choice(items)
        block = blocks[place]
        assert isinstance(block, MarkdownItem)
        raws[place] = f"- {text} <!-- {block.id} -->\n"
        if kind > 0.8:
            del raws[chance.choice([other for other in items if other != place])]
    if chance.random() < 0.5:
        new = path.with_name("MEMORY.md~")
        new.write_text("".join(raws))
        os.replace(new, path)
    else:
        path.write_text("".join(raws))


def reachable(hub: HubMemory) -> set[str]:
    """Every text that the store has, or had."""
    with hub.core.store.read() as reader:
        found = {
            memory.content
            for memory in reader.memories(
                hub.id, EVERYTHING, order="number", after=None, limit=100_000
            )
        }
        for revision in reader.scan_revisions(hub.id):
            found.update(filter(None, revision.fields.get("content", ())))
    return found


def test_an_editor_and_two_tools_at_once_lose_nothing(tmp_path: Path) -> None:
    with opened(str(tmp_path)) as memory:
        hub = memory.create_hub("work")
        hub.remember("Ann likes tea.", layer="long_term")
        hub.sync()
        path = hub.memory_md
    context = multiprocessing.get_context("spawn")
    done = context.Event()
    crowd = [context.Process(target=tool, args=(str(tmp_path), name, done)) for name in TOOLS]
    crowd.append(context.Process(target=editor, args=(str(tmp_path), path, done)))
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(120)
    assert [process.exitcode for process in crowd] == [0] * len(crowd)
    with opened(str(tmp_path)) as memory:
        hub = memory.hub("work")
        hub.sync(confirm=True)
        acknowledged = {
            line for said in tmp_path.glob("said-*") for line in said.read_text().splitlines()
        }
        assert len(acknowledged) > EDITS * 2
        assert acknowledged - reachable(hub) == set()
        with hub.core.store.read() as reader:
            ours = our_memories(hub.core, reader, hub.id)
        items = parse(Path(path).read_text()).items
        assert sorted((item.id, item.content) for item in items) == sorted(
            (one.id, one.content) for one in ours
        )
        assert memory.core.store.check() == []
        assert not [name for name in os.listdir(hub.folder) if "partial" in name]
