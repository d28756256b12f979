"""Hooks as clients start them: the front, with an event on standard input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import holdfast
from holdfast.edges.cli import main
from holdfast.edges.hooks import front
from holdfast.edges.hooks.cold import answer_here

# The program of a hook with a client that waits longer than a person would: on a busy machine an
# answer of the warm process may take seconds, and a late one is dropped.
_PATIENT = f"""
file = {front.__file__!r}
source = open(file, encoding="utf-8").read()
patient = source.replace("ANSWER_S = {front.ANSWER_S}", "ANSWER_S = 50.0")
assert patient != source
exec(compile(patient, file, "exec"), {{"__name__": "__main__", "__file__": file}})
"""


class Hooks:
    """The hooks of one home. `server` says whether they may start the warm process."""

    def __init__(self, root: Path, *, server: bool = False) -> None:
        self.root = root
        # Each hook is a process only where that is what is tested: starting one takes a while.
        self.in_process = not server
        # Whether a late answer of the warm process is waited for.
        self.patient = False
        self.home = root / "home"
        self.environ = {
            **os.environ,
            "HOME": str(root / "person"),
            "HOLDFAST_HOME": str(self.home),
            "HOLDFAST_EMBED_MODEL": "none",
            "HOLDFAST_PROJECTS_HUBS": "true",
            "HOLDFAST_HOOKS_SERVER": str(server).lower(),
        }
        for name in ("web", "shop"):
            (root / name / ".git").mkdir(parents=True, exist_ok=True)

    def raw(
        self,
        event: str,
        data: bytes,
        *,
        client: str = "claude-code",
        folder: str = "web",
        before: Callable[[], None] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """What a client gets that sends these bytes; `before` runs in the process of the hook."""
        program = ["-c", _PATIENT] if self.patient else [front.__file__]
        words = [sys.executable, "-I", "-S", *program, event, "--client", client]
        return subprocess.run(
            words,
            input=data,
            env=self.environ,
            cwd=self.root / folder,
            capture_output=True,
            timeout=60,
            preexec_fn=before,
        )

    def call(
        self,
        event: str,
        *,
        session: str = "s1",
        client: str = "claude-code",
        folder: str = "web",
        hub: str = "",
        **fields: Any,
    ) -> str:
        """What an event adds to the context; `hub` is the one that the hook names."""
        given = {"session_id": session, "cwd": str(self.root / folder), "hook_event_name": event}
        data = json.dumps({**given, **fields}).encode()
        if self.in_process:
            with patch.dict(os.environ, self.environ, clear=True):
                head = [event, client, str(self.root / folder), hub]
                out = answer_here(str(self.home), head, data)
        else:
            ran = self.raw(event, data, client=client, folder=folder)
            assert (ran.returncode, ran.stderr) == (0, b"")
            out = ran.stdout
        if not out:
            return ""
        said = json.loads(out)["hookSpecificOutput"]
        assert said["hookEventName"] == event
        text: str = said["additionalContext"]
        return text

    def turn(self, said: str, answer: str = "Understood.", *, turn: str, **fields: Any) -> str:
        """A prompt and the end of its turn; what the prompt got."""
        text = self.call("UserPromptSubmit", prompt=said, prompt_id=turn, **fields)
        given = {"last_assistant_message": answer, "prompt_id": turn}
        self.call("Stop", **given, **fields)
        return text

    def holdfast(self, *words: str, folder: str = "web") -> str:
        if self.in_process:
            return self._in_process(words, folder)
        ran = subprocess.run(
            [sys.executable, "-m", "holdfast", *words],
            env=self.environ,
            cwd=self.root / folder,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def _in_process(self, words: tuple[str, ...], folder: str) -> str:
        out = StringIO()
        environ = patch.dict(os.environ, self.environ, clear=True)
        with environ, chdir(self.root / folder), redirect_stdout(out):
            assert main(list(words)) == 0
        return out.getvalue()

    @contextmanager
    def opened(self) -> Iterator[holdfast.Holdfast]:
        """The memory of this home."""
        with patch.dict(os.environ, self.environ, clear=True), holdfast.open(self.home) as memory:
            yield memory

    @property
    def server_pid(self) -> int:
        return int((self.home / "hooks" / "server.lock").read_text() or 0)

    def wait_for_server(self) -> None:
        """Until the warm process answers."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with suppress(TimeoutError):
                if front.ask(str(self.home), ["", "", "", ""], b"{}") is not None:
                    return
            time.sleep(0.02)
        raise AssertionError("the warm process did not start")

    def kill(self, with_signal: int = signal.SIGKILL) -> None:
        with suppress(OSError, ValueError):
            os.kill(self.server_pid, with_signal)
