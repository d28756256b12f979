"""Makes this process look like Windows or macOS as far as Linux can, and runs commands in it:
python -m tests.portability.standin win32|darwin FOLDER

The names that the other system lacks are taken out of `os`, `signal`, `socket` and `time`, modules
that it lacks cannot be imported, and `sys.platform` says what it says there. As on Windows, a file
that is open can be neither replaced nor removed, and only sockets can be waited for. Paths stay
those of Linux. The standard library is imported before: it asks for the platform at its import.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import selectors
import shutil
import stat
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.extract.makes import pdf

# What is imported on the way, and asks for the platform then.
_FIRST = (
    *("asyncio", "concurrent.futures", "ctypes", "getpass", "http.client", "multiprocessing"),
    *("platform", "shutil", "socket", "ssl", "subprocess", "tempfile", "urllib.request", "uuid"),
    *("webbrowser", "zoneinfo"),
    *("apsw", "numpy", "onnxruntime", "rich.console", "tomlkit"),
)
_MODULES_LACKED = {
    "win32": ("fcntl", "grp", "pty", "pwd", "readline", "resource", "termios", "tty"),
    "darwin": (),
}
_NAMES_LACKED = {
    "win32": {
        "os": (
            *("O_ASYNC", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC"),
            *("WNOHANG", "chown", "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid"),
            *("getloadavg", "getpgid", "getpgrp", "getuid", "killpg", "lchown", "mkfifo", "nice"),
            *("posix_fadvise", "posix_spawn", "pread", "pwrite", "sched_getaffinity", "setsid"),
            *("statvfs", "sync", "sysconf", "uname", "waitid"),
        ),
        "signal": ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGIO", "SIGXCPU", "alarm"),
        "socket": ("AF_UNIX", "CMSG_SPACE", "SCM_RIGHTS", "SO_PEERCRED"),
        "time": ("tzset",),
    },
    "darwin": {
        "os": ("posix_fadvise", "sched_getaffinity", "waitid"),
        "socket": ("SO_PEERCRED",),
    },
}


def become(platform: str) -> None:
    """From now on this process sees the other system."""
    for name in _FIRST:
        importlib.import_module(name)
    for module, names in _NAMES_LACKED[platform].items():
        for name in names:
            delattr(importlib.import_module(module), name)
    for name in _MODULES_LACKED[platform]:
        sys.modules[name] = None  # type: ignore[assignment]
    if platform == "win32":
        os.supports_dir_fd, os.supports_fd = set(), set()
        sys.modules["msvcrt"] = _msvcrt()
        # From Python 3.12 on, `which` asks Windows whether to look into the working folder.
        which_asks = types.SimpleNamespace(NeedCurrentDirectoryForExePath=lambda program: False)
        shutil._winapi = which_asks  # type: ignore[attr-defined]
        # `rmtree` goes by paths there, not by handles of folders.
        shutil._use_fd_functions = False  # type: ignore[attr-defined]
        for name in ("replace", "rename", "unlink", "remove"):
            setattr(os, name, _refusing_open_files(getattr(os, name)))
        selectors.EpollSelector.register = _sockets_only(  # type: ignore[method-assign]
            selectors.EpollSelector.register
        )
    sys.platform = platform


def _msvcrt() -> types.ModuleType:
    def locking(handle: int, mode: int, count: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    made = types.ModuleType("msvcrt")
    made.__dict__.update(locking=locking, LK_NBLCK=2)
    return made


def _refusing_open_files(call: Callable[..., None]) -> Callable[..., None]:
    def refusing(*paths: str, **options: Any) -> None:
        for path in paths:
            if os.path.lexists(path) and os.path.realpath(path) in _open_files():
                raise PermissionError(13, "The file is open (as Windows says)", path)
        call(*paths, **options)

    return refusing


def _open_files() -> set[str]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue
    return found


def _sockets_only(register: Callable[..., Any]) -> Callable[..., Any]:
    def refusing(self: Any, file: Any, *rest: Any) -> Any:
        handle = file if isinstance(file, int) else file.fileno()
        if not stat.S_ISSOCK(os.fstat(handle).st_mode):
            raise OSError(10038, "only sockets can be waited for (as Windows says)")
        return register(self, file, *rest)

    return refusing


def run_commands(home: Path, folder: Path) -> None:
    """A first day with Holdfast; each command has to end with the code that is asked for."""
    from holdfast.edges.cli.dispatch import main

    def run(*words: str, code: int = 0) -> None:
        sys.stdout.write(f"$ holdfast {' '.join(words)}\n")
        sys.stdout.flush()
        given = main(words)
        if given != code:
            raise SystemExit(f"`holdfast {' '.join(words)}` ended with {given}, not {code}.")

    run()
    run("remember", "Ada lives in Bonn", "--key", "home")
    run("recall", "where is Ada's home?")
    run("update", "home", "Ada lives in Lisbon")
    run("undo")
    run("sync")
    memory_md = home / "hubs" / "default" / "MEMORY.md"
    memory_md.write_text(memory_md.read_text("utf-8").replace("Bonn", "Rome"), encoding="utf-8")
    run("get", "home")
    run("journal", "add", "Went to the dentist")
    run("config", "set", "time_zone", "Europe/Berlin")
    run("export", str(folder / "ada.jsonl"))
    run("import", str(folder / "ada.jsonl"), "--as", "copy")
    run("hub", "rename", "copy", "other")
    run("backup", str(folder / "monday.db"))
    run("restore-backup", str(folder / "monday.db"), "--yes")
    (folder / "table.csv").write_text("name,town\nAda,Rome\n", encoding="utf-8")
    run("push", str(folder / "table.csv"))
    (folder / "minutes.pdf").write_bytes(pdf("Bob feeds the otter"))
    run("push", str(folder / "minutes.pdf"))
    run("work")
    run("search", "feeds the otter")
    run("call", "memory", "--dialect", "anthropic", "--args", _file("create", file_text="Tea"))
    run("call", "memory", "--dialect", "anthropic", "--args", _file("view"))
    run("call", "memory", "--dialect", "anthropic", "--args", _file("delete"))
    run("setup", "claude-code", "--file", str(folder / "claude.json"), "--no-hooks")
    run("teardown", "claude-code", "--file", str(folder / "claude.json"))
    run("key", "create", "laptop")
    run("log", "pause")
    if sys.platform == "win32":
        # What every file has there that can be written.
        os.chmod(home / "memory.db", 0o666)
    run("doctor")
    run("doctor", "--fix")
    run("purge", "home", "--yes")
    run("hub", "delete", "other", "--yes")
    run("status")
    answer_hook(home, folder)


def _file(command: str, **more: str) -> str:
    return json.dumps({"command": command, "path": "/memories/tea.md", **more})


def answer_hook(home: Path, folder: Path) -> None:
    """A prompt, as the program answers it that an agent starts."""
    from holdfast.edges.hooks import front
    from holdfast.edges.hooks.cold import answer_here

    head = ["UserPromptSubmit", "claude-code", str(folder), ""]
    prompt = {"session_id": "s", "cwd": str(folder), "prompt": "Where is Ada?"}
    if sys.platform == "win32" and front.ask(str(home), head, b"") is not None:
        raise SystemExit("No process answers hooks on Windows.")
    answer_here(str(home), head, json.dumps(prompt).encode())
    sys.stdout.write("hook answered\n")


if __name__ == "__main__":
    work = Path(sys.argv[2])
    os.environ["HOME"] = str(work)
    os.environ["HOLDFAST_HOME"] = str(work / "home")
    os.environ["HOLDFAST_HOOKS_SERVER"] = "false"
    (work / "files").mkdir()
    become(sys.argv[1])
    run_commands(work / "home", work / "files")
