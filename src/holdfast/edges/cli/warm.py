"""Runs a reading command in a warm process, and starts that process.

The warm process (`fork_server`) has Holdfast imported. For each request it forks a child, which
gets this process's arguments, environment, folder and standard streams, and prints to them itself.
If nothing answers, the caller runs the command in its own process. This module imports only
built-ins: it runs before every command, and most of a command's time is spent on imports.

A request is its length and NUL-separated fields. The child replies with its process id and waits
for `GO`, which carries the three file descriptors. A client that has given up by then runs the
command itself, and the command must not run twice. The child sends `w` before its first byte of
output, and `=` with the exit code at the end. It dies when the connection closes.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Sequence

# The commands that only read, with their synonyms. A command that writes is not among them: if its
# child died, nobody could say whether it may be run again.
SERVED = frozenset(
    (
        *("recall", "search", "find", "query", "ask", "get", "show", "view"),
        *("list", "ls", "memories"),
        *("related", "timeline", "context", "history", "diff"),
    )
)
VARIABLE = "HOLDFAST_COMMANDS_SERVER"
# A process without the embedding model forks three times as fast, so commands that do not need the
# model have a process of their own.
WORDS, MEANING = "commands/words", "commands/meaning"
_BY_MEANING = ("recall", "search", "find", "query", "ask", "related", "context")
# If the warm process is busy or stopped, the command starts in this process after this long.
ACCEPT_S = 0.5
# How long a child may take until its first byte of output. If it takes longer, because of a slow
# server or a large store, the command is run again in this process, without a limit.
ANSWER_S = 20.0
# The warm process is started at the second command within this time: one command a day would not
# benefit from it.
AGAIN_S = 600
GO, WRITES, ENDS = b"g", b"w", b"="
# Variables that an interpreter or a library reads only at its start: by prefix, and by name.
START_VARIABLES = (
    *("PYTHON", "LC_", "LD_", "DYLD_", "MALLOC_"),
    *("OMP_", "OPENBLAS_", "MKL_", "ORT_"),
)
START_NAMES = ("LANG", "LANGUAGE")
# Other variables that the warm process needs to find its settings and the embedding model. The rest
# stays with the client, since the process would keep any keys and passwords while it runs.
_KEPT_VARIABLES = ("HOLDFAST_COMMANDS_", "HOLDFAST_EMBED_", "XDG_")
_KEPT_NAMES = ("HOME", "PATH", "TMPDIR", "TZ", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE")
_FILE = __file__


def is_served(words: "Sequence[str]") -> bool:
    """Whether to ask the warm process to run this command."""
    # Windows has no fork; on macOS, system libraries may hang in a forked process.
    if sys.platform != "linux" or os.environ.get("HOLDFAST_DEBUG"):
        return False
    if os.environ.get(VARIABLE, "true").strip().lower() not in ("true", "1", "yes", "on"):
        return False
    return only_reads(words)


def only_reads(words: "Sequence[str]") -> bool:
    """Whether the command is one of those that the warm process runs."""
    left = iter(words)
    for word in left:
        if word in ("--home", "--hub", "--server"):
            next(left, "")
        elif not word.startswith("-"):
            return word in SERVED
    return False


def folder_of(words: "Sequence[str]") -> str:
    """The folder of the warm process that has loaded what the command needs."""
    return MEANING if "--words" not in words and set(words) & set(_BY_MEANING) else WORDS


def home_of(words: "Sequence[str]") -> str:
    """The home folder as `settings.home_folder` finds it, for a command that the warm process may
    run, with the option of the command line."""
    given = ""
    left = iter(words)
    for word in left:
        if word == "--":
            break
        if word == "--home":
            given = next(left, "")
        elif word.startswith("--home="):
            given = word[7:]
    chosen = given or os.environ.get("HOLDFAST_HOME") or "~/.holdfast"
    return os.path.abspath(os.path.expanduser(chosen))


def program() -> list[str]:
    """Identifies the code that a process runs: the interpreter and the file of this module."""
    about = os.stat(_FILE)
    return [sys.executable, sys.version, _FILE, str(about.st_mtime_ns), str(about.st_ino)]


def ask(words: "Sequence[str]") -> int | None:
    """Returns the exit code of the command if the warm process ran it; None if it did not, and
    nothing was printed."""
    from holdfast.edges.hooks.front import connect, socket_of

    if sys.platform != "linux":
        raise OSError("Commands are served on Linux alone.")
    path = socket_of(home_of(words), folder_of(words))
    try:
        connection = connect(path, ACCEPT_S)
        streams = [stream.fileno() for stream in (sys.stdin, sys.stdout, sys.stderr)]
        request = _request(words)
    except (OSError, ValueError, AttributeError):
        # There is no process, the working folder was deleted, or a stream is closed.
        return None
    import _socket

    try:
        connection.sendall(request)
        hello = connection.recv(16)
        if not hello.isdigit():
            return None
        # Not sent earlier: queued for a stopped process, they would keep pipes open.
        numbers = b"".join(number.to_bytes(4, sys.byteorder) for number in streams)
        connection.sendmsg([GO], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
    except OSError:
        return None
    return _wait(connection, int(hello))


def _request(words: "Sequence[str]") -> bytes:
    if sys.platform != "linux":
        raise OSError("Commands are served on Linux alone.")
    umask = os.umask(0o077)
    os.umask(umask)
    streams = [
        f"{stream.encoding}:{stream.errors}:{stream.line_buffering:d}"
        f":{getattr(stream, 'write_through', False):d}"
        for stream in (sys.stdin, sys.stdout, sys.stderr)
    ]
    same = program()
    head = [str(len(same)), *same, os.getcwd(), str(umask), str(os.nice(0)), *streams]
    head += [str(len(words)), *words]
    head += [f"{name}={value}" for name, value in os.environ.items()]
    fields = "\0".join(head).encode("utf-8", "surrogateescape")
    return b"%d\n" % len(fields) + fields


def _wait(connection: "socket", child: int) -> int | None:
    """Waits for the exit code and passes Ctrl-C on."""
    said = b""
    connection.settimeout(ANSWER_S)
    while True:
        try:
            part = connection.recv(64)
        except KeyboardInterrupt:
            _signal(child, 2)
            continue
        except TimeoutError:
            _signal(child, 9)
            # What was received before it died shows whether it has written any output.
            connection.settimeout(ACCEPT_S)
            part = _rest(connection)
            if WRITES not in said + part:
                return None
            part = b""
        except OSError:
            part = b""
        said += part
        if ENDS in said and said.endswith(b"\n"):
            return int(said.partition(ENDS)[2])
        if not part:
            break
        if WRITES in said:
            # Output may take as long as its reader does.
            connection.settimeout(None)
    if WRITES not in said:
        return None
    sys.stderr.write("holdfast: The warm process died before the answer was complete.\n")
    sys.stderr.write("  Run the command again.\n")
    return 1


def _rest(connection: "socket") -> bytes:
    said = b""
    try:
        while part := connection.recv(64):
            said += part
    except OSError:
        return said
    return said


def _signal(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except OSError:
        return  # the process has ended


def note_use(words: "Sequence[str]") -> None:
    """Records that a reading command ran in this process, and starts the warm process at the second
    one within a while. Errors are ignored: the command has succeeded."""
    home, kind = home_of(words), folder_of(words)
    folder = os.path.join(home, kind)
    last = os.path.join(folder, "last-use")
    try:
        from time import time

        if os.path.isdir(home):
            for path in (os.path.dirname(folder), folder):
                if not os.path.isdir(path):
                    os.mkdir(path, 0o700)
        try:
            age_s = time() - os.stat(last).st_mtime
        except FileNotFoundError:
            age_s = AGAIN_S
            os.close(os.open(last, os.O_CREAT | os.O_WRONLY, 0o600))
        os.utime(last)
        if 0 <= age_s < AGAIN_S:
            _start(home, kind)
    except (OSError, ValueError, NotImplementedError):
        pass


def _start(home: str, kind: str) -> None:
    from holdfast.settings import load

    if sys.platform != "linux":
        raise OSError("Commands are served on Linux alone.")
    if not load(home)["commands.server"]:
        return
    # The modules that this command imported, so that the next one need not.
    modules = [name for name in sys.modules if not name.startswith("__")]
    program = [sys.executable, "-P", "-m", "holdfast.edges.cli.fork_server"]
    arguments = [*program, home, kind, *modules]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    environ = {name: value for name, value in os.environ.items() if _is_kept(name)}
    # Started in a new session: some agents close a command's terminal as soon as it has ended,
    # which would end everything in its session.
    os.posix_spawn(sys.executable, arguments, environ, file_actions=nothing, setsid=True)


def _is_kept(name: str) -> bool:
    """Whether the warm process gets this variable of the command that starts it."""
    beginnings = START_VARIABLES + _KEPT_VARIABLES
    return name.startswith(beginnings) or name in START_NAMES + _KEPT_NAMES
