"""The command line. `run` is the program's entry point: it asks the warm process (`warm`) where one
runs, and else runs the command itself (`dispatch`). Until it has asked it imports next to nothing.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def run() -> "NoReturn":
    """Runs the command of this process and ends the process.

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

        # High enough that no collection runs at start, low enough that memory stays bounded in a
        # long import.
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
