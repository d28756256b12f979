"""A memory with time held still, and a worker at hand."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from holdfast import Holdfast, HubMemory, Memory
from holdfast.passes.work import work_until_done

Work = Callable[[], int]
Push = Callable[..., Memory]


@pytest.fixture
def work(memory: Holdfast) -> Work:
    """Works on every job that is due, in real processes."""
    return lambda: work_until_done(memory.core, memory.home, allowed=("127.0.0.1", "::1"))


@pytest.fixture
def read(hub: HubMemory, work: Work) -> Push:
    """Pushes a file, has it read, and gives the memory it became."""

    def push(data: bytes, name: str, **fields: object) -> Memory:
        pushed = hub.remember_file(io.BytesIO(data), name=name, **fields).memory
        assert pushed.state == "processing"
        assert work() == 1
        return hub.get(pushed.id)

    return push
