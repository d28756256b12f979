"""Which failures of a whole run are run again."""

from __future__ import annotations

import pytest
from tools.rerun_failed import FLAKY_MAX, may_be_flaky

PROCESS = "tests/faults/test_processes.py::test_two_writers"


@pytest.mark.parametrize(
    "failed",
    [
        pytest.param([], id="nothing failed, so the run itself did"),
        pytest.param(["tests/unit/text/test_terms.py::test_words"], id="a test without processes"),
        pytest.param([PROCESS, "tests/unit/text/test_terms.py::test_words"], id="one of two"),
        pytest.param(["tests/faults/test_processes.py"], id="a module that was not collected"),
        pytest.param([f"{PROCESS}[{n}]" for n in range(FLAKY_MAX + 1)], id="many"),
    ],
)
def test_a_failure_that_is_no_lost_race_is_not_run_again(failed: list[str]) -> None:
    assert not may_be_flaky(failed)


def test_a_few_tests_of_processes_are_run_again() -> None:
    assert may_be_flaky([PROCESS])
    assert may_be_flaky([f"{PROCESS}[{n}]" for n in range(FLAKY_MAX)])
