"""Several processes edit one file through the memory tool, one is killed: no update is lost, no
text is torn, and file and memory say the same afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast

pytestmark = pytest.mark.faults

# So long that it takes more than one write to the disk; a torn file would miss its end.
PADDING = "x" * 100_000
# Much of what three do at once is refused and done again, so that a few take many tries.
EACH = 4
# The store that each process opens is the real one: with ids and a clock that differ.
PLAIN = {"embed.model": "none"}

COUNT_UP = """
import json, sys
import holdfast
home, wanted = sys.argv[1], int(sys.argv[2])
done, refused = 0, 0
with holdfast.open(home, settings={"embed.model": "none"}) as memory:
    call = holdfast.tools("anthropic", memory.hub("work")).call
    print("ready", flush=True)
    while done < wanted:
        path = "/memories/count.md"
        seen = call("memory", {"command": "view", "path": path, "view_range": [1, 1]})
        number = int(seen.text.splitlines()[1].split("\\t")[1].split()[1])
        reply = call(
            "memory",
            {
                "command": "str_replace",
                "path": path,
                "old_str": f"count {number}\\n",
                "new_str": f"count {number + 1}\\n",
            },
        )
        if reply.failed:
            assert "did not appear verbatim" in reply.text, reply.text
            refused += 1
        else:
            done += 1
            print(number + 1, flush=True)
print(json.dumps({"done": done, "refused": refused}))
"""


def start(home: Path, wanted: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COUNT_UP, str(home), str(wanted)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def prepare(home: Path) -> Path:
    with holdfast.open(home, settings=PLAIN) as memory:
        hub = memory.create_hub("work")
        hub.files().create("/memories/count.md", f"count 0\n{PADDING}\nend")
        return Path(hub.folder) / "files" / "count.md"


def agreed_count(home: Path, file: Path) -> int:
    """What file and memory both say, after a look at it."""
    with holdfast.open(home, settings=PLAIN) as memory:
        hub = memory.hub("work")
        shown: Any = hub.files().look("/memories/count.md")
        (kept,) = [m for m in hub.list() if m.source_path == "count.md"]
        assert shown.text == file.read_text() == kept.content
        assert shown.text.endswith(f"\n{PADDING}\nend")
        return int(shown.text.splitlines()[0].split()[1])


def test_processes_that_edit_one_file_lose_no_update(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    writers = [start(tmp_path, EACH) for _ in range(3)]
    while any(writer.poll() is None for writer in writers):
        text = file.read_text()
        assert text.startswith("count ")
        assert text.endswith(f"\n{PADDING}\nend")
        for writer in writers:
            try:
                writer.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                continue
    for writer in writers:
        out, problems = writer.communicate()
        assert writer.returncode == 0, problems
        assert json.loads(out.splitlines()[-1])["done"] == EACH
    assert agreed_count(tmp_path, file) == 3 * EACH


def test_a_killed_writer_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    answered = 0
    for kill_after in (1, 2, 3):
        writer = start(tmp_path, 1_000)
        assert writer.stdout is not None
        for _ in range(kill_after + 1):
            line = writer.stdout.readline()
        os.kill(writer.pid, signal.SIGKILL)
        rest, _ = writer.communicate()
        last = [number for number in [line, *rest.splitlines()] if number.strip().isdigit()]
        answered = int(last[-1])
        # One more may have been written and not been answered.
        assert agreed_count(tmp_path, file) in (answered, answered + 1)
    assert answered >= 6
    with holdfast.open(tmp_path, settings=PLAIN) as memory:
        memory.hub("work").files().insert("/memories/count.md", 0, "begin")
    # What a killed writer left half done is swept up by the next one.
    assert os.listdir(file.parent) == ["count.md"]
