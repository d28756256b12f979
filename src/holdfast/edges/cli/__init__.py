"""The command line. `run` is the program's entry point: it lets the warm process run the command
(`warm`) if there is one, and otherwise runs it in this process (`dispatch`). Until then it imports
next to nothing.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def run() -> "NoReturn":
    """Runs the command of this process and exits.

    Skipping the interpreter's clean-up saves 4 ms, and skipping garbage collection at start 4 ms.
    """
    from holdfast.edges.cli.warm import ask, is_served

    words = sys.argv[1:]
    served = is_served(words)
    try:
        code = ask(words) if served else None
    except KeyboardInterrupt:
        os._exit(130)
    if code is None:
        import gc

        # High enough that no collection runs at start, low enough to bound memory in a long import.
        gc.set_threshold(100_000, 20, 20)
        code = main(words)
        sys.stderr.flush()
        if served and code == 0:
            from holdfast.edges.cli.warm import note_use

            note_use(words)
    os._exit(code)


def main(argv: "Sequence[str] | None" = None) -> int:
    """Runs one command in this process and returns its exit code."""
    from holdfast.edges.cli.dispatch import main

    return main(argv)
