"""From a machine with Python alone to a first recalled memory: seconds and bytes, step by step.

    python -m tools.first_minute [FOLDER]    # what `make first-minute` runs

FOLDER has the wheels; without it, those that `make dist` left in `dist/` and `build/wheels`. The
steps run in a new environment with an empty home, and nothing is fetched over the network: the
bytes are those that pip takes out of the folder, which is what it would download. Set-up is tried
on a home with folders of Claude Code and Codex.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
_SAVED = re.compile(r"Processing \S*?([^/\s]+\.whl)")


class Step(NamedTuple):
    """What was done, how long it took, and what is to be said of it."""

    what: str
    seconds: float
    said: str = ""


def main() -> int:
    folders = [Path(sys.argv[1])] if len(sys.argv) > 1 else [ROOT / "dist", ROOT / "build/wheels"]
    wheels = {path.name: path.stat().st_size for one in folders for path in one.glob("*.whl")}
    if not any(name.startswith("holdfast_memory-") for name in wheels):
        raise SystemExit("There are no wheels of Holdfast: `make dist` builds them.")
    with tempfile.TemporaryDirectory(prefix="holdfast-first-") as scratch:
        steps = _steps(Path(scratch), folders, wheels)
    total = Step("from nothing to a first recalled memory", sum(one.seconds for one in steps[:-2]))
    for step in [*steps[:-2], total, *steps[-2:]]:
        sys.stdout.write(f"{step.seconds:8.1f} s  {step.what}  {step.said}".rstrip() + "\n")
    return 0


def _steps(scratch: Path, folders: Sequence[Path], wheels: Mapping[str, int]) -> list[Step]:
    home = scratch / "home"
    for name in (".claude", ".codex"):
        (home / name).mkdir(parents=True)
    environment = scratch / "environment"
    bin_ = environment / ("Scripts" if os.name == "nt" else "bin")
    environ = {"PATH": f"{bin_}{os.pathsep}{os.defpath}", "HOME": str(home)}

    def run(what: str, *command: str) -> tuple[Step, str]:
        began = time.perf_counter()
        ran = subprocess.run(command, env=environ, cwd=home, capture_output=True, text=True)
        took = time.perf_counter() - began
        if ran.returncode:
            raise SystemExit(f"{' '.join(command)}\n{ran.stdout}{ran.stderr}")
        return Step(what, took), ran.stdout

    made, _ = run(
        "an empty environment (python -m venv)", sys.executable, "-m", "venv", str(environment)
    )
    places = [word for one in folders for word in ("--find-links", str(one))]
    pip = [str(bin_ / "python"), "-m", "pip", "install", "--no-index", "--no-cache-dir"]
    installed, said = run("pip install holdfast-memory", *pip, *places, "holdfast-memory")
    taken = set(_SAVED.findall(said))
    size = sum(wheels[name] for name in taken)
    on_disk = sum(path.lstat().st_size for path in environment.rglob("*"))
    installed = installed._replace(
        said=f"{len(taken)} wheels, {size / 1e6:.1f} MB; {on_disk / 1e6:.0f} MB on the disk"
    )
    holdfast = str(bin_ / "holdfast")
    first, _ = run("holdfast (the first screen)", holdfast)
    setup, said = run(
        "holdfast setup --all --dry-run", holdfast, "setup", "--all", "--dry-run", "--quiet"
    )
    changes = sum(line.startswith("would") for line in said.splitlines())
    setup = setup._replace(said=f"{changes} changes shown, none made")
    stored, _ = run("holdfast remember", holdfast, "remember", "The cat sleeps on the blue sofa")
    # A question in other words is answered where a memory stands out from another.
    run("", holdfast, "remember", "Production runs Postgres 15")
    asked, said = run("holdfast recall, by meaning", holdfast, "recall", "where does my pet nap?")
    if "blue sofa" not in said:
        raise SystemExit(f"Another memory was recalled: {said}")
    again, _ = run("holdfast recall, a second time", holdfast, "recall", "where does my pet nap?")
    words, _ = run("holdfast recall --words", holdfast, "recall", "sofa", "--words")
    return [made, installed, first, setup, stored, asked, again, words]


if __name__ == "__main__":
    raise SystemExit(main())
