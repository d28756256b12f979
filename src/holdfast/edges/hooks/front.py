"""The program that clients start for an event: it passes the event to the warm process and prints
the answer. Run as a script by `python -I -S`, it starts in a third of the time of Python with site
packages. So it imports only built-in modules, and Holdfast itself only if no warm process answers.

The request is a line with the length of the head, the head (fields with NUL between them) and the
input of the hook. The answer is `+` and the output; nothing at all means that the process died.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

# A person would notice a longer wait.
ANSWER_S = 1.2
# A larger input is not an event.
INPUT_BYTES_MAX = 64_000_000
FOLDER = "hooks"
# The request with which `holdfast setup` measures the response time. No event has such a name.
PING, PONG = "ping", b"pong"
# The request with which `holdfast teardown` ends the process.
SHUT_DOWN = "shut-down"
# A path of a socket may have 108 bytes on Linux and 104 on macOS.
_SOCKET_BYTES_MAX = 100


def home_of(words: list[str]) -> str:
    """The home folder of a hook, found as by `settings.home_folder`, which cannot be imported
    here."""
    given = _option(words, "--home") or os.environ.get("HOLDFAST_HOME") or "~/.holdfast"
    path = os.path.expanduser(given)
    if given[0] == "~" and (
        path[0] == "~" or (os.environ.get("HOME") == "" and os.name == "posix")
    ):
        raise FileNotFoundError("Where the home folder is, is not known.")
    return os.path.abspath(path)


def socket_of(home: str, folder: str = FOLDER) -> str:
    """The socket of a warm process of a home: that of hooks, or one of commands."""
    path = os.path.join(home, folder, "socket")
    if len(os.fsencode(path)) <= _SOCKET_BYTES_MAX:
        return path
    from binascii import crc32

    if sys.platform == "win32":
        raise OSError("No process listens there.")
    place = crc32(os.fsencode(os.path.join(home, folder)))
    return f"/tmp/holdfast-{os.getuid()}/{place:08x}"


def connect(path: str, wait_s: float) -> "socket":
    """Connects to the hooks' warm process of this account; raises OSError if there is none.

    The folder of a long home's socket is in /tmp, where another account may have made it before,
    with a socket of its own in it or a link to one."""
    import _socket

    if sys.platform == "win32":
        raise OSError("No process listens there.")
    if os.lstat(os.path.dirname(path)).st_uid != os.getuid():
        raise PermissionError("The folder of the socket belongs to somebody else.")
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(wait_s)
        connection.connect(path)
        if hasattr(_socket, "SO_PEERCRED"):
            about = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
            if int.from_bytes(about[4:8], sys.byteorder) != os.getuid():
                raise PermissionError("Somebody else listens there.")
    except OSError:
        connection.close()
        raise
    return connection


def _option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1] if name in words[:-1] else ""


def ask(home: str, head: list[str], data: bytes, wait_s: float = ANSWER_S) -> bytes | None:
    """The answer of the hooks' warm process; None if there is none. Raises TimeoutError if it takes
    too long."""
    if sys.platform == "win32":
        return None
    from _socket import SHUT_WR

    connection = None
    try:
        connection = connect(socket_of(home), wait_s)
        fields = "\0".join(head).encode("utf-8", "surrogateescape")
        connection.sendall(b"%d\n" % len(fields) + fields + data)
        connection.shutdown(SHUT_WR)
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    except TimeoutError:
        raise
    except OSError:
        return None
    finally:
        if connection is not None:
            connection.close()
    return answer[1:] if answer[:1] == b"+" else None


def run(words: list[str]) -> bytes:
    """The output of the hook for an event of the client."""
    home = home_of(words)
    data = sys.stdin.buffer.read(INPUT_BYTES_MAX)
    event = words[0] if words and not words[0].startswith("-") else ""
    head = [event, _option(words, "--client"), os.getcwd(), os.environ.get("HOLDFAST_HUB", "")]
    answer = ask(home, head, data)
    if answer is not None:
        return answer
    # On a full disk, Python leaves a truncated bytecode file, which cannot be imported.
    sys.dont_write_bytecode = True
    # `-S` has left the site packages out, in which Holdfast and what it needs are.
    import site

    site.main()
    from holdfast.edges.hooks.cold import answer_here

    return answer_here(home, head, data)


def main(words: list[str]) -> None:
    """Runs the program that a client starts for a hook, and prints its answer. Whatever goes wrong,
    the client's session goes on."""
    home = ""
    try:
        home = home_of(words)
        sys.stdout.buffer.write(run(words))
        sys.stdout.buffer.flush()
    except BaseException as error:  # noqa: BLE001  the last stop before the client
        if home:
            _note(home, words, error)
    # Skips the interpreter's shutdown, which takes a millisecond and may fail.
    os._exit(0)


def _note(home: str, words: list[str], error: BaseException) -> None:
    try:
        sys.dont_write_bytecode = True
        import site

        site.main()
        from holdfast.edges.hooks.state_files import note_error

        note_error(home, words[0] if words else "", error)
    except BaseException:  # noqa: BLE001  there is nothing left to tell it to
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
