"""The bound on what tests wait for, tried on tests that wait for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

_WAITING = """
import asyncio, subprocess, sys, threading
import pytest
from hypothesis import given, settings, strategies as st

def test_process():
    # The end of the `with` waits for the process once more.
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        process.wait()

def test_loop():
    async def wait():
        await asyncio.Event().wait()
    asyncio.run(wait())

@given(st.integers())
@settings(database=None, deadline=None)
def test_property(number):
    threading.Event().wait()

@pytest.fixture
def standing():
    yield
    def a_place_with_a_name():
        threading.Event().wait()
    # It is still there when all tests are over.
    thread = threading.Thread(target=a_place_with_a_name)
    thread.start()
    with pytest.raises(Exception):
        thread.join()

def test_teardown(standing):
    pass
"""


def test_a_test_that_waits_for_ever_is_red_and_says_where_it_stood(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HYPOTHESIS_PROFILE", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makepyfile(_WAITING)
    options = ("-p", "tests.patience", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=0.6")
    ran = pytester.runpytest_subprocess(*options, timeout=100)
    ran.assert_outcomes(failed=3, passed=1, errors=1)
    said = ran.stdout.str()
    assert said.count("WaitedTooLong: not done after 0.24 s") >= 4
    for stood in ("process.wait()", "asyncio.run(wait())", "thread.join()", "a_place_with_a_name"):
        assert stood in said
