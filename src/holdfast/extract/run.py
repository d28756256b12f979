"""Runs a job: starts the limited process, reads its output, and stores the text that it found.

The process is ended when it takes too long or says too much. A worker that dies leaves a job that
another takes over, and the first then writes nothing.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from queue import Empty, Queue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple

from holdfast.engine import jobs
from holdfast.engine.jobs import Job, Runner, Stopped
from holdfast.engine.writing import extraction
from holdfast.engine.writing.extraction import Made
from holdfast.errors import HoldfastError, NotFound
from holdfast.files import hub_path
from holdfast.files.attachments import Attachments

if TYPE_CHECKING:
    from holdfast.engine.core import Core

# Below the lease of a job, so that it cannot be taken over while its process still runs.
WALL_S = 240
# How much longer than the request the process that fetches a page may take, to start and to read.
GRACE_S = 10
# Each report of progress is a write, so there is one every few seconds.
_PROGRESS_S = 2.0
# How long a worker may take to notice that it should stop.
_LOOK_S = 0.2
# Besides the text: lines of progress, names, notes.
_TALK_BYTES = 1 << 20
# What a process needs to start and to find its programs; keys and tokens are not among it.
_ENVIRON = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"),
    *("SYSTEMROOT", "LD_LIBRARY_PATH", "TESSDATA_PREFIX", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)


# Exit statuses of a reader in C that crashed or ran out of memory: the same file would do it again.
_CRASHES = tuple(
    getattr(signal, name)
    for name in ("SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGTRAP", "SIGFPE")
    if hasattr(signal, name)
)


class Failed(NamedTuple):
    """Why there is no text of a file or page; `final` says that another attempt would not help."""

    reason: str
    final: bool


def _never() -> bool:
    return False


def runner(
    home: str, *, allowed: tuple[str, ...] = (), stop: Callable[[], bool] = _never
) -> Runner:
    """Who reads files and pages. `allowed` are private addresses that links may lead to, for tests.
    When `stop` says so, a job is put back."""

    def run(core: Core, job: Job) -> None:
        _work_on(core, home, job, allowed, stop)

    return Runner(extraction.WORK, run, extraction.lost)


def _work_on(
    core: Core, home: str, job: Job, allowed: tuple[str, ...], stop: Callable[[], bool]
) -> None:
    outcome = extract(core, home, job, allowed, stop)
    if isinstance(outcome, Made):
        extraction.finish(core, job, outcome)
    elif outcome.final or job.attempts >= jobs.ATTEMPTS_MAX:
        extraction.give_up(core, job, outcome.reason)
    else:
        jobs.fail(core, job, outcome.reason)


def extract(
    core: Core,
    home: str,
    job: Job,
    allowed: tuple[str, ...] = (),
    stop: Callable[[], bool] = _never,
) -> Made | Failed:
    """Reads the text of a file or page in a limited process."""
    settings = core.settings
    asked = _limits(core, settings["content.bytes_max"])

    def tell(done: int, total: int) -> None:
        jobs.progress(core, job, done, total or None)

    if "address" in job.about:
        asked |= {"what": "page", "address": job.about["address"], "allowed": list(allowed)}
        asked |= {"bytes_max": settings["fetch.bytes_max"]}
        asked |= {"timeout_s": settings["fetch.timeout_s"]}
        # The clock of a slow server is watched from here: a byte a second would never time out.
        asked["wall_s"] = min(WALL_S, int(settings["fetch.timeout_s"]) + GRACE_S)
        return _listen(tell, asked, None, stop)
    asked |= _about_file(core, job.about["name"])
    with core.store.read() as reader:
        hub = reader.hub_by_id(job.hub_id)
    if hub is None:
        raise NotFound(f"The hub {job.hub_id} is gone.")
    place = Attachments(core, hub.id, hub_path(home, hub.name))
    try:
        with place.open(job.about["hash"]) as file:
            return _listen(tell, asked, file, stop)
    except NotFound:
        # Not final: the folder of a hub that is being renamed appears a moment later.
        return Failed("its file is not there any more", final=False)


def text_of(core: Core, file: BinaryIO, name: str, chars_max: int) -> Made | Failed:
    """The text of a file for reading only; nothing is written."""
    asked = _limits(core, chars_max) | _about_file(core, name)
    return _listen(lambda done, total: None, asked, file, _never)


def _limits(core: Core, chars_max: int) -> dict[str, Any]:
    return {
        "cpu_s": core.settings["extract.cpu_s"],
        "memory_mb": core.settings["extract.memory_mb"],
        "wall_s": WALL_S,
        "chars_max": chars_max,
    }


def _about_file(core: Core, name: str) -> dict[str, Any]:
    return {
        "what": "file",
        "name": name,
        "tesseract": core.settings["extract.tesseract"],
        "languages": core.settings["extract.languages"],
    }


def _listen(
    tell: Callable[[int, int], None],
    asked: dict[str, Any],
    file: BinaryIO | None,
    stop: Callable[[], bool],
) -> Made | Failed:
    words = [sys.executable, "-P", "-B", "-m", "holdfast.extract.child", json.dumps(asked)]
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL if file is None else file,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _ENVIRON if name in os.environ},
        start_new_session=True,
    )
    try:
        return _heard(tell, process, asked, stop)
    except (ValueError, KeyError, TypeError, AttributeError):
        # A malicious file may control the process, so its output is not trusted.
        return Failed("the process that read it spoke nonsense", final=True)
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and those it started, such as an OCR that hangs."""
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _heard(
    tell: Callable[[int, int], None],
    process: subprocess.Popen[bytes],
    asked: dict[str, Any],
    stop: Callable[[], bool],
) -> Made | Failed:
    assert process.stdout is not None
    until = time.monotonic() + asked["wall_s"] + 5
    # A character may be twelve bytes of JSON.
    most = asked["chars_max"] * 12 + _TALK_BYTES
    said = 0
    rest = b""
    told_at = time.monotonic()
    heard: Queue[bytes] = Queue()
    # By a thread, as Windows cannot wait for a pipe.
    Thread(target=_read_pipe, args=(process.stdout, heard.put, most), daemon=True).start()
    while True:
        if stop():
            raise Stopped
        if time.monotonic() >= until:
            return Failed("reading it takes longer than is allowed", final=True)
        try:
            data = heard.get(timeout=_LOOK_S)
        except Empty:
            continue
        if not data:
            return _ended(process)
        said += len(data)
        if said > most:
            return Failed("it says more than any text has", final=True)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "progress" not in message:
                return _outcome(message)
            if time.monotonic() - told_at >= _PROGRESS_S:
                told_at = time.monotonic()
                tell(*message["progress"])


def _read_pipe(pipe: IO[bytes], put: Callable[[bytes], None], bytes_max: int) -> None:
    """Hands on what is in the pipe, and then nothing more: an empty part. What is longer than it
    may be is not read to its end."""
    with pipe:
        while data := os.read(pipe.fileno(), 1 << 16):
            put(data)
            bytes_max -= len(data)
            if bytes_max < 0:
                return
    put(b"")


def _outcome(message: dict[str, Any]) -> Made | Failed:
    if "failed" in message:
        return Failed(message["failed"], message["final"])
    return Made(
        message["text"],
        message["title"],
        message["note"],
        message["media_type"],
        message["address"],
    )


def _ended(process: subprocess.Popen[bytes]) -> Failed:
    """Why a process ended without a word."""
    if sys.platform == "win32":
        return Failed(f"the process that read it ended with {process.wait()}", final=False)
    if sys.platform == "linux":
        # Not reaped yet: its id still names its process group, which is ended next.
        ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        code = ended.si_status if ended is not None else 0
        killed = ended is not None and ended.si_code != os.CLD_EXITED
    else:
        # macOS has had no waitid before Python 3.13.
        code, killed = abs(process.wait()), process.returncode < 0
    if killed and code in (signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL):
        return Failed("reading it takes longer than is allowed", final=True)
    if killed and code in _CRASHES:
        return Failed("reading it takes more memory than is allowed, or it is broken", final=True)
    how = "by signal" if killed else "with code"
    return Failed(f"the process that read it ended {how} {code}", final=False)


def tidy(core: Core, home: str) -> list[str]:
    """For the beginning of work: removes files that crashes left in any hub, and gives memories
    that wait for a text nobody works on a job again. What could not be done is a note."""
    notes = []
    extraction.mend(core)
    with core.store.read() as reader:
        hubs = [hub for hub in reader.hubs() if hub.state == "active"]
    for hub in hubs:
        try:
            Attachments(core, hub.id, hub_path(home, hub.name)).sweep()
        except (HoldfastError, OSError) as error:
            notes.append(f"{hub.name}: {error}")
    return notes
