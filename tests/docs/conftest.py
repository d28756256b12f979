"""The bundled model is read once for all pages: for each command anew, it would be most of the
time that the examples take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from holdfast.embed import find


@pytest.fixture(scope="session", autouse=True)
def _one_model() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(find, "_bundled", cache(find._bundled))
        yield
