"""Loss-distribution accounting at a δ that may be 0, for which a loss without a bound has no ε."""

from __future__ import annotations

from certdp.accounting.accountants import LOSS_DISTRIBUTION, WorstPairs
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import GaussianPair, LaplacePair


def test_a_delta_around_zero_has_no_lower_end() -> None:
    run = WorstPairs((LaplacePair(Enclosure.of(1)),), (LaplacePair(Enclosure.of(1)),))
    exactly = LOSS_DISTRIBUTION.epsilon(run, Enclosure.of(0))
    around = LOSS_DISTRIBUTION.epsilon(run, Enclosure.of(0).hull(Enclosure.of("0.1")))
    within = LOSS_DISTRIBUTION.epsilon(run, Enclosure.of("0.1"))
    assert exactly is not None
    assert around is not None
    assert within is not None
    assert exactly.bounds.two_sided
    assert exactly.upper == around.upper == 1
    assert within.upper < 1  # so 1 is no lower end of what 0.1 needs
    assert not around.bounds.two_sided


def test_without_a_pure_loss_a_delta_that_may_be_0_has_no_epsilon() -> None:
    run = WorstPairs((GaussianPair(Enclosure.of(1)),), (GaussianPair(Enclosure.of(1)),))
    for delta in (Enclosure.of(0), Enclosure.between(0, "0.1")):
        assert LOSS_DISTRIBUTION.epsilon(run, delta) is None
