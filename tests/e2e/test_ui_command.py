"""`holdfast ui`: starts a server where none listens, and opens the one that does."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import holdfast
from holdfast.edges.cli.serve import serves_home
from holdfast.edges.web.ui_access import UiAccess

pytestmark = pytest.mark.slow
_PATIENCE_S = 60


# Output that Python would buffer stays buffered, as for a program that starts the command.
_ENVIRON = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "holdfast", "ui", "--no-browser", *words]


def test_the_page_is_served_and_found_again(tmp_path: Path) -> None:
    environment = {
        **_ENVIRON,
        "HOME": str(tmp_path),
        "HOLDFAST_HOME": str(tmp_path),
        "HOLDFAST_EMBED_MODEL": "none",
    }
    with subprocess.Popen(
        command("--port", "0"), stdout=subprocess.PIPE, text=True, env=environment
    ) as running:
        try:
            assert running.stdout is not None
            printed = running.stdout.readline()
            found = re.fullmatch(r"(http://127\.0\.0\.1:(\d+)/)\?ticket=\S+\n", printed)
            assert found is not None
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            for address in (printed.strip(), found[1]):
                with browser.open(address, timeout=_PATIENCE_S) as page:
                    assert b"<title>Find" in page.read()
            # Another account of this machine has neither the ticket, which is used up, nor the
            # cookie.
            for address in (printed.strip(), found[1], f"{found[1]}v1/memories"):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(address, timeout=_PATIENCE_S)
                assert refused.value.code == 403
                refused.value.close()
            # The server that listens is opened, at the page of the hub; no second one is started.
            with holdfast.open(tmp_path) as memory:
                memory.create_hub("work")
            again = subprocess.run(
                command("--port", found[2], "--hub", "work"),
                capture_output=True,
                text=True,
                env=environment,
                timeout=_PATIENCE_S,
            )
            assert again.returncode == 0
            assert again.stdout.startswith(f"{found[1]}h/work?ticket=")
            with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(
                again.stdout.strip(), timeout=_PATIENCE_S
            ) as page:
                assert b"<title>Find" in page.read()
        finally:
            running.terminate()
            running.wait(_PATIENCE_S)


def test_a_server_of_another_memory_is_not_opened(tmp_path: Path) -> None:
    def environment(name: str) -> dict[str, str]:
        return {
            **_ENVIRON,
            "HOME": str(tmp_path),
            "HOLDFAST_HOME": str(tmp_path / name),
            "HOLDFAST_EMBED_MODEL": "none",
        }

    pipe = subprocess.PIPE
    words = command("--port", "0")
    with subprocess.Popen(words, stdout=pipe, text=True, env=environment("a")) as running:
        try:
            assert running.stdout is not None
            port = int(running.stdout.readline().split(":")[2].split("/")[0])
            url = f"http://127.0.0.1:{port}"
            with holdfast.open(tmp_path / "b"):
                pass
            assert serves_home(str(tmp_path / "a"), url)
            assert not serves_home(str(tmp_path / "b"), url)
            UiAccess.begin(str(tmp_path / "b"))
            assert not serves_home(str(tmp_path / "b"), url)
            program = (
                "import sys; from holdfast.edges.cli import main; from holdfast.edges.http import"
                f" app; app.PORT = {port}; sys.exit(main(['ui', '--no-browser']))"
            )
            other = [sys.executable, "-c", program]
            with subprocess.Popen(
                other, stdout=pipe, stderr=pipe, text=True, env=environment("b")
            ) as second:
                assert second.stdout is not None
                address = second.stdout.readline()
                second.terminate()
                assert second.stderr is not None
                told = second.stderr.read()
            assert re.match(r"http://127\.0\.0\.1:\d+/\S*\?ticket=", address), address
            assert f":{port}/" not in address
            assert f"Port {port} has a server of another memory" in told
        finally:
            running.terminate()
            running.wait(_PATIENCE_S)


def test_the_page_writes_no_log_of_its_requests_to_the_terminal(tmp_path: Path) -> None:
    environment = {**_ENVIRON, "HOLDFAST_HOME": str(tmp_path), "HOLDFAST_EMBED_MODEL": "none"}
    words = command("--port", "0")
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=environment) as running:
        try:
            assert running.stdout is not None
            assert running.stderr is not None
            address = running.stdout.readline().strip()
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(address, timeout=_PATIENCE_S) as page:
                page.read()
        finally:
            running.terminate()
            running.wait(_PATIENCE_S)
        assert running.stderr.read() == "Ctrl-C ends it.\n"


def test_the_server_prints_where_the_page_is(tmp_path: Path) -> None:
    environment = {**os.environ, "HOLDFAST_HOME": str(tmp_path), "HOLDFAST_EMBED_MODEL": "none"}
    words = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as running:
        try:
            assert running.stderr is not None
            told = "".join(iter(running.stderr.readline, "Ctrl-C ends it.\n"))
            assert re.search(r"See it in a browser:\n  http://127\.0\.0\.1:\d+/\n", told)
        finally:
            running.terminate()
            running.wait(_PATIENCE_S)


class _Relay(BaseHTTPRequestHandler):
    """A server of another account, which asks a server of the person for its answers."""

    beyond = ""

    def do_GET(self) -> None:
        with urllib.request.urlopen(self.beyond + self.path, timeout=_PATIENCE_S) as answer:
            body = answer.read()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


def test_a_server_that_passes_answers_on_is_not_opened(tmp_path: Path) -> None:
    environment = {**_ENVIRON, "HOLDFAST_HOME": str(tmp_path), "HOLDFAST_EMBED_MODEL": "none"}
    words = command("--port", "0")
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(words, stdout=pipe, text=True, env=environment) as running,
        HTTPServer(("127.0.0.1", 0), _Relay) as relay,
    ):
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        try:
            assert running.stdout is not None
            own = f"http://127.0.0.1:{int(running.stdout.readline().split(':')[2].split('/')[0])}"
            _Relay.beyond = own
            assert serves_home(str(tmp_path), own)
            assert not serves_home(str(tmp_path), f"http://127.0.0.1:{relay.server_port}")
        finally:
            relay.shutdown()
            running.terminate()
            running.wait(_PATIENCE_S)


@pytest.mark.parametrize(
    "said", [b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 90_000]
)
def test_a_program_that_answers_otherwise_is_no_server(tmp_path: Path, said: bytes) -> None:
    UiAccess.begin(str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(said)

        threading.Thread(target=answer, daemon=True).start()
        assert not serves_home(str(tmp_path), f"http://127.0.0.1:{listener.getsockname()[1]}")
