"""What all tests share: no settings of the machine they run on, steady property tests, and the
store that they run on (`--store`)."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from unittest import TestCase

import pytest
from _pytest.unittest import UnitTestCase
from hypothesis import HealthCheck, settings

from tests.homes.both import (
    fewer_examples,
    first_examples,
    is_left_out,
    runs_on_both,
    search_on,
)
from tests.homes.sitecustomize import HOMES
from tests.scratch import keep_files_in_memory

keep_files_in_memory()
pytest_plugins = ("pytester", "tests.fixtures")
pytest.register_assert_rewrite("holdfast.testing.conformance")

# In CI the same examples every time, so that a red build can be repeated; a person who looks for
# trouble runs with HYPOTHESIS_PROFILE=search.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# The same, with all examples that tests say instead of half of many.
settings.register_profile("all", settings.get_profile("ci"))
settings.register_profile("search", deadline=None, max_examples=2_000)
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(_PROFILE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store",
        choices=("sqlite", "postgres", "both"),
        help="where homes have their memories; without it, what is in tests/homes/both.py",
    )


def pytest_configure(config: pytest.Config) -> None:
    """A shell that starts the suite in its background makes it ignore SIGINT, and with it every
    process that a test starts in order to interrupt it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # What is collected stays, so there is nothing to find: a fifth of the time that it takes.
    gc.disable()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that runs on both stores is two tests."""
    chosen = metafunc.config.getoption("store")
    marked = metafunc.definition.get_closest_marker("sqlite_only")
    if marked is None and runs_on_both(metafunc.definition.path, chosen):
        metafunc.parametrize("homes", ["sqlite", "postgres"], indirect=True, scope="module")


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Collector] | None:
    """As above for tests that are classes of unittest, such as state machines of hypothesis: those
    have no parameters."""
    if not isinstance(obj, type) or not issubclass(obj, TestCase):
        return None
    if not runs_on_both(collector.path, collector.config.getoption("store")):
        return None
    twin = f"{name}OnPostgres"
    # Tests are looked up by name again.
    setattr(collector.obj, twin, type(twin, (obj,), {"homes": "postgres"}))
    return [UnitTestCase.from_parent(collector, name=one) for one in (name, twin)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the tests on PostgreSQL that nobody has asked for, some are enough. Who looks for trouble
    wants more examples than a test says."""
    if _PROFILE == "search":
        for item in items:
            search_on(item)
    elif _PROFILE == "ci":
        first_examples(items)
    if config.getoption("store") is None:
        left_out = [item for item in items if is_left_out(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]


def pytest_collection_finish() -> None:
    """What was collected stays until the end: 800,000 objects, which the garbage collector would
    look through for half a second each time, a fifteenth of what the tests take."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def homes(request: pytest.FixtureRequest) -> Iterator[str]:
    """Which store the homes of a test are on. A fixture that lives as long as a module and opens a
    home has to ask for this one."""
    kind = getattr(request, "param", request.config.getoption("store") or "sqlite")
    if kind != "postgres":
        yield "sqlite"
        return
    from tests.homes.databases import on_postgres

    with on_postgres():
        yield kind


@pytest.fixture(autouse=True)
def _own_databases(request: pytest.FixtureRequest, homes: str) -> Iterator[None]:
    """A test that runs on PostgreSQL gives its databases back, and has not used a file instead."""
    if getattr(request.cls, "homes", homes) != "postgres":
        yield
        return
    if (marked := request.node.get_closest_marker("sqlite_only")) is not None:
        pytest.skip(marked.args[0])
    from tests.homes.databases import on_postgres

    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    thorough = request.config.getoption("store") is not None
    with on_postgres(), nullcontext() if thorough else fewer_examples(request.node):
        yield
    if folder is not None and request.node.get_closest_marker("sqlite_too") is None:
        assert [str(file) for file in folder.rglob("memory.db")] == []


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith("HOLDFAST_") and name != HOMES]:
        monkeypatch.delenv(name)
    # Tests run inside this repository, which is no project of theirs.
    monkeypatch.setenv("HOLDFAST_PROJECTS_HUBS", "false")
    # A process that outlives its test is only for tests of that process.
    monkeypatch.setenv("HOLDFAST_HOOKS_SERVER", "false")
    monkeypatch.setenv("HOLDFAST_COMMANDS_SERVER", "false")
    yield
