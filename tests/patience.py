"""No test waits for ever: whatever it waits for (a lock, a thread, a process, a pipe, a server), it
is red after a while, and says where it and its threads stood.

One bound for all waits, since a forgotten one would be the one that never ends. It does not know
what a test waits for, and it ends no wait that holds on to the interpreter: `faulthandler_timeout`
does that, with the whole worker.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

# Of `faulthandler_timeout`, which is for setup, test and teardown together: a test that is told to
# end has time left to take down what it built, and to be told again while it does.
_PART = 0.4
_AGAIN_PART = 0.1


class WaitedTooLong(BaseException):
    """Not an Exception: neither a test that expects one nor hypothesis, which would try again, may
    take it for its own."""


def _wait_s(config: pytest.Config) -> float:
    if not hasattr(signal, "setitimer") or config.getoption("usepdb"):
        return 0.0
    # Who searches with many more examples has time.
    if os.environ.get("HYPOTHESIS_PROFILE", "ci") != "ci":
        return 0.0
    return float(config.getini("faulthandler_timeout") or 0.0)


@contextmanager
def _bounded(item: pytest.Item) -> Iterator[None]:
    whole_s = _wait_s(item.config)
    if not whole_s or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise WaitedTooLong(
            f"not done after {whole_s * _PART:g} s; it stood where this was raised."
            f"{_stacks_of_the_others()}"
        )

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, whole_s * _PART, whole_s * _AGAIN_PART)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _stacks_of_the_others() -> str:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    mine = threading.get_ident()
    return "".join(
        f"\n\nThread {names.get(ident, ident)}:\n{''.join(traceback.format_stack(frame))}"
        for ident, frame in sys._current_frames().items()
        if ident != mine
    )


# Each phase for itself: pytest turns what is raised in one into a red test, and what is raised
# between two into its own failure.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with _bounded(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _bounded(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with _bounded(item):
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """A thread that a test left behind would keep the whole process from ending."""
    if whole_s := _wait_s(config):
        faulthandler.dump_traceback_later(whole_s * _PART, exit=True, file=2)
