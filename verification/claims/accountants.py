"""Claims of the accountants: each against the composed laws themselves, summed outcome by outcome as exact rationals.

Legend: g = e^ε is rational here, for the releases' own losses and for the ε that is asked about, so δ is rational, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...accounting.accountants import ADVANCED, ALL, BASIC, LOSS_DISTRIBUTION, OPTIMAL, RENYI, Accountant, WorstPairs
from ...accounting.accountants.trade_off import trade_off
from ...accounting.enclosures import Enclosure
from ...accounting.pairs import FinitePair, Pair, RandomisedResponsePair, Repeated, compose_pairs
from ...accounting.relations import Direction
from ...plugins.contract import Case, Claim, Expectation, Finding
from . import discrete_noise
from .enclosed import enclosed, enclosed_log
from .finite import hockey_stick, law, randomised_response
from .pairs import Tables, independent

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Rule: TypeAlias = Callable[[Fraction, int, Fraction], Enclosure]
"""ε from the loss e^ε of one release, the number of releases, and δ."""

_GAP = Fraction(1, 200)


def _run(pair: Pair) -> WorstPairs:
    return WorstPairs((pair,), (pair,))


def _formatted(value: Enclosure | Fraction) -> str:
    return str(value) if isinstance(value, Enclosure) else f"{float(value)!r}"


def _delta(tables: Tables, factor: Fraction) -> Fraction:
    """The larger divergence of both directions at e^ε = factor."""
    first, second = tables
    return max(hockey_stick(first, second, factor), hockey_stick(second, first, factor))


def _responses(factor: Fraction, times: int) -> Tables:
    """Repeated randomised response by its number of truths: outcomes of the same ratio are one."""
    total = (1 + factor) ** times
    here = tuple(comb(times, k) * factor**k / total for k in range(times + 1))
    return here, here[::-1]


# Equal pure losses


def _by(accountant: Accountant) -> Rule:
    def rule(factor: Fraction, times: int, delta: Fraction) -> Enclosure:
        found = accountant.epsilon(_run(RandomisedResponsePair(enclosed_log(factor)).repeated(times)), enclosed(delta))
        assert found is not None
        return found.bounds.enclosure

    return rule


def _without_the_mean(factor: Fraction, times: int, delta: Fraction) -> Enclosure:
    """A wrong form: the mean loss is left out."""
    own = enclosed_log(factor)
    return own * (enclosed(2 * times) * -enclosed(delta).log()).sqrt()


def _halved(factor: Fraction, times: int, delta: Fraction) -> Enclosure:
    """A wrong form: √(k·log(1/δ)/2), as for losses between 0 and ε."""
    own = enclosed_log(factor)
    mean = RandomisedResponsePair(own).zero_concentrated * times
    return mean + own * (enclosed(Fraction(times, 2)) * -enclosed(delta).log()).sqrt()


def _examine_rule(case: Case, rule: Rule) -> Finding:
    """Whether the responses, which the rule must cover, have at most δ at its ε."""
    factor, times, delta = case["factor"], case["times"], case["delta"]
    epsilon = rule(factor, times, delta)
    direct = _delta(_responses(factor, times), max(epsilon.exp().upper, Fraction(1)))
    return Finding(
        holds=direct <= delta,
        closed_form=f"ε = {_formatted(epsilon)} at δ = {delta}",
        independent=f"{times} responses with e^ε = {factor} have δ = {_formatted(direct)} there",
    )


def _examine_optimal(case: Case) -> Finding:
    """For equal losses the bound is the responses' own δ, and nothing else."""
    factor, times, asked = case["factor"], case["times"], case["asked"]
    pair = RandomisedResponsePair(enclosed_log(factor)).repeated(times)
    found = OPTIMAL.delta(_run(pair), enclosed_log(asked))
    direct = _delta(_responses(factor, times), asked)
    assert found is not None
    return Finding(
        holds=direct <= found.upper <= direct + Fraction(1, 2**60),
        closed_form=_formatted(found.bounds.enclosure),
        independent=_formatted(direct),
    )


# Different releases


def _composition(case: Case) -> tuple[Pair, Tables]:
    """Two tables, one of them twice, and a response."""
    first, second = ((law(here), law(there)) for here, there in (case["one"], case["other"]))
    response = randomised_response(case["factor"])
    pairs = [Repeated(FinitePair(*first), 2), FinitePair(*second), RandomisedResponsePair(enclosed_log(case["factor"]))]
    return compose_pairs(pairs), independent([first, first, second, response])


def _examine_all(case: Case) -> Finding:
    """No accountant is below the composed laws, and no lower end above them."""
    pair, tables = _composition(case)
    asked = case["asked"]
    direct = _delta(tables, asked)
    found = {a.name: a.delta(_run(pair), enclosed_log(asked)) for a in ALL}
    known = {name: finding for name, finding in found.items() if finding is not None}
    return Finding(
        holds=len(known) > 2
        and all(
            direct <= finding.upper and (not finding.bounds.two_sided or finding.bounds.enclosure.lower <= direct)
            for finding in known.values()
        ),
        closed_form=", ".join(f"{name}: {finding.bounds.enclosure}" for name, finding in known.items()),
        independent=_formatted(direct),
    )


def _examine_loss_distribution(case: Case) -> Finding:
    """The loss distribution is close to the composed laws, and never above Rényi accounting from below."""
    pair, tables = _composition(case)
    asked = case["asked"]
    direct, found = _delta(tables, asked), LOSS_DISTRIBUTION.delta(_run(pair), enclosed_log(asked))
    renyi = RENYI.delta(_run(pair), enclosed_log(asked))
    assert found is not None
    assert renyi is not None
    value = found.bounds.enclosure
    return Finding(
        holds=value.lower <= direct <= value.upper <= direct + _GAP and value.lower <= renyi.upper,
        closed_form=f"{value}, by Rényi accounting {renyi.bounds.enclosure}",
        independent=_formatted(direct),
    )


def _examine_repetition(case: Case, repeated: Callable[[Pair, int], Pair]) -> Finding:
    """Repeating a release is composing it with itself, for every accountant."""
    one = FinitePair(*((law(row)) for row in case["one"]))
    tables = independent([(one.present, one.absent)] * 3)
    direct = _delta(tables, case["asked"])
    found = [a.delta(_run(repeated(one, 3)), enclosed_log(case["asked"])) for a in ALL]
    uppers = [finding.upper for finding in found if finding is not None]
    return Finding(
        holds=all(direct <= upper for upper in uppers),
        closed_form=", ".join(map(_formatted, uppers)),
        independent=f"three releases have δ = {_formatted(direct)}",
    )


# A transform without a round-off term


def _plain_fft(factor: Fraction, times: int, asked: Fraction) -> Fraction:
    """δ by NumPy's FFT of the losses of a response on their own lattice, to the power of the number of releases."""
    points = 1 << (2 * times).bit_length()
    masses = np.zeros(points)
    likely = float(factor / (1 + factor))
    masses[0], masses[1] = 1 - likely, likely
    composed = np.fft.irfft(np.fft.rfft(masses) ** times, points)[: times + 1]
    log_asked, own = float(np.log(float(asked))), float(np.log(float(factor)))
    gains = -np.expm1(np.minimum(log_asked - own * (2 * np.arange(times + 1) - times), 0.0))
    return Fraction(float(composed @ gains))


def _exact_tails(factor: Fraction, times: int, asked: Fraction) -> Fraction:
    value = RandomisedResponsePair(enclosed_log(factor)).repeated(times).delta
    assert value is not None
    return value(enclosed_log(asked), Direction.REMOVE).upper


def _examine_transform(
    case: Case, delta: Callable[[Fraction, int, Fraction], Fraction], room: Fraction = Fraction(0)
) -> Finding:
    """Whether an upper bound of a small δ is one, but for a relative error that is let pass."""
    factor, times, asked = case["factor"], case["times"], case["asked"]
    direct, found = _delta(_responses(factor, times), asked), delta(factor, times, asked)
    return Finding(holds=found >= direct * (1 - room), closed_form=_formatted(found), independent=_formatted(direct))


# The trade-off curve


def _second_error(tables: Tables, alpha: Fraction) -> Fraction:
    """The least second error of a test with this first error: outputs are rejected by their ratio."""
    left, power = alpha, Fraction(0)
    for p, q in sorted(zip(*tables, strict=True), key=lambda masses: masses[0] / masses[1]):
        share = min(left / p, Fraction(1))
        left, power = left - share * p, power + share * q
    return 1 - power


def _examine_trade_off(case: Case) -> Finding:
    """The curve of repeated responses encloses their most powerful test, in both directions alike."""
    factor, times, alpha = case["factor"], case["times"], case["alpha"]
    pair = RandomisedResponsePair(enclosed_log(factor)).repeated(times)
    law_of = pair.delta
    assert law_of is not None
    farthest = (enclosed_log(factor) * times).upper_float
    value = trade_off(lambda epsilon: law_of(epsilon, Direction.REMOVE), farthest, places=24).at(alpha)
    direct = _second_error(_responses(factor, times), alpha)
    return Finding(
        holds=value.lower <= direct <= value.upper, closed_form=_formatted(value), independent=_formatted(direct)
    )


# Cases


def _factors(largest: int) -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(Fraction(51, 50), largest, max_denominator=50)


def _equal_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "factor": _factors(3),
            "times": st.integers(1, 60),
            "delta": st.sampled_from([Fraction(1, 10**digits) for digits in range(1, 13)]),
            "asked": st.fractions(1, 20, max_denominator=20),
        }
    )


def _tables() -> SearchStrategy[tuple[tuple[int, ...], tuple[int, ...]]]:
    from hypothesis import strategies as st

    def of_shape(outputs: int) -> SearchStrategy[tuple[tuple[int, ...], tuple[int, ...]]]:
        row = st.tuples(*[st.integers(1, 9)] * outputs)
        return st.tuples(row, row)

    return st.integers(2, 4).flatmap(of_shape)


def _different_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "one": _tables(),
            "other": _tables(),
            "factor": _factors(3),
            "asked": st.fractions(1, 10, max_denominator=12),
        }
    )


def _small_cases() -> SearchStrategy[Case]:
    """Where δ is near or far below the round-off of a transform."""
    from hypothesis import strategies as st

    def small_case(factor: Fraction, times: int, eighths: int) -> Case:
        return {"factor": factor, "times": times, "asked": factor ** (times * eighths // 8)}

    factors = st.fractions(Fraction(11, 10), Fraction(3, 2), max_denominator=10)
    return st.builds(small_case, factors, st.integers(60, 200), st.integers(4, 7))


def _test_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "factor": _factors(4),
            "times": st.integers(1, 8),
            "alpha": st.fractions(0, 1, max_denominator=40),
        }
    )


def _once(pair: Pair, times: int) -> Pair:
    """A wrong composition: the number of releases is lost."""
    return pair


_THEOREM_3_5 = "Kairouz, Oh, Viswanath 2015, Theorem 3.5"

CLAIMS: Sequence[Claim] = (
    Claim(
        id="accounting/basic-composition",
        statement="composition, law of approximate DP",
        says="k releases that are (ε, 0)-DP are (kε, 0)-DP",
        cases=_equal_cases,
        examine=lambda case: _examine_rule(case, _by(BASIC)),
    ),
    Claim(
        id="accounting/advanced-composition",
        statement=_THEOREM_3_5,
        says="ε' = min{kε, kε·tanh(ε/2) + ε√(2k·log(e + ε√k/δ)), kε·tanh(ε/2) + ε√(2k·log(1/δ))}",
        cases=_equal_cases,
        examine=lambda case: _examine_rule(case, _by(ADVANCED)),
    ),
    Claim(
        id="accounting/advanced-composition-without-mean",
        statement=f"{_THEOREM_3_5}, a wrong form",
        says="ε' = ε√(2k·log(1/δ))",
        cases=_equal_cases,
        examine=lambda case: _examine_rule(case, _without_the_mean),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="accounting/advanced-composition-halved",
        statement=f"{_THEOREM_3_5}, a wrong form",
        says="ε' = kε·tanh(ε/2) + ε√(k·log(1/δ)/2)",
        cases=_equal_cases,
        examine=lambda case: _examine_rule(case, _halved),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="accounting/optimal-composition",
        statement="Kairouz, Oh, Viswanath 2015, Theorem 3.3",
        says="the δ of k releases that are ε-DP is that of k randomised responses, and no smaller one holds",
        cases=_equal_cases,
        examine=_examine_optimal,
    ),
    Claim(
        id="accounting/every-accountant",
        statement="composition of different releases",
        says="no accountant's δ is below the composed laws', no lower end above it",
        cases=_different_cases,
        examine=_examine_all,
    ),
    Claim(
        id="accounting/loss-distribution",
        statement="composition of privacy-loss distributions on a lattice",
        says="δ(ε) of the composed laws lies between both ends, and these close together",
        cases=_different_cases,
        examine=_examine_loss_distribution,
    ),
    Claim(
        id="accounting/repetition",
        statement="n-fold composition",
        says="a release repeated n times costs what n of them cost, for every accountant",
        cases=_different_cases,
        examine=lambda case: _examine_repetition(case, Pair.repeated),
    ),
    Claim(
        id="accounting/repetition-forgotten",
        statement="n-fold composition, a wrong form",
        says="a release repeated n times costs what one costs",
        cases=_different_cases,
        examine=lambda case: _examine_repetition(case, _once),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="accounting/small-delta",
        statement="δ near and below 1e-10",
        says="the upper end of a small δ of repeated responses is not below it",
        cases=_small_cases,
        examine=lambda case: _examine_transform(case, _exact_tails),
    ),
    Claim(
        id="accounting/small-delta-by-plain-fft",
        statement="δ near and below 1e-10, a wrong computation",
        says="a fast Fourier transform in binary64 finds δ to a thousandth without a term for its round-off",
        cases=_small_cases,
        examine=lambda case: _examine_transform(case, _plain_fft, Fraction(1, 1000)),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="accounting/trade-off",
        statement="Dong, Roth, Su 2022, Propositions 2.12 and 2.13; Neyman, Pearson 1933",
        says="f(α) = sup_ε max(0, 1 − δ(ε) − e^ε·α, e^−ε·(1 − δ(ε) − α)) lies between both ends",
        cases=_test_cases,
        examine=_examine_trade_off,
    ),
    *discrete_noise.CLAIMS,
)
