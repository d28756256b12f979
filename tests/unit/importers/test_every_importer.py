"""What holds for every importer, on a small source of each format."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Holdfast
from holdfast.api.imports import ImportReport
from holdfast.errors import HoldfastError, InvalidInput
from holdfast.importers import IMPORTED, MODULES, Record, importer_named
from holdfast.testing import open_for_tests
from tests.unit.importers.sources import CASES, Case

each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with open_for_tests(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


def taken_in(
    memory: Holdfast, case: Case, path: Path, *, split: bool = False, dry_run: bool = False
) -> ImportReport:
    return memory.import_from(
        case.program, path, split=split, merge=not split, options=case.options, dry_run=dry_run
    )


def counts(report: ImportReport) -> dict[str, int]:
    total: dict[str, int] = {}
    for row in report.rows:
        for name, count in row.counts.items():
            total[name] = total.get(name, 0) + count
    return total


def contents(memory: Holdfast, hub: str | None = None) -> set[str]:
    return {one.content for one in memory.hub(hub).list(limit=1_000) if one.parent is None}


def test_every_importer_has_a_case() -> None:
    assert {case.program for case in CASES} == MODULES.keys()


@each_case
def test_everything_comes_in_with_its_scope(memory: Holdfast, place: Path, case: Case) -> None:
    path = case.make(place)
    report = taken_in(memory, case, path)
    assert contents(memory) == case.all_texts
    assert counts(report) == {"new": len(case.all_texts)}
    by_scope = {row.scope: sum(row.counts.values()) for row in report.rows}
    assert by_scope == {scope: len(texts) for scope, texts in case.texts.items()}
    for one in memory.hub().list(limit=1_000):
        if one.parent is None:
            assert one.source == "import"
            assert one.trust == "import"
            assert one.metadata[IMPORTED]["from"] == case.program


@each_case
def test_each_scope_can_have_a_hub(memory: Holdfast, place: Path, case: Case) -> None:
    report = taken_in(memory, case, case.make(place), split=True)
    for row in report.rows:
        assert contents(memory, row.hub) == case.texts[row.scope], row.hub
    assert len({row.hub for row in report.rows}) == len(case.texts)


@each_case
def test_a_second_run_writes_nothing(memory: Holdfast, place: Path, case: Case) -> None:
    path = case.make(place)
    taken_in(memory, case, path)
    before = list(memory.hub().export())
    again = taken_in(memory, case, path)
    assert counts(again) == {"known": len(case.all_texts)}
    assert [row.change for row in again.rows] == [None] * len(again.rows)
    assert list(memory.hub().export()) == before


@each_case
def test_the_preview_says_what_the_import_does(memory: Holdfast, place: Path, case: Case) -> None:
    path = case.make(place)
    before = list(memory.hub().export())
    preview = taken_in(memory, case, path, dry_run=True)
    assert list(memory.hub().export()) == before
    report = taken_in(memory, case, path)
    assert counts(preview) == counts(report)
    assert preview.skipped == report.skipped


@each_case
def test_one_undo_takes_all_of_it_back(memory: Holdfast, place: Path, case: Case) -> None:
    path = case.make(place)
    mine = memory.hub().remember("What I had before").memory
    report = taken_in(memory, case, path)
    (change,) = {row.change for row in report.rows}
    memory.hub().undo(change)
    assert [one.id for one in memory.hub().list()] == [mine.id]
    assert counts(taken_in(memory, case, path)) == {"new": len(case.all_texts)}


@each_case
def test_the_source_is_left_as_it_was(memory: Holdfast, place: Path, case: Case) -> None:
    path = case.make(place)
    before = {one: one.read_bytes() for one in place.rglob("*") if one.is_file()}
    taken_in(memory, case, path)
    assert {one: one.read_bytes() for one in place.rglob("*") if one.is_file()} == before


@each_case
def test_ids_are_unique_and_stable(place: Path, case: Case) -> None:
    path = str(case.make(place))
    read = importer_named(case.program).read
    ids = [one.id for one in read(path, case.options) if isinstance(one, Record)]
    assert len(ids) == len(set(ids))
    assert ids == [one.id for one in read(path, case.options) if isinstance(one, Record)]


@each_case
def test_damaged_sources_end_in_a_sentence_or_are_read(
    memory: Holdfast, place: Path, case: Case
) -> None:
    """Cut off, flipped or overwritten: never anything but an error of ours, and never half."""
    path = case.make(place)
    files = sorted(one for one in place.rglob("*") if one.is_file() and one.stat().st_size)
    chance = random.Random(7)
    for file in files:
        whole = file.read_bytes()
        flipped = bytearray(whole)
        for _ in range(10):
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        cut = whole[: len(whole) // 2]
        for damaged in (b"", cut, bytes(flipped), b"\0" * 500, chance.randbytes(800), b"[[[["):
            file.write_bytes(damaged)
            try:
                taken_in(memory, case, path, dry_run=True)
            except HoldfastError as error:
                assert error.message.endswith((".", "?")), error.message
        file.write_bytes(whole)


@pytest.mark.parametrize("program", sorted(MODULES))
def test_what_is_no_source_is_refused_with_a_sentence(
    memory: Holdfast, place: Path, program: str
) -> None:
    empty = place / "empty"
    empty.mkdir()
    pipe = place / "pipe"
    os.mkfifo(pipe)
    options = {"text": "text"}
    for path in (place / "missing", pipe, empty):
        try:
            report = memory.import_from(program, path, options=options, dry_run=True)
        except HoldfastError as error:
            assert error.message.endswith("."), error.message
        else:
            assert not report.rows


def test_an_importer_that_is_not_there_is_named(memory: Holdfast, place: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no importer 'nothing'"):
        memory.import_from("nothing", place)
