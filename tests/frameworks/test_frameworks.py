"""Starts the tests of each framework in a process with that framework on its path."""

from __future__ import annotations

import pytest

from tests.frameworks.environments import (
    HERE,
    environments,
    is_installed,
    run_tests,
    suite_of,
)

NOT_FRAMEWORKS = {"test_frameworks.py"}


# A framework takes seconds to import, on a busy machine much longer.
@pytest.mark.timeout(600)
@pytest.mark.slow
@pytest.mark.parametrize("environment", environments())
def test_the_adapter_works_in_the_framework(environment: str) -> None:
    if not is_installed(environment):
        pytest.skip(f"{environment} is not installed: `make test-frameworks` installs it")
    done = run_tests(environment)
    assert done.returncode == 0, done.stdout[-6_000:]


def test_every_framework_has_tests_and_pins_for_its_oldest_and_newest_version() -> None:
    tested = {path.name for path in HERE.glob("test_*.py")} - NOT_FRAMEWORKS
    assert {suite_of(one).name for one in environments()} == tested
    names = {one.rpartition("-")[0] for one in environments()}
    assert {f"{name}-{level}" for name in names for level in ("high", "low")} == set(environments())
