"""Noise in bulk: each word gets the cell of its noise, beside boundaries too, and the law is that of the cells."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.draws import noise
from certdp.accounting.draws.laws import GAUSSIAN, LAPLACE, Law
from certdp.accounting.draws.noise import LARGEST_SCALE, noise_cells
from certdp.accounting.draws.source import Seeded
from certdp.accounting.draws.tables import OCTAVES, table
from certdp.accounting.errors import InvalidValue
from certdp.plugins.contract import Coins
from tests.support.arb_noise import Handed, cell, digits, tail
from tests.support.cases import draws, examples

BOTH = pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=lambda law: law.name)
SCALES = [Fraction(1), Fraction(7, 3), Fraction(1000), Fraction(2**31) - Fraction(1, 3), Fraction(2**40), 2**45]
TOP = 2**64


def cells_of(law: Law, scale: Fraction, words: list[int]) -> list[int]:
    return [int(cell) for cell in noise_cells(law, Fraction(scale), len(words), Handed(words))]


def beside_boundaries(law: Law, scale: Fraction, seed: int, count: int) -> Iterator[int]:
    """Words on both sides of the ends of cells, from one to some 2^30 units away, at magnitudes of every octave."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        octave = int(generator.integers(0, OCTAVES + 4))
        p = (1 + generator.random()) * 2.0 ** -(octave + 1)
        boundary = int(Fraction(law.guess(p)) * scale) + Fraction(1, 2)
        at = digits(law, boundary / scale, 63)
        away = int(generator.integers(0, 4)) if generator.random() < 0.5 else int(2 ** (30 * generator.random()))
        for v in (at - away, at, at + 1, at + 1 + away):
            if 0 <= v < 2**63:
                yield v << 1 | int(generator.integers(0, 2))


@BOTH
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_words_beside_boundaries_get_the_cell_of_their_noise(law: Law, scale: Fraction) -> None:
    words = list(beside_boundaries(law, Fraction(scale), 1, draws(2000)))
    assert cells_of(law, scale, words) == [cell(law, Fraction(scale), word) for word in words]


@BOTH
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_words_at_random_get_the_cell_of_their_noise(law: Law, scale: Fraction) -> None:
    words = Seeded(2).bits(draws(2000)).tolist()
    shifted = [word >> k for k, word in enumerate(words[:64])] + [0, 1, 2, 3, TOP - 1, TOP - 2, TOP // 2]
    assert cells_of(law, scale, words + shifted) == [cell(law, Fraction(scale), word) for word in words + shifted]


@examples(200)
@given(
    law=st.sampled_from([LAPLACE, GAUSSIAN]),
    scale=st.fractions(1, 100) | st.fractions(1, LARGEST_SCALE, max_denominator=10**6),
    words=st.lists(st.integers(0, TOP - 1), max_size=20),
)
def test_any_scale_and_words(law: Law, scale: Fraction, words: list[int]) -> None:
    assert cells_of(law, scale, words) == [cell(law, scale, word) for word in words]


@BOTH
def test_few_words_need_more_bits(law: Law) -> None:
    """At most 10^-6 of them at a grid of the scale's 2^-30th part, 2·10^-4 at its 2^-40th.

    Within a segment the magnitude moves by at most 1/32 more or less evenly, over whole cells and one more at most; a
    word is undecided where it comes within the bound of a cell's end, or is beyond the table.
    """
    bounds = table(law).whole[:-1, 1].reshape(OCTAVES, -1)
    for bits, most in ((30, 1e-6), (40, 2e-4)):
        unit = 2.0 ** (57 - bits)
        shares = [2.0 ** -(k + 1) * np.mean(2 * bounds[k] / unit) for k in range(OCTAVES)]
        assert 1.04 * sum(shares) + 2.0**-OCTAVES <= most
        source = Seeded(3)
        places = np.empty(1 << 15, dtype=np.int64)
        factor, fraction = noise._fixed_point(Fraction(2**bits))
        rounds = draws(160)
        found = sum(
            len(noise._decide(source.bits(1 << 15), table(law), factor, fraction, 1 << fraction - 1, 0, places))
            for _ in range(rounds)
        )
        assert found <= stats.binom.ppf(1 - 1e-9, rounds << 15, most)


def probabilities(law: Law, scale: Fraction, ends: list[int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Of the magnitudes from each end to the next, the last without an end; ends are cells, the first is 0."""
    above = [tail(law, (end - Fraction(1, 2)) / scale) if end else tail(law, Fraction(0)) for end in ends]
    return np.array([float(one - other) for one, other in zip(above, [*above[1:], 0], strict=True)])


@BOTH
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 3), Fraction(40)], ids=str)
@pytest.mark.parametrize(
    "size", [pytest.param(10**6, id="a million"), pytest.param(10**7, id="ten million", marks=pytest.mark.soundness)]
)
def test_every_cell_has_its_probability(law: Law, scale: Fraction, size: int) -> None:
    """χ² over single cells with their signs; with fresh coins a right law would fail once in 10^6 runs."""
    drawn = noise_cells(law, scale, size, Seeded(4))
    last = next(z for z in range(1, 10**4) if tail(law, (z + 1) / scale) * size < 40)
    share = probabilities(law, scale, list(range(last + 1)))
    law_of = np.concatenate([share[:0:-1] / 2, share[:1], share[1:] / 2])
    seen = np.bincount(np.clip(drawn, -last, last) + last, minlength=2 * last + 1)
    assert stats.chisquare(seen, law_of * size).pvalue > 1e-6


@BOTH
@pytest.mark.parametrize("scale", [Fraction(2**30) * Fraction(5, 3), Fraction(2**40)], ids=["30", "40"])
@pytest.mark.parametrize(
    "size", [pytest.param(10**6, id="a million"), pytest.param(10**7, id="ten million", marks=pytest.mark.soundness)]
)
def test_fine_grids_have_the_law_of_the_noise_and_even_last_digits(law: Law, scale: Fraction, size: int) -> None:
    """χ² over stretches of cells, and over the last eight bits with the sign; once in 10^6 runs, each."""
    drawn = noise_cells(law, scale, size, Seeded(5))
    magnitude = np.abs(drawn)
    ends = [int(Fraction(law.guess(1 - k / 200)) * scale) for k in range(200)]
    seen = np.histogram(magnitude, bins=[*ends, 2**62])[0]
    assert stats.chisquare(seen, probabilities(law, scale, ends) * size).pvalue > 1e-6
    digits_seen = np.bincount((drawn & 255) + 256 * (drawn < 0), minlength=512)
    assert stats.chisquare(digits_seen).pvalue > 1e-6


@BOTH
def test_undecided_words_are_never_drawn_anew(law: Law) -> None:
    """Every undecided word takes one word more and keeps its own: a source counts."""
    scale = Fraction(LARGEST_SCALE)
    words = Seeded(6).bits(20_000)
    source = Handed(words)
    drawn = noise_cells(law, scale, len(words), source)
    places = np.empty(len(words), dtype=np.int64)
    factor, fraction = noise._fixed_point(scale)
    undecided = noise._decide(words, table(law), factor, fraction, 1 << fraction - 1, 0, places)
    assert len(undecided) > 10
    assert source.further <= len(undecided)
    assert drawn[undecided].tolist() == [cell(law, scale, int(words[i])) for i in undecided]


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Seeded(7).bits(1000)
    whole = noise_cells(LAPLACE, Fraction(2**30), 1000, Handed(words))
    monkeypatch.setattr(noise, "_BLOCK", 7)
    assert noise_cells(LAPLACE, Fraction(2**30), 1000, Handed(words)).tolist() == whole.tolist()


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(99, 100), LARGEST_SCALE + Fraction(1, 9)])
@pytest.mark.parametrize("draw", [Coins.laplace_cells, Coins.gaussian_cells])
def test_scales_coarser_or_much_finer_than_the_grid_are_refused(scale: Fraction, draw: Any) -> None:
    with pytest.raises(InvalidValue, match=r"scale: got .*; admissible: a scale from 1 to .* units of the grid"):
        draw(Coins(Handed([])), scale, 3)


def test_a_source_that_gives_other_words_is_refused() -> None:
    class Short:
        private = True

        def bits(self, count: int) -> Any:
            return np.zeros(count - 1, dtype=np.uint64)

    class Signed(Short):
        def bits(self, count: int) -> Any:
            return np.zeros(count, dtype=np.int64)

    for source in (Short(), Signed()):
        with pytest.raises(InvalidValue, match=r"source: got .*; admissible: 5 words, as uint64"):
            noise_cells(LAPLACE, Fraction(2), 5, source)


@pytest.mark.parametrize("size", [0, 1, 5, 32_769])
def test_as_many_cells_as_asked_for(size: int) -> None:
    drawn = Coins.seeded(1).laplace_cells(Fraction(2**30), size)
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64
    assert Coins.seeded(1).laplace_cells(Fraction(2**30), size).tolist() == drawn.tolist()
    assert Coins().gaussian_cells(Fraction(2**30), size).shape == (size,)
