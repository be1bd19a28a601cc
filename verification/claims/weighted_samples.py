"""Claims about weighted samples as they are drawn (PWS Algorithms 1 and 2), and about ways that are not private.

Legend: g stands for e^ε; q_i the probability of keeping a key of frequency i, π_i that of keeping and reporting it, in
units as they are drawn; u the number that a key draws. Laws are rational and compared without a tolerance, but for
ppswor's rates, which are enclosed by their series.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, prod
from typing import TYPE_CHECKING

from ...accounting.enclosures import Enclosure
from ...accounting.keyed.reporting import (
    DRAWN_BITS,
    EveryKey,
    FrequencyRow,
    FrequencyTable,
    KeyTable,
    ListedRates,
    PoissonPps,
    Ppswor,
)
from ...accounting.notions.approximate import APPROXIMATE, Approximate
from ...accounting.units import Delta, Epsilon, Probability
from ...plugins.contract import Case, Claim, Expectation, Finding
from ..oracles.sanitisers import algorithm_3
from .rates_of_keys import ascending_rates

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_ONE = Fraction(1)
_CERTAIN = 1 << DRAWN_BITS
_SERIES_TERMS = 120
_EXACT = 320
_ROUNDING = Fraction(1, 2**36)
"""A table of up to 12 rows at e^ε ≤ 3: 12 roundings of 2^−52 at most, each grown by at most 3^12 in π, which is ≤ 1."""
_PARTS = 32
"""Of an interval of thresholds, for sums that bound an integral."""


# Algorithm 1


def _decaying(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of e^−x for 0 ≤ x ≤ 8, by its series: the rest is at most the next term and positive.

    e^x = Σ x^k/k!, cut after n terms, errs by at most x^n/n!·1/(1 − x/(n + 1)).
    """
    term, total = _ONE, Fraction(0)
    for k in range(_SERIES_TERMS):
        total += term
        term = term * exponent / (k + 1)
    return 1 / (total + term / (1 - exponent / (_SERIES_TERMS + 1))), 1 / total


def _examine_algorithm_1(case: Case) -> Finding:
    """u ≤ τ·i with u as drawn, for both laws of u, against min(1, τ·i) and 1 − e^{−τ·i}."""
    threshold, frequency = case["threshold"], case["frequency"]
    size = threshold * frequency
    told = (PoissonPps(threshold=threshold).drawn(frequency), Ppswor(threshold=threshold).drawn(frequency))
    least, most = _decaying(size)
    uniform = floor(min(_ONE, size) * _CERTAIN)
    exponential = {floor((1 - most) * _CERTAIN), floor((1 - least) * _CERTAIN)}
    return Finding(
        holds=told[0] == uniform and told[1] in exponential,
        closed_form=f"q_{frequency}·2^{DRAWN_BITS} = {told}",
        independent=f"{uniform} and {sorted(exponential)}",
    )


# Algorithm 2


def _rows(case: Case) -> tuple[list[FrequencyRow], ListedRates, Fraction, Fraction]:
    """The rows of a table, what its sampler keeps, g as it is in units, and δ."""
    rates = ListedRates(tuple(Probability(rate) for rate in case["rates"]))
    epsilon, delta = Epsilon(case["epsilon"]), Delta(case["delta"])
    make = FrequencyTable if case["frequencies"] else KeyTable
    table = make(epsilon=epsilon, delta=delta, inclusion=rates)
    rows = list(table.at(range(1, len(case["rates"]) + 1)))
    return rows, rates, _growth(epsilon.value), delta.value


def _growth(epsilon: Fraction) -> Fraction:
    """Return e^ε, bounded from below."""
    return Enclosure.of(epsilon, precision=_EXACT).exp().lower


def _law(row: FrequencyRow) -> dict[int, Fraction]:
    """The probability of each token of a row, −1 standing for "not reported"."""
    certain = 1 << row.bits
    tokens = {t: Fraction(run.units, certain) for run in row.runs for t in range(run.first, run.end)}
    return tokens | {-1: Fraction(row.unreported, certain)}


def _in_two_stages(row: FrequencyRow, drawn: int) -> dict[int, Fraction] | None:
    """The law where a sampler keeps the key with `drawn`/2^256 and a sanitiser then draws a whole number below `drawn`.

    Each token owns its units, brought to 2^−256, of those numbers; None where they do not suffice.
    """
    finer = DRAWN_BITS - row.bits
    if finer < 0 or row.reported << finer > drawn:
        return None
    kept = Fraction(drawn, _CERTAIN)
    law = {
        t: kept * Fraction(run.units << finer, drawn) for run in row.runs for t in range(run.first, run.end)
    }  # p·q: nothing is reported where drawn = 0
    return law | {-1: 1 - sum(law.values(), Fraction(0))}


def _divergence(growth: Fraction, one: dict[int, Fraction], other: dict[int, Fraction]) -> Fraction:
    zero = Fraction(0)
    return sum((max(zero, p - growth * other.get(token, zero)) for token, p in one.items()), zero)


_NOTHING = {-1: _ONE}


def _examine_algorithm_2(case: Case) -> Finding:
    """Sampling, then sanitising: the end-to-end law is the row's, private, and reports as often as Algorithm 3."""
    rows, rates, growth, delta = _rows(case)
    drawn = [rates.drawn(row.frequency) for row in rows]
    laws = [_in_two_stages(row, units) for row, units in zip(rows, drawn, strict=True)]
    best = algorithm_3(growth, delta, [Fraction(units, _CERTAIN) for units in drawn])
    before, worst = _NOTHING, Fraction(0)
    for row, law, most in zip(rows, laws, best, strict=True):
        if law is None or law != _law(row) or abs(1 - law[-1] - most) > _ROUNDING:
            return Finding(
                holds=False,
                closed_form=f"row {row.frequency}: {_law(row)}",
                independent=f"in two stages: {law}; Algorithm 3 reports with {float(most):.12g}",
            )
        worst = max(worst, _divergence(growth, before, law), _divergence(growth, law, before))
        before = law
    return Finding(
        holds=worst <= delta,
        closed_form=f"{len(rows)} rows, p·q = π exactly; δ = {delta}",
        independent=f"the largest divergence in two stages is {float(worst):.12g}",
    )


# What is not private


def _examine_bottom_k(case: Case) -> Finding:
    """A bottom-1 sample by priorities u/w, sanitised as though its realised threshold had been fixed.

    The threshold is the least τ = u/w of the other keys. The watched key is then sampled with q(τ) = min(1, τ·m) and
    reported with p(τ) = π(τ)/q(τ): end to end ∫π(τ)dF(τ), F being the law of the least of the others. π rises with τ,
    so sums over cells bound the integral. One element of another key is added.
    """
    growth, delta, others, frequency = case["growth"], case["delta"], case["others"], case["frequency"]
    changed = (*others, 1) if case["fresh"] else (others[0] + 1, *others[1:])
    fine = {Fraction(j, _PARTS * frequency) for j in range(3 * _PARTS)}  # π is nearly q from a few times 1/m on
    marks = sorted({mark for mark in fine if mark < 1} | {Fraction(j, _PARTS) for j in range(_PARTS + 1)})
    reported = [
        algorithm_3(growth, delta, [min(_ONE, mark * i) for i in range(1, frequency + 1)])[-1] for mark in marks
    ]
    before, after = (_reported_between(marks, reported, weights) for weights in (others, changed))
    for one, other in ((before, after), (after, before)):
        for what, p, q in (
            ("reported", one[0], other[1]),
            ("not reported", 1 - one[1], 1 - other[0]),
        ):
            if p > growth * q + delta:
                return Finding(
                    holds=False,
                    closed_form=f"e^ε·Pr' + δ ≤ {float(growth * q + delta):.6g} of “{what}”, one element apart",
                    independent=f"Pr ≥ {float(p):.6g}; the other keys count {others} and {changed}",
                )
    return Finding(holds=True, closed_form="(ε, δ)", independent="no event about the watched key contradicts it")


def _reported_between(
    marks: Sequence[Fraction], reported: Sequence[Fraction], others: Sequence[int]
) -> tuple[Fraction, Fraction]:
    """Bounds of ∫π dF: F(τ) = 1 − Π_y(1 − min(1, τ·w_y)) is 1 at τ = 1 already."""
    laws = [1 - prod((1 - min(_ONE, mark * weight) for weight in others), start=_ONE) for mark in marks]
    masses = [high - low for low, high in pairwise(laws)]
    low = sum((mass * value for mass, value in zip(masses, reported, strict=False)), Fraction(0))
    high = sum((mass * value for mass, value in zip(masses, reported[1:], strict=True)), Fraction(0))
    return low, high


def _examine_known_seed(case: Case) -> Finding:
    """A key's number is known: the key is reported, or it is not, with certainty."""
    rows, _, growth, delta = _rows(case)
    position = Fraction(case["number"])
    before, worst = _NOTHING, Fraction(0)
    for row in rows:
        law = {0: _ONE} if position < row.probability else _NOTHING
        worst = max(worst, _divergence(growth, before, law), _divergence(growth, law, before))
        before = law
    return Finding(
        holds=worst <= delta,
        closed_form=f"δ = {delta}",
        independent=f"with u = {position} the largest divergence is {worst}",
    )


def _examine_short_draws(case: Case) -> Finding:
    """A key of frequency 1 is reported where a multiple of 2^−53, drawn uniformly, is below δ."""
    delta, multiples = case["delta"], 2**53
    reported = Fraction(ceil(delta * multiples), multiples)
    return Finding(
        holds=reported <= delta,
        closed_form=f"π = δ = {delta}",
        independent=f"reported with probability {reported}, {float(reported / delta):.6g}·δ, and never at frequency 0",
    )


def _examine_reused_coins(case: Case) -> Finding:
    """Two data sets that differ in the first one, a key drawing one number for both releases.

    "Reported from the first, not from the second" needs π_b ≤ u < π_a at frequencies a and b.
    """
    rows, _, growth, delta = _rows(case)
    reported = [Fraction(0), *(row.probability for row in rows)]
    worst = Fraction(0)
    for second in reported:
        for low, high in pairwise(reported):
            fewer, more = max(Fraction(0), low - second), max(Fraction(0), high - second)
            worst = max(worst, more - growth * fewer, fewer - growth * more)
    return Finding(
        holds=worst <= delta,
        closed_form=f"δ = {float(delta):.6g}",
        independent=f"of one event in both releases Pr − e^ε·Pr' is {float(worst):.6g}",
    )


# Users


def _examine_users(case: Case) -> Finding:
    """Rows c apart, both ways, against (cε, δ(e^{cε} − 1)/(e^ε − 1)), which q ≡ 1 attains from frequency 0 on."""
    rows, _, growth, delta = _rows(case)
    size = case["contributions"]
    laws = [_NOTHING, *map(_law, rows)]
    far = growth**size
    worst = max(
        max(_divergence(far, one, other), _divergence(far, other, one))
        for one, other in zip(laws, laws[size:], strict=False)
    )
    one_element = Approximate(Enclosure.of(case["epsilon"]), Enclosure.of(delta))
    told = APPROXIMATE.group(one_element, size).delta
    geometric = min(_ONE, delta * sum((growth**k for k in range(size)), Fraction(0)))
    close = abs(told.midpoint - geometric) <= _ROUNDING
    return Finding(
        holds=worst <= geometric and close,
        closed_form=f"δ(e^cε − 1)/(e^ε − 1) = {told}",
        independent=f"{float(geometric):.12g}; rows {size} apart diverge by at most {float(worst):.12g}",
    )


def _examine_fewer_users(case: Case) -> Finding:
    """δ·c in place of the geometric sum, at q ≡ 1."""
    epsilon, delta, size = case["epsilon"], case["delta"], case["contributions"]
    growth = _growth(epsilon)
    row = KeyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), inclusion=EveryKey()).row(size)
    worst = _divergence(growth**size, _law(row), _NOTHING)
    return Finding(
        holds=worst <= size * delta,
        closed_form=f"c·δ = {float(size * delta):.12g}",
        independent=f"frequencies 0 and {size} diverge by {float(worst):.12g}",
    )


# Cases


def _threshold_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.integers(1, 1000).flatmap(
        lambda frequency: st.fixed_dictionaries(
            {
                "frequency": st.just(frequency),
                "threshold": st.fractions(Fraction(1, 100_000), Fraction(8, frequency), max_denominator=100_000)
                if frequency > 1
                else st.fractions(Fraction(1, 100_000), 8, max_denominator=100_000),
            }
        )
    )


def _table_cases(frequencies: SearchStrategy[bool], least: int = 1, longest: int = 8) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "epsilon": st.fractions(0, 1, max_denominator=10),
            "delta": st.fractions(Fraction(1, 200), 1, max_denominator=200),
            "rates": ascending_rates(least, longest),
            "frequencies": frequencies,
        }
    )


def _sanitiser_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _table_cases(st.booleans())


def _reused_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _table_cases(st.just(False), 3, 12)


def _delta_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries({"delta": st.builds(lambda places: Fraction(1, 10**places), st.integers(15, 17))})


def _seed_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    numbers = st.fractions(0, 1, max_denominator=64)
    return _table_cases(st.just(False), 2, 12).flatmap(lambda case: numbers.map(lambda u: {**case, "number": u}))


def _group_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    tables = _table_cases(st.booleans(), 4, 8)
    return st.integers(1, 4).flatmap(lambda size: tables.map(lambda case: {**case, "contributions": size}))


def _user_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "epsilon": st.fractions(Fraction(1, 10), 1, max_denominator=10),
            "delta": st.fractions(Fraction(1, 1000), Fraction(1, 100), max_denominator=1000),
            "contributions": st.integers(1, 4),
        }
    )


def _bottom_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "growth": st.sampled_from([Fraction(5, 4), Fraction(3, 2), Fraction(7, 4)]),
            "delta": st.sampled_from([Fraction(1, 1000), Fraction(1, 10_000)]),
            "frequency": st.integers(10, 60),
            "others": st.lists(st.integers(1, 2), min_size=1, max_size=2).map(tuple),
            "fresh": st.booleans(),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="pws/algorithm-1",
        statement="PWS Algorithm 1 and Equation 1",
        says="a key of frequency i is kept with q_i rounded down to 2^−256, for ppswor and for Poisson PPS",
        cases=_threshold_cases,
        examine=_examine_algorithm_1,
    ),
    Claim(
        id="pws/algorithm-2",
        statement="PWS Algorithm 2",
        says="sampling and sanitising afterwards is p·q = π exactly, (ε, δ)-DP, and π is Algorithm 3's up to rounding",
        cases=_sanitiser_cases,
        examine=_examine_algorithm_2,
    ),
    Claim(
        id="pws/bottom-k-sanitised",
        statement="PWS Sec. 3.1, bottom-k samples",
        says="a bottom-k sample, sanitised as though its realised threshold had been fixed, is (ε, δ)-DP",
        cases=_bottom_cases,
        examine=_examine_bottom_k,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="pws/known-seed",
        statement="PWS Algorithm 2, coins that others know",
        says="a release whose coins are known is (ε, δ)-DP",
        cases=_seed_cases,
        examine=_examine_known_seed,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="pws/short-draws",
        statement="PWS Algorithm 2, draws of 53 bits",
        says="a key reported where a uniform multiple of 2^−53 is below π is reported with probability π",
        cases=_delta_cases,
        examine=_examine_short_draws,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="pws/reused-coins",
        statement="PWS Conclusion, coordinated samples",
        says="two releases with the same coins are (ε, δ)-DP for an element of the first data set",
        cases=_reused_cases,
        examine=_examine_reused_coins,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="pws/users",
        statement="PWS Sec. 3.2, neighbours, users of c elements",
        says="rows c apart are (cε, δ(e^{cε} − 1)/(e^ε − 1))-DP",
        cases=_group_cases,
        examine=_examine_users,
    ),
    Claim(
        id="pws/users-of-c-deltas",
        statement="PWS Sec. 3.2, neighbours, users of c elements",
        says="c elements cost (cε, cδ)",
        cases=_user_cases,
        examine=_examine_fewer_users,
        expectation=Expectation.REJECTED,
    ),
)
