"""Random allocation, each record in one of t batches: against sums over all outputs, and integrals."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import CertdpError, InvalidType, InvalidValue
from certdp.accounting.loss_distribution.families import normal_cells
from certdp.accounting.loss_distribution.mean_ratios import MOST_TERMS, mean_above, mean_below
from certdp.accounting.pairs import (
    FinitePair,
    GaussianGroup,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    SampledGaussian,
    allocated,
    compose_pairs,
)
from certdp.accounting.pairs.random_allocation import RandomAllocation
from certdp.accounting.relations import Direction
from tests.support.cases import examples

of = Enclosure.of


def delta_at(pair: Pair, epsilon: Enclosure, direction: Direction) -> Enclosure:
    law = pair.delta
    assert law is not None
    return law(epsilon, direction)


def epsilon_at(pair: Pair, delta: Enclosure, direction: Direction) -> Enclosure:
    found = pair.smallest_epsilon(delta, direction)
    assert found is not None
    return found


def exact_delta(
    present: list[Fraction],
    absent: list[Fraction],
    batches: int,
    factor: Fraction,
    direction: Direction,
    participations: int = 1,
) -> Fraction:
    """δ of an epoch by adding up all outputs: which batches have the record is drawn uniformly."""
    total = Fraction(0)
    ways = list(combinations(range(batches), participations))
    for outputs in product(range(len(present)), repeat=batches):
        without = Fraction(1)
        for output in outputs:
            without *= absent[output]
        seen = Fraction(0)
        for places in ways:
            one = Fraction(1)
            for index, output in enumerate(outputs):
                one *= present[output] if index in places else absent[output]
            seen += one / len(ways)
        first, second = (seen, without) if direction is Direction.REMOVE else (without, seen)
        total += max(first - factor * second, Fraction(0))
    return total


def tables() -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    yield [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
    yield [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], [Fraction(1, 10), Fraction(3, 10), Fraction(3, 5)]
    # one output has most of the mass without the record
    yield [Fraction(16, 17), Fraction(1, 17)], [Fraction(1, 17), Fraction(16, 17)]
    # an output that only one of the laws has, on either side
    yield [Fraction(1, 10), Fraction(9, 10), Fraction(0)], [Fraction(0), Fraction(4, 5), Fraction(1, 5)]


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("batches", [2, 3, 5])
@pytest.mark.parametrize("table", list(tables()), ids=["response", "three outputs", "one common output", "singular"])
def test_delta_of_an_epoch_holds_the_sum_over_all_outputs(
    table: tuple[list[Fraction], list[Fraction]], batches: int, direction: Direction
) -> None:
    present, absent = table
    law = allocated(FinitePair(tuple(present), tuple(absent)), batches).delta
    assert law is not None
    for epsilon in ("0", "0.1", "0.3", "0.6", "0.9", "1.5"):
        level = of(epsilon)
        found = law(level, direction)
        truth = [
            exact_delta(present, absent, batches, end, direction) for end in (level.exp().lower, level.exp().upper)
        ]
        assert found.lower <= truth[0]
        assert truth[1] <= found.upper
        assert found.upper_float - found.lower_float < 2e-4


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(("batches", "participations"), [(3, 2), (4, 2), (4, 3), (5, 2)])
@pytest.mark.parametrize("table", list(tables()), ids=["response", "three outputs", "one common output", "singular"])
def test_several_batches_have_at_most_the_delta_of_blocks(
    table: tuple[list[Fraction], list[Fraction]], batches: int, participations: int, direction: Direction
) -> None:
    """In both directions, where outputs of only one of the laws are possible too; more batches entered lose more."""
    present, absent = table
    base = FinitePair(tuple(present), tuple(absent))
    pair, fewer = (allocated(base, batches, entered) for entered in (participations, participations - 1))
    for epsilon in ("0", "0.3", "0.9", "1.5"):
        level = of(epsilon)
        found = delta_at(pair, level, direction)
        assert exact_delta(present, absent, batches, level.exp().lower, direction, participations) <= found.upper
        assert delta_at(fewer, level, direction).lower <= found.upper


@pytest.mark.parametrize("direction", Direction)
def test_normal_noise_in_two_of_three_batches_lies_between_both_ends(direction: Direction) -> None:
    """The integral over all three outputs; from below it is what their sum tells, from above a block of two and one."""
    shift, step = 1.0, 0.08
    z = np.arange(-7.0, 8.0, step)
    ratio = np.exp(shift * z - shift * shift / 2)
    mass = step * np.exp(-z * z / 2) / sqrt(2 * pi)
    x, y, w = np.meshgrid(ratio, ratio, ratio, indexing="ij", sparse=True)
    mean = (x * y + y * w + w * x) / 3
    above = allocated(GaussianPair(of(1)), 3, 2)
    below = GaussianPair(of(2) / of(3).sqrt())
    for epsilon in (0.0, 0.5, 1.5):
        excess = mean - exp(epsilon) if direction is Direction.REMOVE else 1 - exp(epsilon) * mean
        truth = float(np.einsum("i,j,k,ijk", mass, mass, mass, np.maximum(excess, 0), optimize=True))
        low, high = (delta_at(pair, of(epsilon), direction) for pair in (below, above))
        assert low.upper_float < truth + 1e-4
        assert truth - 1e-4 < high.lower_float


def test_losses_of_several_batches_add_in_each_notion() -> None:
    """Of the χ² divergence, which is known of all sets of batches, the bound is above the truth."""
    base = GaussianPair(of(1))
    pair = allocated(base, 10, 3)
    assert pair.gaussian is not None
    assert pair.zero_concentrated is not None
    assert pair.renyi is not None
    assert pair.gaussian.contains(of(3).sqrt().lower)
    assert pair.zero_concentrated.contains(Fraction(3, 2))
    # E of the product over what two sets have in common, of hypergeometric size
    common = sum(comb(3, k) * comb(7, 3 - k) * exp(k) for k in range(4)) / comb(10, 3)
    assert log(common) <= pair.renyi(Fraction(2), Direction.REMOVE).upper_float
    assert allocated(base, 10, 10) == base.repeated(10)
    assert allocated(base, 10, 1) == allocated(base, 10)


@pytest.mark.parametrize(("batches", "participations"), [(3, 4), (3, 0), (1, 2), (3, True), (3, 1.5)])
def test_participations_are_from_one_to_all_batches(batches: int, participations: int) -> None:
    with pytest.raises((InvalidType, InvalidValue)) as refused:
        allocated(GaussianPair(of(1)), batches, participations)
    assert refused.value.parameter == "participations"


def two_normal_batches(shift: float, epsilon: float, direction: Direction) -> float:
    """δ of two batches: the second output is integrated out in closed form, the first by quadrature."""

    def falls_short(level: float) -> float:
        """E[(level − L)₊] for the likelihood ratio L of the second output."""
        if level <= 0:
            return 0.0
        at = (log(level) + shift * shift / 2) / shift
        return float(level * special.ndtr(at) - special.ndtr(at - shift))

    def inner(z: float) -> float:
        ratio = exp(shift * z - shift * shift / 2)
        if direction is Direction.REMOVE:
            level = 2 * exp(epsilon) - ratio
            return (1 - level + falls_short(level)) / 2
        return exp(epsilon) / 2 * falls_short(2 * exp(-epsilon) - ratio)

    def weighted(z: float) -> float:
        return inner(z) * exp(-z * z / 2) / sqrt(2 * pi)

    bend = (log(2) + (epsilon if direction is Direction.REMOVE else -epsilon) + shift * shift / 2) / shift
    pieces = [
        integrate.quad(weighted, *ends, epsabs=1e-13, epsrel=1e-12, limit=400)[0]
        for ends in ((-12, min(bend, 14)), (min(bend, 14), 16))
    ]
    return float(sum(pieces))


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("shift", ["0.25", "1", "2"])
def test_delta_of_two_normal_batches_holds_the_integral(shift: str, direction: Direction) -> None:
    law = allocated(GaussianPair(of(shift)), 2).delta
    assert law is not None
    for epsilon in (0.0, 0.1, 0.4, 1.0):
        found, truth = law(of(epsilon), direction), two_normal_batches(float(shift), epsilon, direction)
        assert found.lower_float - 1e-11 <= truth <= found.upper_float + 1e-11
        assert found.upper_float - found.lower_float <= 1e-4 * found.upper_float + 1e-12


@pytest.mark.parametrize(
    ("batches", "delta", "direction", "value"),
    [
        # float convolutions of the likelihood ratio on a lattice of log L, finer than here, by an earlier trial
        (100, "1e-6", Direction.REMOVE, 0.857998),
        (100, "1e-6", Direction.ADD, 0.4864),
    ],
)
def test_the_smallest_epsilon_of_a_hundred_batches(
    batches: int, delta: str, direction: Direction, value: float
) -> None:
    found = allocated(GaussianPair(of(1)), batches).smallest_epsilon(of(delta), direction)
    assert found is not None
    assert found.lower_float <= value * (1 + 1e-4)
    assert value * (1 - 1e-4) <= found.upper_float
    assert found.upper_float - found.lower_float < 1e-3 * found.upper_float


def test_the_poisson_number_is_no_bound() -> None:
    """The classical confusion: Poisson samples at rate 1/t lose less about a record that is added."""
    delta = of("1e-6")
    epoch = allocated(GaussianPair(of(1)), 100).smallest_epsilon(delta, Direction.ADD)
    poisson = SampledGaussian(of(1), of("0.01")).repeated(100).smallest_epsilon(delta, Direction.ADD)
    assert epoch is not None
    assert poisson is not None
    assert poisson.upper < epoch.lower


@pytest.mark.slow
@pytest.mark.parametrize("batches", [7, 100])
@pytest.mark.parametrize("direction", Direction)
def test_sampled_outputs_lie_inside(batches: int, direction: Direction) -> None:
    """Monte Carlo at far more than 99.9 % certainty: six standard errors."""
    rng = np.random.default_rng(20)
    law = allocated(GaussianPair(of(1)), batches).delta
    assert law is not None
    for epsilon in (0.05, 0.3):
        means = np.concatenate([np.exp(rng.standard_normal((2000, batches)) - 0.5).mean(axis=1) for _ in range(100)])
        factor = exp(epsilon)
        losses = np.maximum(means - factor if direction is Direction.REMOVE else 1 - factor * means, 0)
        error = 6 * losses.std() / sqrt(losses.size)
        found = law(of(epsilon), direction)
        assert found.lower_float - error <= losses.mean() <= found.upper_float + error


@pytest.mark.parametrize("direction", Direction)
def test_epochs_compose_on_the_lattice(direction: Direction) -> None:
    """Two epochs of two batches of randomised response, by adding up all outputs of both."""
    response = [Fraction(2, 3), Fraction(1, 3)]
    base = FinitePair(tuple(response), tuple(response[::-1]))
    law = allocated(base, 2).repeated(2).delta
    assert law is not None
    one = []
    for outputs in product(range(2), repeat=2):
        without = response[1 - outputs[0]] * response[1 - outputs[1]]
        one.append(
            (
                (response[outputs[0]] * response[1 - outputs[1]] + response[1 - outputs[0]] * response[outputs[1]]) / 2,
                without,
            )
        )
    for epsilon in ("0.1", "0.5"):
        factor = of(epsilon).exp().midpoint
        pairs = [(p * r, q * s) for p, q in one for r, s in one]
        differences = (p - factor * q if direction is Direction.REMOVE else q - factor * p for p, q in pairs)
        truth = sum((max(difference, Fraction(0)) for difference in differences), Fraction(0))
        found = law(of(epsilon), direction)
        assert found.lower <= truth <= found.upper
        assert found.upper_float - found.lower_float < 2e-3


@pytest.mark.slow
@examples(16)
@given(st.integers(2, 40), st.sampled_from(["0.3", "1", "2.5"]), st.sampled_from(list(Direction)))
def test_more_batches_lose_less_and_never_more_than_one(batches: int, shift: str, direction: Direction) -> None:
    base = GaussianPair(of(shift))
    for level in ("0.05", "0.5"):
        epsilon = of(level)
        found, more = (delta_at(allocated(base, count), epsilon, direction) for count in (batches, 4 * batches))
        assert found.upper <= base.delta(epsilon, direction).upper
        assert more.lower <= found.upper


@pytest.mark.slow
@pytest.mark.parametrize("terms", [2, 3, 10, 1000])
def test_laws_above_and_below_have_the_mean_one(terms: int) -> None:
    law = normal_cells(of(1), Direction.REMOVE)
    assert law.below is not None
    above, below = mean_above(law.above, terms), mean_below(law.below, terms)
    for masses in (above.present, above.absent):
        assert 1 <= masses.sum() <= 1 + 1e-6
    for masses in (below.present, below.absent):
        assert 1 - 1e-6 <= masses.sum() <= 1
    square = [float((a.present[:-2] * np.exp((a.low[:-2] + a.high[:-2]) / 2)).sum()) for a in (below, above)]
    variance = 1 + (exp(1) - 1) / terms  # of the mean of independent ones
    assert square[0] <= variance <= square[1]
    assert square[1] - square[0] < 2e-3 * variance


@pytest.mark.parametrize(
    "base", [LaplacePair(of("0.7")), RandomisedResponsePair(of("0.7"))], ids=["laplace", "response"]
)
def test_other_bases_have_both_ends_and_keep_their_pure_loss(base: Pair) -> None:
    pair = allocated(base, 20)
    found = pair.smallest_epsilon(of("1e-6"), Direction.REMOVE)
    assert found is not None
    assert 0 < found.lower < found.upper < Fraction(7, 10)
    assert found.upper_float - found.lower_float < 1e-3 * found.upper_float
    assert pair.pure is not None
    assert base.pure is not None
    assert pair.pure(Direction.REMOVE) == base.pure(Direction.REMOVE)


def test_what_dominates_an_epoch_bounds_it_in_each_notion() -> None:
    base = GaussianPair(of(1))
    pair = allocated(base, 10)
    assert pair.gaussian == base.gaussian
    assert pair.zero_concentrated == base.zero_concentrated
    assert pair.renyi is not None
    assert pair.renyi(Fraction(2), Direction.ADD).upper == base.renyi(Fraction(2), Direction.ADD).upper
    assert pair.renyi(Fraction(2), Direction.ADD).lower == 0
    # the χ² divergence of the mean is that of one, over t
    assert allocated(base, 1) is base
    replaced = pair.replaced(lambda part: GaussianPair(of(2)) if part == base else part)
    assert replaced == allocated(GaussianPair(of(2)), 10)


def test_losses_too_small_for_the_lattice_are_bounded_by_the_base() -> None:
    base = GaussianPair(of("1e-9"))
    pair = allocated(base, 1 << 20)
    assert delta_at(pair, of("1e-9"), Direction.REMOVE).upper <= base.delta(of("1e-9"), Direction.REMOVE).upper
    assert epsilon_at(pair, of("1e-12"), Direction.ADD).upper >= 0
    found = pair.repeated(3).smallest_epsilon(of("1e-12"), Direction.ADD)
    assert found is not None
    assert found.upper > 0


def test_a_base_whose_losses_have_no_cells_is_bounded_by_itself() -> None:
    base = SampledGaussian(of(1), of("0.5"))
    pair = allocated(base, 5)
    assert pair.loss_cells is None
    assert delta_at(pair, of("0.1"), Direction.REMOVE) == base.delta(of("0.1"), Direction.REMOVE).hull(0)
    assert epsilon_at(pair, of("0.01"), Direction.REMOVE).lower == 0


@pytest.mark.slow
def test_an_epoch_beside_other_releases() -> None:
    together = compose_pairs([allocated(GaussianPair(of(1)), 10), GaussianPair(of("0.5"))])
    alone = GaussianPair(of("0.5")).smallest_epsilon(of("1e-5"), Direction.REMOVE)
    found = together.smallest_epsilon(of("1e-5"), Direction.REMOVE)
    assert alone is not None
    assert found is not None
    assert found.lower > alone.upper


@pytest.mark.parametrize("batches", [0, -1, MOST_TERMS + 1, 2.5, "3", True])
def test_batches_are_a_whole_number_in_range(batches: object) -> None:
    with pytest.raises(CertdpError) as refused:
        RandomAllocation(GaussianPair(of(1)), batches)  # type: ignore[arg-type]
    assert isinstance(refused.value, InvalidValue | InvalidType)
    assert refused.value.parameter == "batches"


def test_a_mean_takes_a_law_without_sampling() -> None:
    law = normal_cells(of(1), Direction.ADD).above
    with pytest.raises(InvalidValue):
        mean_above(law, 3)
    with pytest.raises(InvalidValue):
        mean_below(normal_cells(of(1), Direction.REMOVE).above, 0)


def test_the_number_of_ways_is_not_needed_for_equal_outputs() -> None:
    """A binomial oracle for many batches of randomised response, in both directions."""
    loss, batches = log(3), 30
    pair = allocated(RandomisedResponsePair(of(3).log()), batches)
    ratio = np.array([(3 * k + (batches - k) / 3) / batches for k in range(batches + 1)])
    absent = np.array([comb(batches, k) * 0.25**k * 0.75 ** (batches - k) for k in range(batches + 1)])
    for epsilon in (0.0, 0.2, 0.5):
        for direction in Direction:
            excess = ratio - exp(epsilon) if direction is Direction.REMOVE else 1 - exp(epsilon) * ratio
            truth = float(absent @ np.maximum(excess, 0))
            found = delta_at(pair, of(epsilon), direction)
            assert found.lower_float - 1e-12 <= truth <= found.upper_float + 1e-12
            assert found.upper_float - found.lower_float < 2e-3 * loss


@pytest.mark.parametrize(("rate", "shift", "deltas"), [("1/4", 2, ("0.118", "0.0664")), ("1/2", 4, ("0.45", "0.467"))])
def test_an_allocation_of_sampled_records_is_no_less_than_its_integral(
    rate: str, shift: int, deltas: tuple[str, ...]
) -> None:
    """Its least loss is finite and its greatest is not: 0.118 was stated where 0.11895 is true."""
    pair = RandomAllocation(GaussianGroup(Enclosure.of(shift), Enclosure.of(rate), 1, False), 2)
    q = float(Fraction(rate))
    z = np.linspace(-9, 16, 2001)
    weights = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    ratios = 1 - q + q * np.exp(shift * z - shift * shift / 2)
    means = (ratios[:, np.newaxis] + ratios) / 2
    both = weights[:, np.newaxis] * weights
    for delta in deltas:
        found = pair.smallest_epsilon(Enclosure.of(delta), Direction.REMOVE)
        assert found is not None
        true = float((both * np.maximum(means - np.exp(found.upper_float), 0)).sum())
        assert true <= float(delta) * (1 + 1e-6)
