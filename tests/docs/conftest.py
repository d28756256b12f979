"""The bundled model is read once for all pages: for each command anew, it would be most of the
time that the examples take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from holdfast.embed import providers

_ONCE = cache(providers._bundled)


# For no longer than a module: the tests of other folders have a model found, or not, as they say.
@pytest.fixture(scope="module", autouse=True)
def _one_model() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(providers, "_bundled", _ONCE)
        yield
