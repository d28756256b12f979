"""What every embedder's vectors go through: the check, the unit length, the stored form."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from holdfast.embed import (
    check,
    dequantise,
    dequantise_all,
    quantise,
    unit_rows,
)
from holdfast.errors import EmbedderError

FLOATS = st.floats(-1e6, 1e6, width=32).filter(lambda value: value == 0 or abs(value) > 1e-6)
MATRICES = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 5), st.integers(1, 40)),
    elements=FLOATS,
).filter(lambda matrix: bool(matrix.any(axis=1).all()))


@given(MATRICES)
def test_a_stored_vector_comes_back_within_half_a_step(matrix: np.ndarray) -> None:
    blobs = quantise(matrix)
    for row, blob in zip(matrix, blobs, strict=True):
        step = np.abs(row).max() / 127
        assert np.abs(dequantise(blob) - row).max() <= step * 0.5001


@given(MATRICES)
def test_many_blobs_read_at_once_are_the_same_as_one_by_one(matrix: np.ndarray) -> None:
    blobs = quantise(matrix)
    together = dequantise_all(blobs, matrix.shape[1])
    assert together.dtype == np.float32
    assert np.array_equal(together, np.stack([dequantise(blob) for blob in blobs]))


@given(MATRICES)
def test_storing_what_was_read_changes_nothing(matrix: np.ndarray) -> None:
    blobs = quantise(matrix)
    values = [blob[4:] for blob in blobs]
    again = [blob[4:] for blob in quantise(dequantise_all(blobs, matrix.shape[1]))]
    assert again == values


@given(MATRICES)
def test_unit_rows_have_length_one_and_keep_their_direction(matrix: np.ndarray) -> None:
    rows = unit_rows(matrix)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    wide = matrix.astype(np.float64)
    cosine = (rows * wide).sum(axis=1) / np.linalg.norm(wide, axis=1)
    assert np.allclose(cosine, 1, atol=1e-5)


def test_a_tiny_vector_still_gets_length_one() -> None:
    row = np.full((1, 4), 1e-40, dtype=np.float32)
    assert np.allclose(unit_rows(row), 0.5)


def test_the_stored_form_is_a_little_endian_scale_and_one_byte_a_value() -> None:
    (blob,) = quantise(np.array([[1.27, -0.01, 0.5]], dtype=np.float32))
    scale, *values = struct.unpack("<f3b", blob)
    assert scale == pytest.approx(0.01)
    assert values == [127, -1, 50]


def test_no_vectors_are_stored_as_no_blobs() -> None:
    assert quantise(np.zeros((0, 3), dtype=np.float32)) == []
    assert dequantise_all([], 3).shape == (0, 3)


GOOD = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("rows", "dimensions", "count", "words"),
    [
        (GOOD, 4, 2, "vectors of length 3; 4 was expected"),
        (GOOD, 3, 3, "2 vectors for 3 texts"),
        (GOOD, 3, 1, "2 vectors for 1 texts"),
        ([GOOD[0], [0.0, np.nan, 1.0]], 3, 2, "NaN in the vector of text 2"),
        ([[np.inf, 0.0, 1.0], GOOD[0]], 3, 2, "infinity in the vector of text 1"),
        ([GOOD[0], [0.0, -np.inf, 1.0]], 0, 2, "infinity in the vector of text 2"),
        ([GOOD[0], [0.0, 0.0, 0.0]], 3, 2, "only zeros for text 2"),
        ([[], []], 0, 2, "empty vectors"),
        ([1.0, 0.0], 2, 1, "an array of 1 axes"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused_by_name(
    rows: list[list[float]], dimensions: int, count: int, words: str
) -> None:
    with pytest.raises(EmbedderError, match=words):
        check(np.array(rows, dtype=np.float32), dimensions, count)


def test_good_vectors_pass_as_they_are() -> None:
    matrix = np.array(GOOD, dtype=np.float32)
    assert check(matrix, 3, 2) is matrix
    assert check(matrix, 0, 2) is matrix


def test_nan_is_never_stored() -> None:
    with pytest.raises(EmbedderError, match="NaN"):
        quantise(np.array([[np.nan, 1.0]], dtype=np.float32))


@pytest.mark.parametrize(
    "blob",
    [b"", b"\0\0\0", struct.pack("<f", 1.0), struct.pack("<fb", float("nan"), 1)],
    ids=["empty", "cut short", "a scale and nothing else", "a scale that is no number"],
)
def test_a_damaged_blob_is_an_error_that_says_what_to_do(blob: bytes) -> None:
    with pytest.raises(EmbedderError, match="Embed the hub again"):
        dequantise(blob)


def test_a_blob_of_another_length_among_many_is_named() -> None:
    blobs = [*quantise(np.array(GOOD, dtype=np.float32)), b"short"]
    with pytest.raises(EmbedderError, match="Stored vector 3 has 5 bytes; 7 was expected"):
        dequantise_all(blobs, 3)
