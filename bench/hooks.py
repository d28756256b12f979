"""How long hooks take, beside a bare start of Python: `python -m bench.hooks [--rounds N]`.

Each hook is a process of its own, as a client starts it. Cold: no warm process runs, and none is
started. Warm: the warm process answers. All of them are started in turns, so that what else the
machine does meets all alike. The hub of the project has 2,000 memories, the person's 200. The
processor time is that of the hook's own process: on a busy machine it says more than the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from holdfast.edges.hooks import front

_MEMORIES, _OWN = 2_000, 200


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as root:
        measure(Path(root), rounds)


def measure(root: Path, rounds: int) -> None:
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")},
        "HOME": str(root),
        "HOLDFAST_HOME": str(root / "home"),
        "HOLDFAST_EMBED_MODEL": "none",
    }
    project = root / "web"
    (project / ".git").mkdir(parents=True)
    fill(root / "home", project)
    cold_environ = {**environ, "HOLDFAST_HOOKS_SERVER": "false"}
    cold_home = {**cold_environ, "HOLDFAST_HOME": str(root / "cold")}
    subprocess.run(["cp", "-r", str(root / "home"), str(root / "cold")], check=True)
    hook = [sys.executable, "-I", "-S", front.__file__]
    took: dict[str, list[float]] = {}
    worked: dict[str, list[float]] = {}

    def run(name: str, words: list[str], env: dict[str, str], **fields: str) -> None:
        given = {"session_id": fields.pop("session", "s"), "cwd": str(project), **fields}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        subprocess.run(
            words, input=json.dumps(given).encode(), env=env, cwd=project, capture_output=True
        )
        took.setdefault(name, []).append((time.perf_counter() - begun) * 1_000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        worked.setdefault(name, []).append(seconds * 1_000)

    subprocess.run(
        [*hook, "start"],
        input=b'{"session_id": "w"}',
        env=environ,
        cwd=project,
        capture_output=True,
    )
    deadline = time.monotonic() + 30
    while front.ask(str(root / "home"), ["", "", "", ""], b"{}") is None:
        if time.monotonic() > deadline:
            raise SystemExit("The warm process did not start.")
        time.sleep(0.05)
    for number in range(rounds):
        turn = f"t{number}"
        asked = {"prompt": f"Which port does service {number * 7} use?", "prompt_id": turn}
        ended = {"prompt_id": turn, "last_assistant_message": f"It is {number}."}
        session = f"s{number}"
        run("python -c pass", [sys.executable, "-c", "pass"], environ)
        run("python -I -S -c pass", [sys.executable, "-I", "-S", "-c", "pass"], environ)
        run("start, warm", [*hook, "start"], environ, session=session, source="startup")
        run("prompt, warm", [*hook, "prompt"], environ, session=session, **asked)
        run("stop, warm", [*hook, "stop"], environ, session=session, **ended)
        run("start, cold", [*hook, "start"], cold_home, session=session, source="startup")
        run("prompt, cold", [*hook, "prompt"], cold_home, session=session, **asked)
        run("stop, cold", [*hook, "stop"], cold_home, session=session, **ended)
    bare = statistics.median(took["python -c pass"])
    sys.stdout.write(
        "| process | median ms | 95 % ms | times a bare start | processor ms, median |\n"
        "| --- | --- | --- | --- | --- |\n"
    )
    for name, times in took.items():
        middle, late = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        cpu = statistics.median(worked[name])
        sys.stdout.write(
            f"| {name} | {middle:.1f} | {late:.1f} | {middle / bare:.1f} | {cpu:.1f} |\n"
        )


def fill(home: Path, project: Path) -> None:
    import holdfast
    from holdfast.api.project import hub_here

    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        hub, _ = hub_here(memory, folder=str(project))
        hub.remember_many(
            {"content": f"Service {n} listens on port {2_000 + n} of machine {n % 17}"}
            for n in range(_MEMORIES)
        )
        memory.hub().remember_many(
            {"content": f"I like plant {n} in the garden of house {n % 13}"} for n in range(_OWN)
        )


if __name__ == "__main__":
    main()
