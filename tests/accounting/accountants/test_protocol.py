"""What every accountant must do, run on all of them: against exact laws, and at the corners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb

import flint
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.accountants import (
    ADVANCED,
    ALL,
    BASIC,
    BEST,
    GAUSSIAN_DP,
    LOSS_DISTRIBUTION,
    OPTIMAL,
    RENYI,
    ROUNDED_NORMAL,
    ZERO_CONCENTRATED,
    Accountant,
    BestAccountant,
    Finding,
    WorstPairs,
)
from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue, OutsideDomain
from certdp.accounting.pairs import (
    Composed,
    DensityPair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    RenyiCurve,
    Repeated,
    RepeatedResponse,
    Sampled,
    SampledGaussian,
    compose_pairs,
)
from certdp.accounting.relations import Direction
from tests.support.arb_numbers import arb_of, fraction_of
from tests.support.cases import examples

HALF, ONE = Enclosure.of("0.5"), Enclosure.of(1)
_SHARP = Fraction(1, 2**20)
OF_ANY_NOISE = tuple(accountant for accountant in ALL if accountant != ROUNDED_NORMAL)  # that has tests of its own
EVERY = (*OF_ANY_NOISE, BEST)
every = pytest.mark.parametrize("accountant", EVERY, ids=str)
each = pytest.mark.parametrize(
    "accountant", OF_ANY_NOISE, ids=str
)  # where asking all of them once more would only take time

PAIRS: dict[str, Pair] = {
    "laplace": LaplacePair(HALF),
    "response": RandomisedResponsePair(HALF),
    "gaussian": GaussianPair(HALF),
    "sampled laplace": Sampled(LaplacePair(ONE), Enclosure.of("0.3")),
    "sampled gaussian": SampledGaussian(ONE, Enclosure.of("0.1")),
}
pairs = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


def run(*some: Pair) -> WorstPairs:
    return WorstPairs(some, some)


def both(accountant: Accountant, pair: Pair, delta: str = "1e-6", epsilon: str = "0.8") -> list[Finding | None]:
    return [
        accountant.epsilon(run(pair), Enclosure.of(delta)),
        accountant.delta(run(pair), Enclosure.of(epsilon)),
    ]


def agree(one: Finding | None, other: Finding | None, relative: float) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one.upper - other.upper) <= Fraction(relative) * one.upper


# Composition


@each
@pairs
def test_repeating_is_composing_with_itself(accountant: Accountant, pair: Pair) -> None:
    """An accountant that forgets how often a release is repeated answers one of these as if it were one release."""
    several = both(accountant, pair.repeated(6))
    others = [compose_pairs([pair] * 6), compose_pairs([pair.repeated(2).repeated(2), pair, pair])]
    for other in others:
        assert all(agree(a, b, 1e-9) for a, b in zip(several, both(accountant, other), strict=True))
    for many, one in zip(several, both(accountant, pair), strict=True):
        if many is not None and one is not None:
            assert many.upper > one.upper * Fraction(6, 5) or many.upper == 1


@each
def test_the_order_of_releases_does_not_matter(accountant: Accountant) -> None:
    parts = PAIRS["laplace"], PAIRS["sampled gaussian"], PAIRS["response"].repeated(3)
    first, second = (both(accountant, Composed(order)) for order in (parts, parts[::-1]))
    assert all(agree(a, b, 1e-9) for a, b in zip(first, second, strict=True))


@each
@pytest.mark.parametrize(
    "family",
    [
        lambda size: LaplacePair(Enclosure.of(size)).repeated(5),
        lambda size: SampledGaussian(ONE, Enclosure.of(size / 8)).repeated(50),
        lambda size: SampledGaussian(Enclosure.of(size), HALF).repeated(5),
        lambda size: Sampled(LaplacePair(ONE), Enclosure.of(size / 4)).repeated(3),
        lambda size: RandomisedResponsePair(HALF).repeated(int(8 * size)),
        lambda size: LaplacePair(HALF).repeated(int(8 * size)).sampled(HALF),
    ],
    ids=["shift", "rate", "sampled shift", "sampled rate", "times", "times on one sample"],
)
def test_more_never_costs_less(accountant: Accountant, family: Callable[[Fraction], Pair]) -> None:
    answers = [both(accountant, family(Fraction(size))) for size in ("1/2", "1", "2")]
    for question in range(2):
        found = [answer[question] for answer in answers]
        known = [answer.upper for answer in found if answer is not None]
        assert known == sorted(known)


# Against exact laws


def below(value: flint.arb) -> Fraction:
    return fraction_of(value.mid()) - fraction_of(value.rad())


def above(value: flint.arb) -> Fraction:
    return fraction_of(value.mid()) + fraction_of(value.rad())


@pytest.fixture(autouse=True)
def _precise_arb() -> Iterator[None]:
    before, flint.ctx.prec = flint.ctx.prec, 300
    yield
    flint.ctx.prec = before


Exact = Callable[[Fraction], flint.arb]


def gaussian_delta(mu: Fraction) -> Exact:
    def delta(epsilon: Fraction) -> flint.arb:
        half, ratio, root = arb_of(mu / 2), arb_of(epsilon / mu), flint.arb(2).sqrt()
        return ((ratio - half) / root).erfc() / 2 - arb_of(epsilon).exp() * ((ratio + half) / root).erfc() / 2

    return delta


def laplace_delta(shift: Fraction) -> Exact:
    return lambda epsilon: -(arb_of(min(epsilon - shift, Fraction(0))) / 2).expm1()


def responses_delta(factor: Fraction, times: int) -> Exact:
    """Responses with e^ε = factor, by their definition: k truths have probability C(n, k)·factor^k/(1 + factor)^n."""

    def delta(epsilon: Fraction) -> flint.arb:
        gamma, total = arb_of(epsilon).exp(), flint.arb(0)
        for k in range(times + 1):
            here, there = comb(times, k) * factor**k, comb(times, k) * factor ** (times - k)
            gain = arb_of(here) - gamma * arb_of(there)
            total += gain if gain > 0 else gain.max(flint.arb(0))
        return total / arb_of((1 + factor) ** times)

    return delta


def response(factor: Fraction) -> RandomisedResponsePair:
    return RandomisedResponsePair(Enclosure.of(factor - 1).log1p())


KNOWN: dict[str, tuple[Pair, Exact]] = {
    "gaussian": (GaussianPair(HALF).repeated(16), gaussian_delta(Fraction(2))),
    "laplace": (LaplacePair(Enclosure.of(2)), laplace_delta(Fraction(2))),
    "one response": (response(Fraction(3)), responses_delta(Fraction(3), 1)),
    "seven responses": (response(Fraction(3, 2)).repeated(7), responses_delta(Fraction(3, 2), 7)),
    "many responses": (response(Fraction(21, 20)).repeated(150), responses_delta(Fraction(21, 20), 150)),
}
known = pytest.mark.parametrize(("pair", "exact"), KNOWN.values(), ids=KNOWN)


@every
@known
@pytest.mark.parametrize("level", ["0.3", "1e-3", "1e-10"])
def test_epsilon_is_safe_and_a_lower_end_is_true(accountant: Accountant, pair: Pair, exact: Exact, level: str) -> None:
    found = accountant.epsilon(run(pair), Enclosure.of(level))
    assert found is not None
    assert below(exact(found.upper)) <= Fraction(level)
    if found.bounds.two_sided and found.bounds.enclosure.lower > 0:
        assert above(exact(found.bounds.enclosure.lower)) >= Fraction(level)


@every
@known
@pytest.mark.parametrize("level", ["0", "0.5", "1.75", "6"])
def test_delta_is_safe_and_a_lower_end_is_true(accountant: Accountant, pair: Pair, exact: Exact, level: str) -> None:
    found = accountant.delta(run(pair), Enclosure.of(level))
    if found is None:
        return
    truth = exact(Fraction(level))
    assert found.upper >= max(below(truth), Fraction(0))
    if found.bounds.two_sided:
        assert found.bounds.enclosure.lower <= above(truth)


TABLES = (
    (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)),
    (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)),
)
OTHERS = (Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))


def hockey_stick(laws: Sequence[tuple[Sequence[Fraction], Sequence[Fraction]]], factor: Fraction) -> Fraction:
    """The larger divergence of both directions of independent finite laws, by summing over every outcome."""
    sums = [Fraction(0), Fraction(0)]
    for outcome in product(*[range(len(here)) for here, _ in laws]):
        here, there = Fraction(1), Fraction(1)
        for (first, second), index in zip(laws, outcome, strict=True):
            here, there = here * first[index], there * second[index]
        for side, gain in enumerate((here - factor * there, there - factor * here)):
            sums[side] += max(gain, Fraction(0))
    return max(sums)


@each
@examples(4)
@given(factor=st.fractions(1, 4, max_denominator=40), counts=st.tuples(st.integers(1, 3), st.integers(1, 3)))
def test_different_releases_against_every_outcome(
    accountant: Accountant, factor: Fraction, counts: tuple[int, int]
) -> None:
    """Sums over all outcomes of asymmetric and symmetric tables, which no closed form helps with."""
    laws = [TABLES] * counts[0] + [OTHERS] * counts[1]
    pair = Composed((Repeated(FinitePair(*TABLES), counts[0]), FinitePair(*OTHERS).repeated(counts[1])))
    truth = hockey_stick(laws, factor)
    found = accountant.delta(run(pair), Enclosure.of(factor - 1).log1p())
    if found is None:
        return
    assert found.upper >= truth
    if found.bounds.two_sided:
        assert found.bounds.enclosure.lower <= truth
    if accountant is LOSS_DISTRIBUTION:
        assert found.upper <= truth + Fraction(1, 500)


def test_optimal_composition_of_different_losses_against_every_outcome() -> None:
    factors = [Fraction(3, 2), Fraction(5, 4), Fraction(2), Fraction(6, 5), Fraction(9, 8), Fraction(3, 2)]
    laws = [((f / (1 + f), 1 / (1 + f)), (1 / (1 + f), f / (1 + f))) for f in factors]
    pair = compose_pairs(DensityPair(pure_law=_constantly(Enclosure.of(f - 1).log1p())) for f in factors)
    for gamma in (Fraction(1), Fraction(2), Fraction(5)):
        truth, found = hockey_stick(laws, gamma), OPTIMAL.delta(run(pair), Enclosure.of(gamma - 1).log1p())
        assert found is not None
        assert truth <= found.upper <= truth * Fraction(101, 100)
        assert found.theorems[-1].source == "Murtagh, Vadhan 2016"


def _constantly(value: Enclosure) -> Callable[[Direction], Enclosure]:
    return lambda direction: value


@pytest.mark.parametrize("times", [1001, 40_000])
def test_many_responses_are_a_difference_of_tails(times: int) -> None:
    """Against the definition, and where that is long, against Arb's incomplete beta function."""
    factor = Fraction(101, 100)
    epsilon = Fraction(3, 2)
    value = RepeatedResponse(Enclosure.of(factor - 1).log1p(), times).delta(Enclosure.of(epsilon), Direction.REMOVE)
    gain = (arb_of(epsilon) / arb_of(factor).log() + times) / 2
    least = int(fraction_of(gain.mid())) + 1
    assert least - 1 < gain < least
    tails = [
        arb_of(p).beta_lower(least, times - least + 1, regularized=1) for p in (factor / (1 + factor), 1 / (1 + factor))
    ]
    truth = tails[0] - arb_of(epsilon).exp() * tails[1]
    assert value.lower <= above(truth)
    assert value.upper >= below(truth)
    assert value.width <= value.upper / 2**80


# Between accountants


@pairs
@pytest.mark.parametrize("delta", ["0.1", "1e-5", "1e-15"])
def test_no_lower_end_is_above_another_upper_end(pair: Pair, delta: str) -> None:
    pair = pair.repeated(20)
    exactly = LOSS_DISTRIBUTION.epsilon(run(pair), Enclosure.of(delta))
    assert exactly is not None
    assert exactly.bounds.two_sided
    for accountant in ALL:
        found = accountant.epsilon(run(pair), Enclosure.of(delta))
        assert found is None or exactly.bounds.enclosure.lower <= found.upper, accountant


@pairs
def test_the_best_has_the_smallest_upper_end_and_the_largest_lower_end(pair: Pair) -> None:
    for delta in ("0", "1e-5"):
        found = BEST.epsilon(run(pair.repeated(4)), Enclosure.of(delta))
        alone = [accountant.epsilon(run(pair.repeated(4)), Enclosure.of(delta)) for accountant in ALL]
        answers = [answer for answer in alone if answer is not None]
        if found is None:
            assert not answers
            continue
        assert list(found.compared) == answers
        assert found.upper <= min(answer.upper for answer in answers) * (1 + _SHARP)
        lower = [answer.bounds.enclosure.lower for answer in answers if answer.bounds.two_sided]
        assert found.bounds.two_sided == bool(lower)
        assert not lower or found.bounds.enclosure.lower >= max(lower) * (1 - _SHARP)
        assert found in answers or not found.bounds.sharp


@pytest.mark.slow
def test_what_settles_a_question_leaves_the_others_unasked_until_they_are_looked_at() -> None:
    asked: list[Accountant] = []

    @frozen
    class Slow(Accountant):
        name = "slow"
        theorems = ()

        def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
            asked.append(self)
            return RENYI.epsilon(pairs, delta)

        def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
            return RENYI.delta(pairs, epsilon)

    best = BestAccountant((Slow(), LOSS_DISTRIBUTION))
    answer = best.epsilon(run(PAIRS["sampled gaussian"].repeated(9)), Enclosure.of("1e-5"))
    assert answer is not None
    assert (answer.accountant, answer.bounds.sharp, asked) == (LOSS_DISTRIBUTION, True, [])
    assert [one.accountant for one in answer.compared] == [RENYI, LOSS_DISTRIBUTION]
    assert len(asked) == 1
    assert len(answer.compared) == 2
    assert len(asked) == 1
    loose = WorstPairs((Sampled(LaplacePair(Enclosure.of(1).widen(Fraction(1, 100))), HALF),), ())
    left = best.epsilon(loose, Enclosure.of("1e-2"))
    assert left is not None
    assert (len(asked), left.bounds.sharp) == (2, False)


def test_the_best_asks_whom_it_is_told_to() -> None:
    chosen = BestAccountant((RENYI, GAUSSIAN_DP)).epsilon(run(GaussianPair(ONE)), Enclosure.of("1e-5"))
    assert chosen is not None
    assert (chosen.accountant, len(chosen.compared)) == (GAUSSIAN_DP, 2)
    with pytest.raises(InvalidValue, match="at least one accountant"):
        BestAccountant(())


def test_what_nobody_can_compute_is_refused_and_not_called_unknown() -> None:
    @frozen
    class Refusing(Accountant):
        name = "refusing"
        theorems = ()

        def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
            raise OutsideDomain("too large a number")

        def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
            return None

    asked, at = run(GaussianPair(ONE)), Enclosure.of("1e-5")
    for accountants in ((Refusing(),), (BASIC, Refusing()), (Refusing(), BASIC)):
        with pytest.raises(OutsideDomain, match="too large a number"):
            BestAccountant(accountants).epsilon(asked, Enclosure.of(0))
        assert BestAccountant((*accountants, GAUSSIAN_DP)).epsilon(asked, at) is not None
    assert BestAccountant((Refusing(),)).delta(asked, at) is None


def test_gaussian_noise_that_loses_nothing_has_an_epsilon_of_0_without_a_delta() -> None:
    found = GAUSSIAN_DP.epsilon(run(GaussianPair(Enclosure.of(0))), Enclosure.of(0))
    assert found is not None
    assert found.upper == 0
    assert GAUSSIAN_DP.epsilon(run(GaussianPair(ONE)), Enclosure.of(0)) is None


@pytest.mark.parametrize("times", [1, 3, 40, 4000])
@pytest.mark.parametrize("delta", ["1e-2", "1e-9"])
def test_pure_losses_basic_advanced_optimal(times: int, delta: str) -> None:
    """Each improves on the one before; advanced composition is the formula of its theorem."""
    own = 0.01
    pair = DensityPair(pure_law=_constantly(Enclosure.of(own))).repeated(times)
    found = [accountant.epsilon(run(pair), Enclosure.of(delta)) for accountant in (BASIC, ADVANCED, OPTIMAL)]
    uppers = [answer.upper for answer in found if answer is not None]
    assert len(uppers) == 3
    assert uppers == sorted(uppers, reverse=True)
    assert uppers[1] == pytest.approx(_theorem_3_5([own] * times, float(delta)), rel=1e-12)
    if times == 4000:
        assert uppers[2] < uppers[1] < uppers[0]


def _theorem_3_5(losses: Sequence[float], delta: float) -> float:
    from math import e, exp, expm1, log, sqrt

    mean = sum(loss * expm1(loss) / (exp(loss) + 1) for loss in losses)
    squares = sum(loss * loss for loss in losses)
    return min(
        sum(losses),
        mean + sqrt(2 * squares * log(e + sqrt(squares) / delta)),
        mean + sqrt(2 * squares * log(1 / delta)),
    )


# Worst pairs


@every
def test_upper_ends_come_from_bounding_pairs_and_lower_ends_from_reached_ones(accountant: Accountant) -> None:
    small, large = LaplacePair(HALF).repeated(3), LaplacePair(ONE).repeated(3)
    other = Sampled(LaplacePair(Enclosure.of(2)), HALF).repeated(3)
    delta = Enclosure.of("1e-3")
    worst = accountant.epsilon(WorstPairs((large, other), (small,)), delta)
    each = [accountant.epsilon(run(pair), delta) for pair in (large, other)]
    least = LOSS_DISTRIBUTION.epsilon(run(small), delta)
    assert worst is not None
    assert least is not None
    assert worst.upper >= max(answer.upper for answer in each if answer is not None) * (1 - Fraction(1, 10**9))
    assert not worst.bounds.two_sided or worst.bounds.enclosure.lower <= least.upper
    for question in (accountant.epsilon, accountant.delta):
        unreached = question(WorstPairs((large, other), ()), delta)
        assert unreached is None or not unreached.bounds.two_sided or unreached.upper == 0


@every
def test_a_notion_that_does_not_follow_gives_nothing(accountant: Accountant) -> None:
    only_renyi = RenyiCurve(lambda order: Enclosure.of(order) / 10).repeated(3)
    pairs_of = WorstPairs((only_renyi, GaussianPair(HALF)), ())
    found = accountant.epsilon(pairs_of, Enclosure.of("1e-5"))
    assert (found is None) == (accountant not in (RENYI, BEST))
    assert accountant.epsilon(pairs_of, Enclosure.of(0)) is None


# Corners

TRILLIONTH, RARE = Enclosure.of("1e-12"), Fraction(1, 10**8)
CORNERS: dict[str, Pair] = {
    "rate 0": SampledGaussian(ONE, Enclosure.of(0)).repeated(10),
    "laplace at rate 0": Sampled(LaplacePair(ONE), Enclosure.of(0)).repeated(10),
    "rate 1": SampledGaussian(ONE, Enclosure.of(1)).repeated(10),
    "rate 1e-12": SampledGaussian(ONE, TRILLIONTH).repeated(1000),
    "no noise": SampledGaussian(Enclosure.of(10**6), Enclosure.of("0.01")).repeated(10),
    "all noise": SampledGaussian(Enclosure.of("1e-6"), Enclosure.of("0.01")).repeated(1000),
    "a billion normals": GaussianPair(Enclosure.of("1e-4")).repeated(10**9),
    "a billion responses": RandomisedResponsePair(Enclosure.of("1e-5")).repeated(10**9),
    "a billion responses that tell": RandomisedResponsePair(ONE).repeated(10**9),
    "infinite loss": FinitePair((Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0))).repeated(3),
    "rare infinite loss": Repeated(
        FinitePair((Fraction(1, 10**8), 1 - Fraction(1, 10**8)), (Fraction(0), Fraction(1))), 9
    ),
    "huge loss": LaplacePair(Enclosure.of(10**6)).repeated(3),
}


SLOW = {"rate 1e-12", "all noise", "a billion responses that tell"}


@each
@pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, id=name, marks=[pytest.mark.soundness] * (name in SLOW)) for name, pair in CORNERS.items()],
)
def test_corners_have_a_proven_answer_or_a_clear_error(accountant: Accountant, pair: Pair) -> None:
    questions = [(accountant.epsilon, ("0", "1e-300", "1e-5", "1")), (accountant.delta, ("0", "1", "1e6"))]
    for question, levels in questions:
        for level in levels:
            try:
                found = question(run(pair), Enclosure.of(level))
            except OutsideDomain as refused:
                assert str(refused)  # noqa: PT017 - the error is one of two right outcomes
                continue
            if found is None:
                continue
            value = found.bounds.enclosure
            assert 0 <= value.lower <= value.upper
            if question == accountant.epsilon and level == "1":
                assert value.upper == 0
            if question == accountant.delta:
                assert value.upper <= 1


UNCERTAIN = [("0", "1e-3"), ("1e-9", "1e-3"), ("1e-3", "1")]
_AS_GOOD = 1 - Fraction(1, 10**9)


@each
@pairs
@pytest.mark.parametrize(("low", "high"), UNCERTAIN)
def test_a_bound_holds_for_every_number_of_an_uncertain_one(
    accountant: Accountant, pair: Pair, low: str, high: str
) -> None:
    """So it is as large as at the least of them, and its lower end as small as at the largest."""
    for ask in (accountant.epsilon, accountant.delta):
        found = ask(run(pair), Enclosure.between(low, high))
        if found is None:
            continue
        least, largest = (ask(run(pair), Enclosure.of(end)) for end in (low, high))
        assert least is not None
        assert found.upper >= least.upper * _AS_GOOD
        if found.bounds.two_sided:
            assert largest is not None
            assert found.bounds.enclosure.lower * _AS_GOOD <= largest.upper


@every
def test_a_record_that_is_never_drawn_loses_nothing(accountant: Accountant) -> None:
    for name in ("rate 0", "laplace at rate 0"):
        found = accountant.epsilon(run(CORNERS[name]), Enclosure.of("1e-9"))
        assert found is None or found.upper == 0 or accountant in (GAUSSIAN_DP, ZERO_CONCENTRATED)


def test_every_accountant_says_what_it_is() -> None:
    names = [accountant.name for accountant in EVERY]
    assert len(set(names)) == len(names)
    for accountant in EVERY:
        found = accountant.epsilon(run(PAIRS["laplace"].repeated(5)), Enclosure.of("1e-4"))
        assert found is not None
        assert set(found.theorems) <= set(accountant.theorems)
        assert all(isinstance(theorem, Theorem) for theorem in accountant.theorems)
        assert str(accountant) == accountant.name
