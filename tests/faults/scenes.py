"""Scenes that need processes of their own: they fork, are killed, run out of room, lose rights.

Each runs as `python scenes.py NAME FOLDER` in a fresh interpreter with a single thread, so that a
fork is safe and no limit or signal handler touches the tests themselves. A scene that fails ends
with a traceback; what it prints last is one line of JSON with what it saw.
"""

from __future__ import annotations

import json
import os
import random
import resource
import select
import signal
import sys
import tempfile
import traceback
import urllib.parse  # noqa: F401 - nobody may read the standard library of some installations
from collections.abc import Callable
from typing import Any

from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.api.memory import open as open_memory
from holdfast.engine.upkeep.doctor import examine
from holdfast.errors import HoldfastError

KILLS = 100
WRITERS = 8
WRITES = 125


def opened(folder: str) -> Holdfast:
    return open_memory(folder, settings={"embed.model": "none", "actor": "tester"})


def forked(act: Callable[[int], None]) -> tuple[int, int]:
    """Runs `act(pipe)` in a child; returns its process id and the end of the pipe to read."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    status = 1
    try:
        act(writing)
        status = 0
    finally:
        # Whatever happens, a child never goes back into the code of its parent.
        if status:
            traceback.print_exc()
        os._exit(status)


def ended(child: int) -> int:
    """Waits for a child; its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def lines_from(pipe: int) -> list[str]:
    """Everything that was said, without a last line that was cut off."""
    with os.fdopen(pipe) as told:
        text = told.read()
    return text[: text.rfind("\n") + 1].splitlines()


def say(pipe: int, *words: object) -> None:
    os.write(pipe, (" ".join(map(str, words)) + "\n").encode())


def load_modules() -> None:
    """Loads what a write imports and compiles when it is first needed, in a home of its own.
    Otherwise each forked child would spend most of its time on that."""
    with tempfile.TemporaryDirectory() as folder, opened(folder) as memory:
        hub = memory.hub()
        hub.remember("A thing to know.", key="first")
        hub.remember_many(["Another thing to know.", "A third one."])
        hub.update(1, title="A title")
        hub.forget(1)
        hub.undo()
        hub.purge(2)
        assert examine(memory.core).found == []


# Killed in the middle of writes


def _write_until_killed(folder: str, seed: int) -> Callable[[int], None]:
    def act(pipe: int) -> None:
        chance = random.Random(seed)
        hub = opened(folder).hub()
        mine: list[str] = []
        for step in range(10_000):
            kind = chance.random() if mine else 0.0
            if kind < 0.5:
                text = f"Round {seed} step {step}: " + "words of some length " * chance.randrange(
                    20
                )
                mine.append(hub.remember(text, key=f"key-{seed}-{step}").memory.id)
                say(pipe, "stored", mine[-1])
            elif kind < 0.6:
                made = hub.remember_many([f"Round {seed} of many {step}.{n}" for n in range(5)])
                say(pipe, "many", *(one.memory.id for one in made))
            elif kind < 0.75:
                chosen = chance.choice(mine)
                say(pipe, "updated", chosen, hub.update(chosen, title=f"title {step}").version)
            elif kind < 0.9:
                chosen = mine.pop(chance.randrange(len(mine)))
                say(pipe, "unsure", chosen)
                hub.forget(chosen)
                say(pipe, "forgotten", chosen)
            else:
                chosen = mine.pop(chance.randrange(len(mine)))
                say(pipe, "unsure", chosen)
                hub.purge(chosen)
                say(pipe, "purged", chosen)

    return act


def _read_until(pipe: int, count: int, more_s: float) -> str:
    """What is told until that many lines came, and for a moment after."""
    told = b""
    while told.count(b"\n") < count:
        more = os.read(pipe, 65_536)
        assert more, "the writer ended by itself"
        told += more
    if select.select([pipe], [], [], more_s)[0]:
        told += os.read(pipe, 65_536)
    return told.decode()


def _believe(folder: str, told: list[str]) -> int:
    """Everything that was acknowledged is as it was said to be."""
    expected: dict[str, tuple[str, int]] = {}
    for line in told:
        kind, *rest = line.split(" ")
        if kind == "updated":
            expected[rest[0]] = ("there", int(rest[1]))
        elif kind in ("stored", "many"):
            expected |= dict.fromkeys(rest, ("there", 1))
        else:
            expected[rest[0]] = (kind, 0)
    with opened(folder) as memory, memory.core.store.read() as reader:
        hub = memory.hub()
        for memory_id, (how, version) in expected.items():
            found = reader.memory(hub.id, memory_id)
            if how == "unsure":
                continue  # It was about to be taken away when the end came.
            if how == "purged":
                assert found is None, f"{memory_id} was purged and is there"
                continue
            assert found is not None, f"{memory_id} was acknowledged and is lost"
            assert (found.forgotten_at is not None) == (how == "forgotten"), memory_id
            # One more update may have been done and not yet told.
            assert found.version >= version, f"{memory_id} lost a version"
    return len(expected)


def kills(folder: str) -> dict[str, Any]:
    """Killed 100 times at any moment, with one store all through."""
    chance = random.Random(20260114)
    load_modules()
    opened(folder).close()
    told: list[str] = []
    acknowledged = 0
    for round_number in range(KILLS):
        child, pipe = forked(_write_until_killed(folder, round_number))
        text = _read_until(pipe, chance.randrange(1, 6), chance.random() * 0.01)
        os.kill(child, signal.SIGKILL)
        assert ended(child) == -signal.SIGKILL
        rest = lines_from(pipe)
        told += (text + "\n".join(rest) + "\n").splitlines() if rest else _whole(text)
        # Sometimes the next writer is the one who finds what the killed one left.
        if round_number % 3 == 0 or round_number == KILLS - 1:
            acknowledged += _believe(folder, [line for line in told if line])
            told = []
        if round_number % 40 == 39:
            _healthy(folder)
    _healthy(folder)
    return {"acknowledged": acknowledged}


def _whole(text: str) -> list[str]:
    return text[: text.rfind("\n") + 1].splitlines()


def _healthy(folder: str) -> None:
    with opened(folder) as memory:
        found = examine(memory.core).found
        assert found == [], found


# Many processes


def writers(folder: str) -> dict[str, Any]:
    """Eight processes write 125 memories each into one hub at once."""
    load_modules()
    opened(folder).close()
    gate_reading, gate_writing = os.pipe()

    def write(number: int) -> Callable[[int], None]:
        def act(pipe: int) -> None:
            os.close(gate_writing)
            memory = opened(folder)
            say(pipe, "ready")
            os.read(gate_reading, 1)  # Ends for all at once, when the gate is closed.
            for step in range(WRITES):
                stored = memory.hub().remember(f"Writer {number} says {step}.")
                say(pipe, stored.memory.number)
            memory.close()

        return act

    children = [forked(write(number)) for number in range(WRITERS)]
    for _, pipe in children:
        assert os.read(pipe, 6) == b"ready\n"
    os.close(gate_writing)
    # Pipes hold far more than so many numbers, so nobody waits for this to read them.
    codes = [ended(child) for child, _ in children]
    assert codes == [0] * WRITERS, codes
    numbers = [int(line) for _, pipe in children for line in lines_from(pipe)]
    with opened(folder) as memory:
        listed = [one.number for one in memory.hub().list(order="number")]
        assert sorted(numbers) == listed == list(range(1, WRITERS * WRITES + 1))
        assert examine(memory.core).found == []
    return {"memories": len(listed)}


def fork(folder: str) -> dict[str, Any]:
    """A forked child goes on with its parent's store; the parent ends first, others come."""
    memory = opened(folder)
    hub = memory.hub()
    hub.remember("From the parent, before.")
    reading = memory.core.store.read()
    reader = reading.__enter__()
    assert len(reader.hubs()) == 1
    go_reading, go_writing = os.pipe()

    def child(pipe: int) -> None:
        os.close(go_writing)
        assert len(hub.list()) == 1
        hub.remember("From the child.")
        say(pipe, "written")
        os.read(go_reading, 1)
        for step in range(30):
            hub.remember(f"From the child, later {step}.")
        assert examine(memory.core).found == []
        memory.close()

    process, pipe = forked(child)
    os.close(go_reading)
    assert os.read(pipe, 8) == b"written\n"
    assert len(reader.memories_by_id(hub.id, [])) == 0
    reading.__exit__(None, None, None)
    hub.remember("From the parent, after.")
    assert len(hub.list()) == 3
    memory.close()

    # A stranger opens the store while only the child has it open.
    def stranger(pipe: int) -> None:
        with opened(folder) as other:
            for step in range(30):
                other.hub().remember(f"From a stranger {step}.")

    os.close(go_writing)
    outsider, _ = forked(stranger)
    assert ended(outsider) == 0
    assert ended(process) == 0
    with opened(folder) as again:
        assert len(again.hub().list()) == 63
        assert examine(again.core).found == []
    return {}


# Cut off between two statements


ACTS: dict[str, Callable[[HubMemory], object]] = {
    "remember": lambda hub: hub.remember("A new thing to know", supersedes=1, tags=["t"]),
    "update": lambda hub: hub.update(2, content="It says something else now", key="k"),
    "forget": lambda hub: hub.forget_many([2, 3]),
    "purge": lambda hub: hub.purge(3),
    "undo": lambda hub: hub.undo(),
}


def _state(folder: str) -> str:
    with opened(folder) as memory:
        found = examine(memory.core).found
        assert found == [], found
        return "\n".join(sorted(memory.hub().export()))


def statements(folder: str) -> dict[str, Any]:
    """Killed at the n-th statement of a write, for every n: the old state or the new one."""
    load_modules()
    with opened(folder) as memory:
        hub = memory.hub()
        for number in range(4):
            hub.remember(f"Number {number} of the things to know, long enough to be indexed.")
        hub.update(4, title="Another title")
        memory.backup(os.path.join(folder, "start.db"))
    count = 0
    for name in ACTS:
        before = _state(folder)
        number, passed = 0, False
        while not passed:
            number += 1
            assert number < 500, "a write without end"
            passed = killed_at(lambda: opened(folder), ACTS[name], number)
            count += 1
            after = _state(folder)
            if after != before or passed:
                _restore(folder)
                assert _state(folder) == before
        assert number > 5, f"{name} has only {number} statements"
    return {"kills": count}


def _restore(folder: str) -> None:
    from holdfast.store.sqlite.files import copy_in

    copy_in(os.path.join(folder, "memory.db"), os.path.join(folder, "start.db"))


def killed_at(
    open_store: Callable[[], Holdfast], do: Callable[[HubMemory], object], number: int
) -> bool:
    """Does it in a child that is killed at a statement; whether the child got to the end."""

    def act(pipe: int) -> None:
        memory = open_store()
        hub = memory.hub()
        store: Any = memory.core.store
        left = number

        def trace(_cursor: object, _sql: str, _bindings: object) -> bool:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return True

        store._writer.exec_trace = trace
        do(hub)
        memory.close()

    child, pipe = forked(act)
    code = ended(child)
    os.close(pipe)
    assert code in (0, -signal.SIGKILL), code
    return code == 0


# No room, no rights


def file_size_limit(folder: str) -> dict[str, Any]:
    """A limit on the size of files stands in for a full disk: EFBIG instead of ENOSPC."""
    with opened(folder) as memory:
        memory.hub().remember("Here before the disk was full.")
    size = os.path.getsize(os.path.join(folder, "memory.db"))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]

    def limit(bytes_max: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, hard))

    return _fill(folder, lambda: limit(size + 120_000), lambda: limit(hard))


def small_disk(folder: str) -> dict[str, Any]:
    """FOLDER is a small file system of its own, with a file `ballast` that can be removed."""
    with opened(folder) as memory:
        memory.hub().remember("Here before the disk was full.")
    return _fill(folder, lambda: None, lambda: os.remove(os.path.join(folder, "ballast")))


def _fill(folder: str, shrink: Callable[[], None], grow: Callable[[], None]) -> dict[str, Any]:
    memory = opened(folder)
    hub = memory.hub()
    shrink()
    kept, refused = 1, None
    for step in range(3_000):
        try:
            hub.remember(f"Number {step}: " + " ".join(f"word{step}x{n}" for n in range(200)))
            kept += 1
        except HoldfastError as error:
            refused = error
            break
    assert refused is not None, "the disk was never full"
    # What was there can still be read, by the one who was refused and by others.
    assert len(hub.list()) == kept
    assert [hit.memory.number for hit in hub.recall("before the disk was full", limit=1)] == [1]
    assert [hit.memory.number for hit in hub.recall("word0x1", limit=1)] == [2]
    grow()
    hub.remember("There is room again.")
    assert len(hub.list()) == kept + 1
    assert examine(memory.core).found == []
    memory.close()
    with opened(folder) as again:
        assert len(again.hub().list()) == kept + 1
        assert examine(again.core).found == []
    return {"error": type(refused).__name__, "message": str(refused), "kept": kept}


def read_only(folder: str) -> dict[str, Any]:
    """What someone without the right to write is told, case by case."""
    with opened(folder) as memory:
        memory.hub().remember("Here before.")
        with_lazy_imports = memory.hub().recall("before")
        assert len(with_lazy_imports) == 1
    for path in (folder, os.path.join(folder, "memory.db")):
        os.chown(path, 0, 0)
    cases: dict[str, tuple[int, int, bool]] = {
        "folder": (0o755, 0o666, True),
        "file": (0o777, 0o444, True),
        "both": (0o755, 0o444, True),
        "hidden": (0o755, 0o600, True),
        "new": (0o755, 0o600, False),
    }
    told = {}
    for name, (folder_mode, file_mode, there) in cases.items():
        os.chmod(folder, folder_mode)
        os.chmod(os.path.join(folder, "memory.db"), file_mode)
        where = folder if there else os.path.join(folder, "inner")
        told[name] = _told_to_nobody(where)
    with opened(folder) as memory:
        assert len(memory.hub().list()) == 1
        assert examine(memory.core).found == []
    return told


def _told_to_nobody(folder: str) -> list[str]:
    def act(pipe: int) -> None:
        os.setgroups([])
        os.setgid(65_534)
        os.setuid(65_534)
        try:
            with opened(folder) as memory:
                memory.hub().remember("This cannot be.")
            say(pipe, json.dumps(["written", ""]))
        except HoldfastError as error:
            say(pipe, json.dumps([type(error).__name__, str(error)]))

    child, pipe = forked(act)
    lines = lines_from(pipe)
    assert ended(child) == 0
    told: list[str] = json.loads(lines[-1])
    return told


SCENES: dict[str, Callable[[str], dict[str, Any]]] = {
    "kills": kills,
    "writers": writers,
    "fork": fork,
    "statements": statements,
    "file_size_limit": file_size_limit,
    "small_disk": small_disk,
    "read_only": read_only,
}

if __name__ == "__main__":
    print(json.dumps(SCENES[sys.argv[1]](sys.argv[2])))
