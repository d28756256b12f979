"""While an import runs, this process collects garbage less often."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from holdfast.engine.transfer.export import collected_seldom


@pytest.fixture(autouse=True)
def usual() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*before)


def test_garbage_is_collected_less_often_inside_and_as_before_behind_the_last(
    usual: tuple[int, int, int],
) -> None:
    with collected_seldom():
        with collected_seldom():
            assert gc.get_threshold()[0] > usual[0]
        assert gc.get_threshold()[0] > usual[0]
    assert gc.get_threshold() == usual


def test_after_an_error_it_is_as_before(usual: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="broken"), collected_seldom():
        raise ValueError("broken")
    assert gc.get_threshold() == usual


@pytest.mark.parametrize("chosen", [0, 200_000])
def test_what_the_program_has_chosen_is_left_alone(chosen: int) -> None:
    gc.set_threshold(chosen, 5, 5)
    with collected_seldom():
        assert gc.get_threshold() == (chosen, 5, 5)
    assert gc.get_threshold() == (chosen, 5, 5)


def test_what_the_program_chooses_meanwhile_stays() -> None:
    with collected_seldom():
        gc.set_threshold(1_000, 5, 5)
    assert gc.get_threshold() == (1_000, 5, 5)
