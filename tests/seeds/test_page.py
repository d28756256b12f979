"""The page of the seeds is up to date, and each line of each seed document is accounted for."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tools.reference.seeds import MODULES, page

from tests.seeds.documented import behaviours_in, uncovered_lines

_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "seeds.md"


def test_the_page_is_what_the_tests_say() -> None:
    assert _PAGE.read_text(encoding="utf-8") == page(), "run `make reference`"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.SEED.system)
def test_every_line_of_a_seed_document_is_accounted_for(module: ModuleType) -> None:
    assert uncovered_lines(module.SEED, behaviours_in(module)) == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.SEED.system)
def test_every_test_of_a_seed_says_what_it_checks(module: ModuleType) -> None:
    tests = {name for name in vars(module) if name.startswith("test_")}
    assert tests == {one.test for one in behaviours_in(module)}
    for one in behaviours_in(module):
        assert one.says
        assert one.call
        assert max(one.lines) <= module.SEED.line_count
