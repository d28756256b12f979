"""Which tests run on SQLite and on PostgreSQL where nothing else is asked for."""

from __future__ import annotations

from pathlib import Path

_TESTS = Path(__file__).parents[1]
BOTH: tuple[str, ...] = ()


def runs_on_both(path: Path, chosen: str | None) -> bool:
    if chosen == "both":
        return True
    if chosen is not None or not path.is_relative_to(_TESTS):
        return False
    name = path.relative_to(_TESTS).as_posix()
    return any(name.startswith(front) for front in BOTH)
