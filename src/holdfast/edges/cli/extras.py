"""What only some installations have: a command that needs it says how to get it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.errors import InvalidInput


@contextmanager
def extra(name: str, *, what: str) -> Iterator[None]:
    """Around the imports of something that comes with this extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        # A module of ours that is missing is a fault, not something to install.
        if (error.name or "").partition(".")[0] == "holdfast":
            raise
        raise InvalidInput(
            f"{what} needs the Python package {error.name}, which is not installed.",
            hint=f"Install it from a checkout: `pip install '.[{name}]'`.",
        ) from None
