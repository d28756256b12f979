"""Builds the distributions, installs them without a network, and tries the result.

    python -m tools.dist               # what `make dist` runs

Wheels and source distributions of Holdfast and of its model go to `dist/`. The wheels of what a
plain `pip install holdfast-memory` brings go to `build/wheels`. From these folders alone they are
installed into an empty environment, and `tools/smoke.py` runs there, where the system allows it in
a network namespace that has no interface but loopback.

Both wheels are built twice, from the tree and from the source distribution, with equal bytes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECTS = (ROOT / "packages" / "holdfast-memory-model", ROOT)
DIST = ROOT / "dist"
WHEELS = ROOT / "build" / "wheels"

# The timestamp inside the archives, 1 January 2026: the same tree gives the same bytes.
EPOCH = "1767225600"


def main() -> int:
    for folder in (DIST, WHEELS):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    with _step("build wheels and source distributions"):
        for project in PROJECTS:
            _build(project, DIST)
    with _step("build the wheels again from the source distributions; the bytes must be equal"):
        _check_reproducible()
    with _step("collect the wheels of what Holdfast depends on"):
        _collect()
    with tempfile.TemporaryDirectory(prefix="holdfast-dist-") as scratch:
        python = _install(Path(scratch))
        with _step("smoke test"):
            _smoke(python, Path(scratch))
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>12,}  {_digest(path)}  {path.name}")
    return 0


def _build(project: Path, target: Path, *only: str) -> None:
    build = [sys.executable, "-m", "build", "--no-isolation", *only]
    _run([*build, "--outdir", str(target), str(project)])


def _check_reproducible() -> None:
    with tempfile.TemporaryDirectory(prefix="holdfast-rebuild-") as scratch:
        for archive in DIST.glob("*.tar.gz"):
            shutil.unpack_archive(archive, scratch, filter="data")
            source = Path(scratch) / archive.name.removesuffix(".tar.gz")
            again = Path(scratch) / "again"
            _build(source, again, "--wheel")
        for wheel in sorted(again.iterdir()):
            if _digest(wheel) != _digest(DIST / wheel.name):
                raise SystemExit(f"{wheel.name} differs when it is built from the sdist.")


def _collect() -> None:
    """Wheels for this platform, in the versions that constraints.txt pins."""
    pins = [line for line in _pins() if "==" in line]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.write("\n".join(pins))
        constraints.flush()
        options = ["--only-binary", ":all:", "--constraint", constraints.name]
        wheels = [str(wheel) for wheel in DIST.glob("*.whl")]
        _pip(sys.executable, "download", *options, "--dest", str(WHEELS), *wheels)


def _pins() -> Iterator[str]:
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith((" ", "#")):
            yield line.rstrip("\\ ")


def _install(scratch: Path) -> Path:
    """The Python of a new environment with Holdfast in it; nothing comes over the network."""
    environment = scratch / "environment"
    with _step("create an empty environment"):
        venv.create(environment, with_pip=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    with _step("install from the folders alone"):
        places = ["--find-links", str(WHEELS), "--find-links", str(DIST)]
        _pip(str(python), "install", "--no-index", *places, "holdfast-memory")
    received = sum(path.stat().st_size for path in WHEELS.iterdir())
    print(f"  {len(list(WHEELS.iterdir()))} wheels, {received / 1e6:.0f} MB to download")
    return python


def _smoke(python: Path, scratch: Path) -> None:
    home = scratch / "home"
    home.mkdir()
    environ = {
        "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "HOME": str(home),
        "HOLDFAST_HOME": str(home / "holdfast"),
    }
    command = [str(python), "-I", str(ROOT / "tools" / "smoke.py")]
    subprocess.run([*_without_network(), *command], check=True, env=environ, cwd=home)


def _without_network() -> list[str]:
    """A prefix that runs a command with loopback only, or nothing where that is not allowed."""
    prefix = ["unshare", "--map-root-user", "--net"]
    prefix += ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if shutil.which("unshare"):
        tried = subprocess.run([*prefix, "true"], capture_output=True)
        if tried.returncode == 0:
            return prefix
    print("  (the network cannot be turned off here: install iproute2, or allow user namespaces)")
    return []


def _pip(python: str, what: str, *options: str) -> None:
    _run([python, "-m", "pip", what, "--quiet", "--disable-pip-version-check", *options])


def _run(command: Sequence[str]) -> None:
    environ = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    ran = subprocess.run(command, env=environ, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{' '.join(command)}\n{ran.stdout}{ran.stderr}")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def _step(what: str) -> Iterator[None]:
    began = time.perf_counter()
    print(f"{what} …", flush=True)
    yield
    print(f"  {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
