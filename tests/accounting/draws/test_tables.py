"""The tables: what is stored is what is computed, and no magnitude is further from the true one than its row says."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from certdp.accounting._kernels import noise as kernel
from certdp.accounting.draws import tables
from certdp.accounting.draws.laws import DEGREE, GAUSSIAN, LAPLACE, Law
from certdp.accounting.draws.tables import OCTAVES, SEGMENTS, row, table
from certdp.accounting.errors import InvalidValue
from tests.support.arb_noise import beyond

BOTH = pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=lambda law: law.name)
SOME = [1, 60, 63, 64, 130, 500, 911, 1407, OCTAVES * SEGMENTS - 1]


def stored(law: Law, place: int) -> tuple[int, tuple[float, ...], int]:
    whole, broken = table(law).whole[place].tolist(), table(law).broken[place].tolist()
    return whole[0], tuple(broken), whole[1]


@BOTH
@pytest.mark.parametrize("places", [[0, *SOME], pytest.param(range(OCTAVES * SEGMENTS), marks=pytest.mark.soundness)])
def test_what_is_stored_is_what_is_computed(law: Law, places: list[int]) -> None:
    for place in places:
        assert stored(law, place) == row(law, *divmod(place, SEGMENTS))


def magnitudes(law: Law, words: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> list[int]:
    """Half the kernel's magnitudes, rounded down: the cells at a factor of nearly 1 and one bit after the point."""
    whole = table(law).whole.copy()
    whole[:, 1] = 0
    drawn, undecided = np.empty((2, len(words)), dtype=np.int64)
    kernel.cells(words, whole, table(law).broken, 2**63 - 1, 1, 1, 0, drawn, undecided)
    return [int(half) for half in drawn]


@BOTH
@pytest.mark.parametrize(
    "each", [pytest.param(3, id="some"), pytest.param(320, id="a million ends", marks=pytest.mark.soundness)]
)
def test_no_magnitude_is_further_from_the_true_one_than_its_row_says(law: Law, each: int) -> None:
    """At both ends of what a word can mean, and at words beside the ends of segments."""
    generator = np.random.default_rng(1)
    nearest = np.full(OCTAVES, np.inf)
    for place in range(0, OCTAVES * SEGMENTS, 1 if each > 3 else 5):
        octave, segment = divmod(place, SEGMENTS)
        first, span = (SEGMENTS + segment) << (56 - octave), 1 << (56 - octave)
        inside = [0, 1, span - 1, *generator.integers(0, span, each).tolist()]
        words = np.array([(first + at) << 1 for at in inside], dtype=np.uint64)
        bound = int(table(law).whole[place, 1]) - 2
        for word, half in zip(words.tolist(), magnitudes(law, words), strict=True):
            for p in (Fraction(word >> 1, 2**63), Fraction((word >> 1) + 1, 2**63)):
                off = beyond(law, p, 2 * half)
                assert off <= bound
                nearest[octave] = min(nearest[octave], bound - off)
    assert nearest[8:].max() < 8  # where unread bits are what matters, nearly all of the bound is needed


@BOTH
@pytest.mark.parametrize("place", SOME)
def test_a_smaller_bound_than_unread_bits_need_is_seen(law: Law, place: int) -> None:
    """The control of the test above: half of the bound would be too little where unread bits are what matters."""
    octave, segment = divmod(place, SEGMENTS)
    bound = int(table(law).whole[place, 1]) - 2
    if octave < 10:
        assert bound < 70
        return
    word = ((SEGMENTS + segment) << (56 - octave)) << 1
    (half,) = magnitudes(law, np.array([word], dtype=np.uint64))
    assert bound / 2 < beyond(law, Fraction(word >> 1, 2**63), 2 * half) <= bound


def test_kernel_and_tables_mean_the_same() -> None:
    assert (kernel.SEGMENTS, kernel.POINT, kernel.PLACE) == (tables.SEGMENTS, tables.POINT, tables.PLACE)
    for law in (LAPLACE, GAUSSIAN):
        whole, broken = table(law).whole, table(law).broken
        assert whole.shape == (OCTAVES * SEGMENTS + 1, 2)
        assert broken.shape == (OCTAVES * SEGMENTS + 1, DEGREE)
        assert whole[-1, 1] >= 2**58 > whole[:-1, 1].max()
        assert not whole.flags.writeable
        assert not broken.flags.writeable


def test_an_altered_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    altered = bytearray((tables._FOLDER / "laplace.table").read_bytes())
    altered[70] ^= 1
    (tmp_path / "laplace.table").write_bytes(altered)
    monkeypatch.setattr(tables, "_FOLDER", tmp_path)
    with pytest.raises(InvalidValue, match="table: got"):
        table.__wrapped__(LAPLACE)


def test_sums_that_leave_64_bits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "POINT", 61)
    with pytest.raises(InvalidValue, match="sums that fit 64 bits"):
        row(LAPLACE, 10, 0)
