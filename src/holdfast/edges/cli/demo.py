"""A guided tour in a home of its own: remember, recall, supersede, look back, undo, context.

On a terminal it waits for a key between scenes. Its home is removed however it ends.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_text
from holdfast.edges.cli.command import Commands, Namespace, option, switch, whole
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast
    from holdfast.edges.cli.call import Call

COMMANDS = Commands()


# Each step: the text before it, and its command. {moment} is the time when the tour had just stored
# the first version of the facts.
_STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Tell it something. What it is, it works out by itself.",
        ("remember", "Ada prefers tabs over spaces in Python"),
    ),
    (
        "A key gives a memory a name of its own.",
        ("remember", "The staging server is at 10.0.0.7", "--key", "staging", "--tag", "servers"),
    ),
    (
        "Things that happened have a date.",
        ("remember", "Release 1.0 went out to customers", "--occurred-at", "yesterday"),
    ),
    (
        "Ask in your own words; --explain says why a hit is a hit.",
        ("recall", "what does Ada like, tabs or spaces?", "--limit", "2", "--explain"),
    ),
    (
        "Facts change. The same key makes a new version …",
        ("remember", "The staging server moved to 10.0.0.9", "--key", "staging"),
    ),
    (
        "… and a new fact can take the place of an old one.",
        ("remember", "Ada switched to spaces in Python", "--supersedes", "1"),
    ),
    ("Now the answer is the new one.", ("recall", "how does Ada indent Python?", "--limit", "1")),
    (
        "The past is still there: the same question, as of a moment ago.",
        ("recall", "how does Ada indent Python?", "--limit", "1", "--as-of", "{moment}"),
    ),
    ("Every version is kept, with what changed.", ("diff", "staging")),
    ("Forget something …", ("forget", "staging", "--reason", "demo")),
    ("… and take that back. Any change can be undone.", ("undo",)),
    ("It is there again.", ("get", "staging", "--content")),
    ("This is what an agent gets to see at the start of its turn.", ("context",)),
)
# Step numbers, from 1: the first step that changes a fact, and the first with a query (the note
# about a missing model is shown once).
_FIRST_CHANGE = 5
_FIRST_RECALL = 4


@COMMANDS.add(
    "demo",
    "holdfast demo",
    switch("--fast", "do not wait for a key between scenes"),
    option("--keep", "FOLDER", "keep the tour's home in this new folder"),
    server="ignored",
)
def _demo(call: Call, args: Namespace) -> int:
    """Take a guided tour; your own memories are not touched."""
    if args.keep:
        from holdfast.errors import AlreadyExists

        if os.path.exists(args.keep):
            raise AlreadyExists(f"{args.keep} exists already.", hint="Name a new folder.")
        return _tour(call, args, args.keep)
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as home:
        return _tour(call, args, home)


def _tour(call: Call, args: Namespace, home: str) -> int:
    from holdfast.api import memory as library

    taken: list[dict[str, Any]] = []
    say = (lambda *_: None) if call.out.json else call.out.line
    waits = not args.fast and call.out.terminal and sys.stdin.isatty()
    goes = "that is kept" if args.keep else "that goes away afterwards"
    say(f"A tour of Holdfast, in a home of its own {goes}.", "bold")
    if waits:
        say("Press a key for the next scene, q to end.", "dim")
    # A file of its own, even if the environment names a store in use.
    with library.open(home, settings={"store.url": "", "store.read_url": ""}) as memory:
        moment = ""
        for place, (title, words) in enumerate(_STEPS, 1):
            if place == _FIRST_CHANGE:
                moment = to_text(memory.core.now())
            if waits and place > 1 and not _goes_on():
                say("Ended. Nothing of it is left." if not args.keep else "Ended.")
                return 0
            real = [word.replace("{moment}", moment) for word in words]
            shown = "holdfast " + " ".join(shlex.quote(word) for word in real)
            say()
            say(f"{place}. {title}", "bold")
            say(f"$ {shown}", "cyan")
            answer = _step(call, memory, real, quiet=place > _FIRST_RECALL and real[0] == "recall")
            taken.append({"told": title, "command": shown, "answer": answer})
    if call.out.json:
        call.out.value(taken)
    say()
    say(f"That was it. Your own memory begins with `{_called()} remember …`.", "bold")
    return 0


# q, Escape and Ctrl-D; arrow keys begin with Escape as well.
_ENDS = ("q", "Q", "\x1b", "\x04")


def _goes_on() -> bool:
    """Waits for a key. False for q, Escape and end of input; Ctrl-C interrupts as usual."""
    try:
        key = _key()
    except (OSError, ValueError):  # A terminal that does not support reading single keys.
        key = sys.stdin.readline()
    return key.strip() not in _ENDS and key != ""


def _key() -> str:
    """Reads a key without waiting for the end of a line."""
    if sys.platform == "win32":
        import msvcrt

        key: str = msvcrt.getwch()
        if key == "\x03":
            raise KeyboardInterrupt
        return key
    import select
    import termios
    import tty

    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle, termios.TCSADRAIN)
        key = os.read(handle, 1)
        # Arrow keys and the like send several bytes at once, the last of which is a letter or `~`.
        while key[:1] == b"\x1b" and key[-1:] in b"\x1b[O;0123456789":
            if not select.select([handle], [], [], 0)[0]:
                break
            key += os.read(handle, 1)
        return key.decode(errors="replace")
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


def _called() -> str:
    """The command for calling this program from here: its name, or its path if it is not on the
    PATH."""
    import shutil

    if shutil.which("holdfast"):
        return "holdfast"
    script = sys.argv[0]
    if os.path.basename(script) == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m holdfast"
    return shlex.quote(os.path.abspath(script))


def _step(call: Call, memory: Holdfast, words: list[str], *, quiet: bool) -> Any:
    """Runs one command like a shell; with --json its output is returned instead."""
    import io
    import json

    from holdfast.edges.cli.call import Call as OneCall
    from holdfast.edges.cli.command import parser_of
    from holdfast.edges.cli.table import find

    command, count = find(words)
    args = parser_of(command).parse(words[count:])
    args.json, args.no_color = call.args.json, call.args.no_color
    args.quiet = call.args.quiet or call.args.json or quiet
    with OneCall(args, memory) as inner:
        if not args.json:
            command.run(inner, args)
            return None
        inner.out.stdout = io.StringIO()
        command.run(inner, args)
        return json.loads(inner.out.stdout.getvalue())


@COMMANDS.add(
    "bench recall",
    "holdfast bench recall --baselines",
    option("files", "FILE", "test stores, one a line as JSON (the sample)", nargs="*"),
    switch("--baselines", "measure simple systems next to it"),
    option("--limit-stores", "N", "only the first N stores of each file", type=whole),
    option("--cache", "FOLDER", "keep vectors there between runs"),
    server="ignored",
)
def _bench_recall(call: Call, args: Namespace) -> None:
    """Measure how well recall finds known answers.

    Puts each store's documents into a hub of its own in a temporary folder, asks its
    questions, and prints the percentage of the right documents among the first 1, 5, 10
    and 20 results. Your own memories are not touched. Without a FILE it uses the small
    sample that comes with Holdfast."""
    from holdfast.embed.providers import find_embedder
    from holdfast.evaluation.report import as_text, bench_recall

    if args.limit_stores is not None and args.limit_stores < 1:
        raise InvalidInput("--limit-stores must be at least 1.")
    settings = call.settings
    embedder = find_embedder(
        settings["embed.model"],
        key_variable=settings["embed.key_variable"],
        timeout_s=settings["embed.timeout_s"],
        threads=settings["embed.threads"],
    )
    with call.out.progress("asking") as step:
        measured = bench_recall(
            args.files,
            embedder,
            baselines=args.baselines,
            limit_stores=args.limit_stores,
            cache=args.cache,
            progress=lambda _, done, total: step(done, total),
        )
    if call.out.json:
        call.out.value(measured)
    else:
        call.out.line(as_text(measured))
