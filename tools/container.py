"""Tries the image without an engine: runs the commands of the Dockerfile in a plain environment.

    python -m tools.container [FOLDER]    # what `make container-check` runs

FOLDER keeps what was built, and is used again.

Where Docker can be reached, the image is built and run. Elsewhere the build stage is run on a copy
of what the image is built from, below a scratch folder in place of /opt, and the server is started
as the user of the image (where this runs as root) with its variables and its command. Then: it is
healthy, it refuses who has no key, it remembers, it ends at SIGTERM, and it still knows afterwards.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools import dockerfile

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "Dockerfile"
_PORT = "4653"
_HEALTHY_S = 60.0


def main() -> int:
    if _engine():
        _say("docker builds the image")
        subprocess.run(["docker", "build", "--tag", "holdfast-check", str(ROOT)], check=True)
    else:
        _say("no container engine can be reached; the commands run in a plain environment")
    with tempfile.TemporaryDirectory(prefix="holdfast-container-") as folder:
        scratch = Path(folder)
        scratch.chmod(0o755)
        built = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else scratch
        if not (built / "opt").exists():
            _build(built)
        _serve_twice(built / "opt" / "holdfast", scratch / "data")
    return 0


def _engine() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True).returncode == 0


def _build(scratch: Path) -> None:
    """Runs what the first stage runs, on what it copies."""
    context = scratch / "src"
    context.mkdir(parents=True)
    program = scratch / "opt" / "holdfast"
    for one in dockerfile.instructions(FILE):
        if one.stage != 1:
            continue
        if one.word == "COPY":
            *sources, target = one.text.split()
            for source in sources:
                _copy(
                    ROOT / source, context / target, is_folder=len(sources) > 1 or target[-1] == "/"
                )
        elif one.word == "RUN":
            began = time.perf_counter()
            command = one.text.replace("/opt/holdfast", str(program))
            command = command.replace("python -m venv", f"{sys.executable} -m venv", 1)
            environ = {**os.environ, **dockerfile.environment(FILE, 1)}
            ran = subprocess.run(
                command, shell=True, cwd=context, env=environ, capture_output=True, text=True
            )
            if ran.returncode:
                raise SystemExit(f"{command}\n{ran.stdout}{ran.stderr}")
            _say(
                f"{one.text.split(' && ')[-1].split(' -')[0]} … {time.perf_counter() - began:.1f} s"
            )
    size = sum(path.stat().st_size for path in program.rglob("*") if path.is_file())
    _say(f"{size / 1e6:.0f} MB beside the base image")


def _copy(source: Path, target: Path, *, is_folder: bool) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        return
    place = target / source.name if is_folder else target
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)


def _serve_twice(program: Path, data: Path) -> None:
    data.mkdir(mode=0o700)
    as_user = _as_user(data)
    port = _free_port()

    def here(text: str) -> str:
        text = text.replace("/opt/holdfast", str(program)).replace("/data", str(data))
        return text.replace(_PORT, str(port)).replace("$PATH", os.environ["PATH"])

    variables = dockerfile.environment(FILE, 2)
    environ = {name: here(value) for name, value in variables.items()}
    for name in ("HOLDFAST_STORE_URL", "PGPASSWORD"):
        if name in os.environ:
            environ[name] = os.environ[name]
    command = [here(word) for word in dockerfile.exec_form(dockerfile.texts(FILE, "CMD", 2)[0])]
    health = dockerfile.exec_form(dockerfile.texts(FILE, "HEALTHCHECK", 2)[0])
    check = [*as_user, *(here(word) for word in health)]

    def run(*words: str) -> str:
        ran = subprocess.run(
            [*as_user, *words], env=environ, cwd=data, capture_output=True, text=True
        )
        if ran.returncode:
            raise SystemExit(f"{' '.join(words)}\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def served(work: Callable[[], None]) -> None:
        began = time.perf_counter()
        server = subprocess.Popen([*as_user, *command], env=environ, cwd=data)
        try:
            _until_healthy(check, environ, data, server)
            _say(f"healthy after {time.perf_counter() - began:.1f} s")
            work()
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(timeout=30)
        if code not in (0, -signal.SIGTERM):
            raise SystemExit(f"The server ended with {code} at SIGTERM.")

    address = f"http://127.0.0.1:{port}/v1"

    def first() -> None:
        if _ask(f"{address}/hubs", "")[0] != 401:
            raise SystemExit("The server answers without a key.")
        run("holdfast", "hub", "create", "team")
        status, _ = _ask(f"{address}/memories", key, {"content": "The office is in Bonn"})
        if status != 201:
            raise SystemExit(f"Remembering answers {status}.")
        _say("refuses without a key, remembers with one")

    def second() -> None:
        _, answer = _ask(f"{address}/recall", key, {"query": "where is the office?"})
        if "Bonn" not in json.dumps(answer):
            raise SystemExit(f"After a restart it does not know any more: {answer}")
        _say("knows after a restart")

    early = subprocess.run([*as_user, *command], env=environ, cwd=data, capture_output=True)
    if early.returncode == 0 or b"there is no key yet" not in early.stderr:
        raise SystemExit("Without any key the server must not start.")
    _say("does not start as long as there is no key")
    key = run("holdfast", "key", "create", "laptop", "--quiet").strip()
    served(first)
    served(second)
    foreign = [path for path in data.rglob("*") if path.stat().st_uid != data.stat().st_uid]
    if foreign:
        raise SystemExit(f"{foreign[0]} belongs to another user.")


def _as_user(data: Path) -> list[str]:
    """A prefix that runs a command as the user of the image, without leave for more."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        _say("not as root: the commands run as you, not as the user of the image")
        return []
    user, group = dockerfile.texts(FILE, "USER", 2)[0].split(":")
    os.chown(data, int(user), int(group))
    _say(f"as user {user}, without privileges")
    return [
        *("setpriv", "--reuid", user, "--regid", group, "--clear-groups"),
        *("--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"),
    ]


def _until_healthy(
    check: Sequence[str], environ: Mapping[str, str], data: Path, server: subprocess.Popen[bytes]
) -> None:
    ends = time.monotonic() + _HEALTHY_S
    while subprocess.run(check, env=environ, cwd=data, capture_output=True).returncode:
        if server.poll() is not None or time.monotonic() > ends:
            raise SystemExit("The server did not become healthy.")
        time.sleep(0.2)


def _ask(url: str, key: str, body: Any = None) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json"} | (
        {"Authorization": f"Bearer {key}"} if key else {}
    )
    sent = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, sent, headers), timeout=30
        ) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, None


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
