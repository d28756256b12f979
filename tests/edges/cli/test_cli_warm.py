"""The warm process of reading commands: it answers as the command's own process would, or not at
all."""

from __future__ import annotations

import ctypes
import os
import pty
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import holdfast
from holdfast.edges.cli import fork_server, warm
from holdfast.edges.cli.table import SYNONYMS, find
from holdfast.edges.hooks.front import connect, socket_of
from holdfast.edges.local_socket import listen

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="commands are served on Linux"),
    pytest.mark.sqlite_only("about what a process imports, and with which PYTHONPATH it starts"),
]

# Asks the warm process, and ends with NOT_ANSWERED where the command would run itself.
NOT_ANSWERED = 99
_ASK = f"""
import os, sys
from holdfast.edges.cli import warm
warm.ACCEPT_S, warm.ANSWER_S = float(sys.argv.pop(1)), float(sys.argv.pop(1))
served = warm.is_served(sys.argv[1:])
code = warm.ask(sys.argv[1:]) if served else None
sys.stderr.flush()
os._exit({NOT_ANSWERED} if code is None else code)
"""
_COLD = [sys.executable, "-m", "holdfast"]
_LONG_S = "20"


def ask(*words: str, accept_s: str = _LONG_S, answer_s: str = _LONG_S, **more: Any) -> Any:
    line = [sys.executable, "-c", _ASK, accept_s, answer_s, *words]
    return subprocess.run(line, capture_output=True, text=True, **more)


@pytest.fixture
def commands_server(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv(warm.VARIABLE, "true")
    monkeypatch.delenv("HOLDFAST_TIME_ZONE")


def _listens(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(path) == 0


@pytest.fixture
def server(
    home: Path, tmp_path: Path, commands_server: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[subprocess.Popen[bytes]]:
    """The warm process of a home with two memories."""
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        memory.hub().remember("Prefers tabs over spaces")
        memory.hub().remember("The deploy key is in the safe")
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(packages))
    kind = warm.WORDS
    modules = ("holdfast.edges.cli.dispatch", "holdfast.edges.cli.read", "holdfast.api.memory")
    line = [sys.executable, "-P", "-m", "holdfast.edges.cli.fork_server", str(home), kind]
    process = subprocess.Popen([*line, *modules])
    path = socket_of(str(home), kind)
    deadline = time.monotonic() + 60
    while not _listens(path):
        assert process.poll() is None and time.monotonic() < deadline, "it did not start"
        time.sleep(0.01)
    yield process
    process.terminate()
    process.wait()


def test_it_answers_to_the_letter_as_a_process_of_its_own(
    server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    elsewhere = {"cwd": tmp_path, "env": {**os.environ, "TZ": "Asia/Tokyo"}}
    cases: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("recall", "--words", "tabs"), elsewhere),
        (("--quiet", "get", "2", "--json", "--no-access"), {}),
        (("list", "--category", "nonsense"), {}),
        (("get", "9", "--json"), {}),
        (("list",), {"env": {**os.environ, "HOLDFAST_NONSENSE": "1"}}),
    ]
    for words, how in cases:
        answered = ask(*words, **how)
        cold = subprocess.run([*_COLD, *words], capture_output=True, text=True, **how)
        seen = (answered.returncode, answered.stdout, answered.stderr)
        assert seen == (cold.returncode, cold.stdout, cold.stderr), words


def test_a_terminal_gets_its_colours_and_its_width(server: subprocess.Popen[bytes]) -> None:
    def at_terminal(line: list[str]) -> str:
        ours, theirs = pty.openpty()
        env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "40"}
        done = subprocess.run(line, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
        os.close(theirs)
        assert done.returncode == 0
        seen = os.read(ours, 65_536).decode()
        os.close(ours)
        return seen

    answered = at_terminal([sys.executable, "-c", _ASK, _LONG_S, _LONG_S, "list"])
    assert "\x1b[" in answered
    assert answered == at_terminal([*_COLD, "list"])


def test_it_does_not_answer_for_another_environment_of_the_interpreter(
    server: subprocess.Popen[bytes],
) -> None:
    for name in ("PYTHONHASHSEED", "LC_ALL", "OPENBLAS_NUM_THREADS"):
        assert ask("list", env={**os.environ, name: "7"}).returncode == NOT_ANSWERED, name
    assert ask("list").returncode == 0


def test_it_ends_when_what_is_installed_has_changed(
    server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert ask("list").returncode == 0
    (tmp_path / "packages" / "something.py").write_text("")
    assert ask("list").returncode == NOT_ANSWERED
    assert server.wait(timeout=20) == 0
    assert not _listens(socket_of(str(tmp_path / "home"), warm.WORDS))


def test_it_is_asked_by_nobody_else(server: subprocess.Popen[bytes], home: Path) -> None:
    path = Path(socket_of(str(home), warm.WORDS))
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_socket_of_somebody_else_is_not_asked(
    server: subprocess.Popen[bytes], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = socket_of(str(home), warm.WORDS)
    connect(path, 20).close()
    somebody = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: somebody)
    with pytest.raises(PermissionError, match="folder"):
        connect(path, 20)
    # The folder may have been replaced since.
    monkeypatch.setattr(os, "lstat", lambda path: SimpleNamespace(st_uid=somebody))
    with pytest.raises(PermissionError, match="listens"):
        connect(path, 20)


@pytest.mark.skipif(os.getuid() != 0, reason="gives a link to another account")
def test_nothing_listens_behind_the_link_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir(mode=0o755)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "ours")
    os.lchown(link, 12_345, -1)
    with pytest.raises(PermissionError):
        listen(str(link / "socket"))
    assert (tmp_path / "ours").stat().st_mode & 0o777 == 0o755


def test_it_runs_no_command_that_writes_whoever_asks(
    server: subprocess.Popen[bytes], home: Path
) -> None:
    code = "import os, sys; from holdfast.edges.cli import warm; warm.ACCEPT_S = 20.0;"
    code += "os._exit(99 if warm.ask(sys.argv[1:]) is None else 0)"
    for words in (["remember", "Likes tea"], ["--hub", "list", "forget", "1"], []):
        done = subprocess.run([sys.executable, "-c", code, *words])
        assert done.returncode == NOT_ANSWERED, words


def test_it_does_not_answer_for_a_client_in_a_sandbox(server: subprocess.Popen[bytes]) -> None:
    no_new_privileges = 38  # PR_SET_NO_NEW_PRIVS, which Landlock and seccomp need
    prctl = ctypes.CDLL(None).prctl
    confined = ask("list", preexec_fn=lambda: prctl(no_new_privileges, 1, 0, 0, 0))
    assert confined.returncode == NOT_ANSWERED
    assert ask("list").returncode == 0


def test_it_has_the_limits_of_its_client(server: subprocess.Popen[bytes], tmp_path: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))

    def outcome(line: list[str]) -> tuple[int, bytes]:
        path = tmp_path / "output"
        with path.open("wb") as file:
            done = subprocess.run(line, stdout=file, stderr=file, preexec_fn=limited)
        return done.returncode, path.read_bytes()

    words = ["get", "1", "--json", "--no-access"]
    answered = outcome([sys.executable, "-c", _ASK, _LONG_S, _LONG_S, *words])
    assert answered == outcome([*_COLD, *words])
    assert len(answered[1]) == 64


def test_switching_it_off_or_debugging_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(warm.VARIABLE, "true")
    assert warm.is_served(["recall", "x"])
    for name, value in ((warm.VARIABLE, "false"), (warm.VARIABLE, "?"), ("HOLDFAST_DEBUG", "1")):
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            assert not warm.is_served(["recall", "x"])


@pytest.mark.parametrize(
    ("words", "served"),
    [
        (("recall", "x"), True),
        (("--hub", "remember", "recall", "x"), True),
        (("--json", "search", "x"), True),
        (("remember", "recall"), False),
        (("--hub", "recall", "forget", "1"), False),
        (("hub", "list"), False),
        (("--version",), False),
        ((), False),
    ],
)
def test_only_commands_that_read_are_served(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], served: bool
) -> None:
    monkeypatch.setenv(warm.VARIABLE, "true")
    assert warm.is_served(words) is served


def test_a_command_without_the_model_has_a_process_without_it() -> None:
    assert warm.folder_of(["recall", "--words", "x"]) == warm.WORDS
    assert warm.folder_of(["list"]) == warm.WORDS
    assert warm.folder_of(["--json", "search", "x"]) == warm.MEANING
    assert warm.folder_of(["context"]) == warm.MEANING


def test_every_served_word_is_a_command_or_what_people_call_it() -> None:
    reading = {"recall", "get", "list", "related", "timeline", "context", "history", "diff"}
    assert {find([word])[0].name for word in warm.SERVED} == reading
    assert reading | {word for word, name in SYNONYMS.items() if name in reading} == warm.SERVED


def test_the_home_is_found_as_the_command_would_find_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from holdfast.settings import home_folder

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOLDFAST_HOME", "given")
    assert warm.home_of(["recall", "x"]) == home_folder() == str(tmp_path / "given")
    assert warm.home_of(["--home", "~", "recall"]) == home_folder("~")
    assert warm.home_of(["recall", "--home=here"]) == home_folder("here")
    assert warm.home_of(["recall", "--", "--home", "x"]) == home_folder()


# A process that misbehaves

Replies = Callable[[socket.socket], None]


@pytest.fixture
def fake(commands_server: None, home: Path) -> Iterator[Callable[[Replies], None]]:
    """Listens where the warm process would, and replies to one request."""
    path = socket_of(str(home), warm.WORDS)
    listener = listen(path)

    def start(replies: Replies) -> None:
        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                replies(connection)

        threading.Thread(target=serve, daemon=True).start()

    yield start
    listener.close()
    os.unlink(path)


def _close_streams(connection: socket.socket) -> None:
    """Takes the client's word to go ahead, and does not keep its streams open."""
    for number in socket.recv_fds(connection, 1, 3)[1]:
        os.close(number)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_a_process_that_does_not_answer_is_not_waited_for(
    fake: Callable[[Replies], None],
) -> None:
    # Nobody accepts the connection; the kernel takes the request all the same.
    assert ask("recall", "x", "--words", accept_s="0.05").returncode == NOT_ANSWERED


def test_a_child_that_hangs_is_killed_and_the_command_begun_again(
    fake: Callable[[Replies], None], sleeper: subprocess.Popen[bytes]
) -> None:
    def hang(connection: socket.socket) -> None:
        connection.sendall(str(sleeper.pid).encode())
        _close_streams(connection)
        sleeper.wait()

    fake(hang)
    assert ask("recall", "x", "--words", answer_s="0.1").returncode == NOT_ANSWERED
    assert sleeper.wait() == -signal.SIGKILL


def test_a_child_that_dies_in_the_middle_of_its_answer_is_not_asked_twice(
    fake: Callable[[Replies], None],
) -> None:
    def die(connection: socket.socket) -> None:
        connection.sendall(b"1")
        _close_streams(connection)
        connection.sendall(warm.WRITES)

    fake(die)
    done = ask("recall", "x", "--words")
    assert done.returncode == 1
    assert "Run the command again" in done.stderr


def test_an_interrupt_reaches_the_child_and_its_exit_code_comes_back(
    fake: Callable[[Replies], None], sleeper: subprocess.Popen[bytes]
) -> None:
    ready = threading.Event()

    def run(connection: socket.socket) -> None:
        connection.sendall(str(sleeper.pid).encode())
        _close_streams(connection)
        ready.set()
        sleeper.wait()
        connection.sendall(b"=130\n")

    fake(run)
    line = [sys.executable, "-c", _ASK, _LONG_S, _LONG_S, "recall", "x", "--words"]
    client = subprocess.Popen(line)
    assert ready.wait(60)
    while Path(f"/proc/{client.pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        time.sleep(0.01)  # until it waits for the answer
    client.send_signal(signal.SIGINT)
    assert client.wait() == 130
    assert sleeper.wait() == -signal.SIGINT


def test_a_client_that_is_killed_takes_its_child_along(server: Any, home: Path) -> None:
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        # More than a pipe holds, so that the child waits for a reader.
        memory.hub().remember_many([f"Note {number}: {'x' * 400}" for number in range(400)])
    line = [sys.executable, "-c", _ASK, _LONG_S, _LONG_S, "list", "--json"]
    client = subprocess.Popen(line, stdout=subprocess.PIPE, bufsize=0)
    assert client.stdout is not None
    assert client.stdout.read(1)
    client.kill()
    client.wait()
    # The pipe ends early: nobody is left who could write to it.
    assert len(client.stdout.read()) < 200_000
    client.stdout.close()
    assert ask("get", "1").returncode == 0, "the warm process itself goes on"


# Its beginning and its end


def test_the_second_command_starts_it(home: Path, commands_server: None) -> None:
    lock = home / warm.WORDS / "server.lock"
    subprocess.run([*_COLD, "list"], check=True)
    assert not lock.exists()
    subprocess.run([*_COLD, "list"], check=True)
    deadline = time.monotonic() + 60
    while not (lock.exists() and lock.read_text().strip()):
        assert time.monotonic() < deadline, "it was not started"
        time.sleep(0.01)
    os.kill(int(lock.read_text()), signal.SIGTERM)


def test_a_setting_keeps_it_from_being_started(
    home: Path, commands_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(warm.VARIABLE)
    home.mkdir()
    (home / "holdfast.toml").write_text("[commands]\nserver = false\n")
    started: list[object] = []
    monkeypatch.setattr(os, "posix_spawn", lambda *words, **_: started.append(words))
    for _ in range(2):
        warm.note_use(["list"])
    assert not started
    (home / "holdfast.toml").unlink()
    warm.note_use(["list"])
    assert len(started) == 1


def test_it_keeps_no_credentials_of_the_command_that_started_it(
    home: Path, commands_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    for name in ("OPENAI_API_KEY", "LANGFUSE_SECRET_KEY", "HOLDFAST_KEY", "PGPASSWORD"):
        monkeypatch.setenv(name, "marked")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", "none")
    started: list[Any] = []
    monkeypatch.setattr(os, "posix_spawn", lambda *words, **_: started.append(words))
    for _ in range(2):
        warm.note_use(["list"])
    ((_, _, environ),) = started
    assert "marked" not in environ.values()
    assert environ["LANG"] == "C.UTF-8"
    assert environ["HOLDFAST_EMBED_MODEL"] == "none"


def test_a_full_pipe_of_reports_stops_nobody(home: Path, commands_server: None) -> None:
    home.mkdir()
    server = fork_server.ForkServer(str(home), warm.WORDS, [])
    for _ in range(70_000):
        server.wake()
    server._report(["holdfast"])


def test_it_ends_when_what_it_learnt_has_threads(
    home: Path, commands_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    server = fork_server.ForkServer(str(home), warm.WORDS, [])
    monkeypatch.setattr(fork_server, "_threads", lambda: 2)
    server._import_reported()
    assert server._ended


def test_a_home_that_was_removed_does_not_come_back(home: Path, commands_server: None) -> None:
    line = [sys.executable, "-P", "-m", "holdfast.edges.cli.fork_server", str(home), warm.WORDS]
    assert subprocess.run(line).returncode == 0
    assert not home.exists()


def test_it_is_not_wanted_after_a_pause_or_with_other_settings(
    home: Path, commands_server: None
) -> None:
    home.mkdir()
    server = fork_server.ForkServer(str(home), warm.WORDS, [])
    own = fork_server.mark(server.path)
    assert server._is_wanted(own)
    server.idle_s = -1
    assert not server._is_wanted(own)
    server.idle_s = 900
    assert server._is_wanted(own)
    (home / "holdfast.toml").write_text("[recall]\nlimit = 3\n")
    assert not server._is_wanted(own)


def test_before_it_asks_a_command_imports_next_to_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); from holdfast.edges.cli import warm;"
        "warm.is_served(['recall', 'x']); warm.ask(['recall', 'x']);"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("holdfast")} == {
        *("holdfast", "holdfast.edges", "holdfast.edges.cli", "holdfast.edges.cli.warm"),
        *("holdfast.edges.hooks", "holdfast.edges.hooks.front"),
    }
    assert not loaded & {"typing", "json", "argparse", "re", "socket", "subprocess", "datetime"}
