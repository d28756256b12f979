"""What `holdfast recall` costs from its start to its end, beside a bare start of Python:
`python -m bench.startup [--rounds N]`.

Cold: the command runs in its own process. Warm: the warm process answers it. All of them are
started in turns, so that what else the machine does meets all alike. The processor time of a warm
command is that of its process and that of the warm process with its children, which the kernel
counts in hundredths of a second: so it is an average over all rounds.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.store import started, with_bytecode
from holdfast.edges.cli import warm
from holdfast.edges.hooks.front import socket_of

_MEMORIES = 1_000
# The child of a warm command ends a little after its client; then its time is counted.
_REAPED_S = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")
_KINDS = {
    "recall --words, cold": (("recall", "--words", "2017"), "false"),
    "recall --words, warm": (("recall", "--words", "2017"), "true"),
    "recall, cold": (("recall", "2017"), "false"),
    "recall, warm": (("recall", "2017"), "true"),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as root:
        measure(Path(root), rounds)


def measure(root: Path, rounds: int) -> None:
    home = root / "home"
    fill(home)
    environ = {**with_bytecode(str(root)), "HOLDFAST_HOME": str(home)}
    script = os.path.join(os.path.dirname(sys.executable), "holdfast")
    ours = [script] if os.path.exists(script) else [sys.executable, "-m", "holdfast"]
    bare = [sys.executable, "-c", "pass"]
    servers = [start_server(home, ours, environ, kind) for kind in (warm.WORDS, warm.MEANING)]
    clock_ms: dict[str, list[float]] = {}
    own_ms: dict[str, list[float]] = {}
    server_ms: dict[str, float] = {}
    try:
        for _ in range(rounds):
            for name in ("python -c pass", *_KINDS):
                words, warm_setting = _KINDS.get(name, ((), "false"))
                line = [*ours, *words] if words else bare
                before = used_ms(servers)
                began = time.perf_counter()
                own = started(line, {**environ, warm.VARIABLE: warm_setting})
                clock_ms.setdefault(name, []).append((time.perf_counter() - began) * 1_000)
                own_ms.setdefault(name, []).append(own)
                time.sleep(_REAPED_S)
                server_ms[name] = server_ms.get(name, 0.0) + used_ms(servers) - before
    finally:
        for server in servers:
            os.kill(server, signal.SIGTERM)
    first = "python -c pass"
    sys.stdout.write(
        "| process | median ms | times bare | processor ms, average | times bare |\n"
        "| --- | --- | --- | --- | --- |\n"
    )
    bare_ms, bare_own_ms = statistics.median(clock_ms[first]), statistics.mean(own_ms[first])
    for name, times in clock_ms.items():
        middle = statistics.median(times)
        work = statistics.mean(own_ms[name])
        if "warm" in name:
            work += server_ms[name] / rounds
        sys.stdout.write(
            f"| {name} | {middle:.1f} | {middle / bare_ms:.1f} | {work:.1f} |"
            f" {work / bare_own_ms:.1f} |\n"
        )


def fill(home: Path) -> None:
    import holdfast

    with holdfast.open(home) as memory:
        memory.hub().remember_many(
            {"content": f"Service {n} listens on port {2_000 + n} of machine {n % 17}"}
            for n in range(_MEMORIES)
        )


def start_server(home: Path, ours: list[str], environ: dict[str, str], kind: str) -> int:
    """Starts a warm process as a person does, with the second command; its process id."""
    words = [*ours, "recall", "2017", *(["--words"] if kind == warm.WORDS else [])]
    for _ in range(2):
        started(words, {**environ, warm.VARIABLE: "true"})
    deadline = time.monotonic() + 60
    while not os.path.exists(socket_of(str(home), kind)):
        if time.monotonic() > deadline:
            raise SystemExit("The warm process did not start.")
        time.sleep(0.05)
    return int((home / kind / "server.lock").read_text())


def used_ms(processes: list[int]) -> float:
    """The processor time of processes and of their children that have ended."""
    fields = [
        Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]
        for process in processes
    ]
    return sum(int(field) for row in fields for field in row) * 1_000 / _TICKS


if __name__ == "__main__":
    main()
