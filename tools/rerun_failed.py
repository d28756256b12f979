"""Runs failed tests once more, alone: `make test` calls it where the whole run had failures.

Tests that start processes, servers or browsers can lose a race on a busy machine. Where at most a
few of those failed and nothing else did, they are run again, one after the other. One that passes
then is reported as flaky, for somebody to mend; one that fails again fails the run. Other tests
have nothing to race with and are not run again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Where tests drive real processes, servers, browsers and clients.
RACING = ("tests/clients/", "tests/e2e/", "tests/edges/", "tests/faults/", "tests/frameworks/")
# More failures than this are no accident.
FLAKY_MAX = 3
_LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")


def main() -> int:
    failed = _failed(_LAST_FAILED)
    if not may_be_flaky(failed):
        return 1
    print(f"\nRunning again, alone, what failed: {', '.join(failed)}", flush=True)
    again = subprocess.run([sys.executable, "-m", "pytest", *failed], check=False)
    if again.returncode == 0:
        print(f"Flaky, to be mended: {', '.join(failed)}")
    return again.returncode


def may_be_flaky(failed: Sequence[str]) -> bool:
    """Whether these are few, and all of them tests that may have lost a race. A module that could
    not be collected is none."""
    return 0 < len(failed) <= FLAKY_MAX and all(
        "::" in one and one.startswith(RACING) for one in failed
    )


def _failed(path: Path) -> list[str]:
    try:
        return sorted(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return []


if __name__ == "__main__":
    sys.exit(main())
