"""The oracle of runs agrees with closed forms, and with an accountant that shares no code with it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from certdp.accounting.accountants import LOSS_DISTRIBUTION, WorstPairs
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs.gaussian import SampledGaussian
from certdp.verification.oracles.divergences import gaussian_delta, gaussian_renyi
from certdp.verification.oracles.runs import delta_of_run, delta_of_sample, renyi_of_run

ONE = Fraction(1)


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "together"), [(1, 1), (1, 3), (4, 1), (2, 2)])
def test_without_sampling_releases_are_one_gaussian_whose_squares_add_up(samples: int, together: int) -> None:
    shift, total = Fraction(3, 10), Fraction(9, 100) * samples * together
    root = Enclosure.of(total).sqrt().lower
    found, direct = delta_of_run(ONE, shift, samples, together, Fraction(1, 2)), gaussian_delta(root, Fraction(1, 2))
    assert direct * Fraction("0.95") < found < direct * (1 + Fraction(1, 10**9))
    divergence = renyi_of_run(ONE, shift, samples, together, Fraction(3))
    assert divergence == pytest.approx(float(gaussian_renyi(root, Fraction(3))), rel=1e-12)


@pytest.mark.parametrize(
    ("rate", "shift", "samples"),
    list(product([Fraction(1, 2), Fraction(1, 8)], [ONE, Fraction(2)], [2, 5])),
)
def test_fresh_samples_against_the_loss_distribution(rate: Fraction, shift: Fraction, samples: int) -> None:
    pair = SampledGaussian(Enclosure.of(shift), Enclosure.of(rate)).repeated(samples)
    proven = LOSS_DISTRIBUTION.delta(WorstPairs((pair,), (pair,)), Enclosure.of(Fraction(1, 2)))
    assert proven is not None
    found = delta_of_run(rate, shift, samples, 1, Fraction(1, 2))
    assert proven.bounds.enclosure.lower * Fraction("0.9") < found <= proven.upper


def test_both_directions_are_asked_for() -> None:
    rate, shift, epsilon = Fraction(1, 2), Fraction(2), Fraction(1, 10)
    both = [delta_of_sample(rate, shift, epsilon, remove=remove) for remove in (True, False)]
    assert delta_of_run(rate, shift, 1, 1, epsilon) == max(both)
    assert both[0] != both[1]
