"""Claims of PWS Sections 4 to 7 about tables and estimates, against exact algorithms and linear programmes.

Legend: g stands for e^ε and is a rational number here, for rational ε one that agrees to 2^−140. The linear programmes
are over all next rows that (ε, δ)-DP admits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import islice, pairwise, product
from math import prod
from typing import TYPE_CHECKING

from ...accounting.enclosures import Enclosure, Truth
from ...accounting.expressions import expm1
from ...accounting.keyed.estimates import (
    concordance,
    estimated_sum,
    inverse_probability,
    inverse_probability_moments,
    maximum_likelihood,
    moments,
)
from ...accounting.keyed.key_sanitiser import KeyReporting
from ...accounting.keyed.reporting import (
    FrequencyNoise,
    FrequencyRow,
    FrequencyTable,
    KeyTable,
    ListedRates,
    PoissonPps,
    Ppswor,
    Run,
)
from ...accounting.units import Delta, Epsilon, Probability
from ...plugins.contract import Case, Claim, Expectation, Finding, Proof
from ..oracles.sanitisers import (
    Piece,
    Row,
    algorithm_3,
    algorithm_4,
    algorithm_5,
    aligned,
    best_next,
    discrete,
    divergence,
    order_probability,
    printed_cost,
)
from .rates_of_keys import ascending_rates
from .subdivision import prove, quantity

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_ONE = Fraction(1)
_EXACT = 160
_NEGLIGIBLE = Fraction(1, 2**120)
_ROUNDING = Fraction(1, 2**36)
"""A table of up to 6 rows and 64 tokens at e^ε ≤ 3: 6 · 64 roundings of 2^−52 at most, each grown by at most 3^6."""
_SUBDIVISION = 32
_SUBDIVIDED = Fraction(1, 2**26)
"""Rounding two breakpoints in each of 6 rows to multiples of 2^−32, each grown by at most 3^6."""


def _tails(growth: Fraction, delta: Fraction, rows: Sequence[Row], parts: int) -> Finding:
    """Whether the last row has the largest probability beyond every token, given the row before."""
    before, row = rows[-2:] if len(rows) > 1 else (Row(_ONE, ()), rows[-1])
    cells = list(aligned(before, row, parts=parts))
    for start, *_ in cells:
        if start > len(rows) - 1:
            continue  # the tokens of the last frequency are interchangeable
        gains = [Fraction(cell[0] >= start) for cell in cells]
        best = best_next(growth, delta, before, row, gains, parts)
        if best != row.above(start):
            return Finding(
                holds=False,
                closed_form=f"Pr[token > {start}] = {float(row.above(start)):.12g} at frequency {len(rows)}",
                independent=f"the linear programme's maximum is {float(best):.12g}",
            )
    return Finding(holds=True, closed_form="every tail of the row", independent="the linear programmes' maxima")


def _rational_growth(epsilon: Fraction) -> Fraction:
    return Enclosure.of(epsilon, precision=_EXACT).exp().lower


def _units(case: Case) -> tuple[Epsilon, Delta, ListedRates]:
    rates = ListedRates(tuple(Probability(rate) for rate in case["rates"]))
    return Epsilon(case["epsilon"]), Delta(case["delta"]), rates


def _exactly(row: FrequencyRow) -> Row:
    """A row of the tables as densities."""
    tokens, certain = 1 << row.subdivision, 1 << row.bits

    def piece(run: Run) -> Piece:
        return Piece(Fraction(run.first, tokens), Fraction(run.end, tokens), Fraction(run.units * tokens, certain))

    return Row(Fraction(row.unreported, certain), tuple(map(piece, row.runs)))


def _farthest(one: Row, other: Row) -> Fraction:
    """The largest difference of two distribution functions."""
    edges = [start for start, *_ in aligned(one, other)]
    differences = [abs(one.above(edge) - other.above(edge)) for edge in (Fraction(0), *edges)]
    return max(differences)


def _compared(table: Sequence[FrequencyRow], exact: Sequence[Row], tolerance: Fraction) -> Finding:
    """Rows of a table against exact ones."""
    far = max(_farthest(_exactly(row), other) for row, other in zip(table, exact, strict=True))
    return Finding(
        holds=far <= tolerance,
        closed_form=f"the distribution functions of {len(table)} rows",
        independent=f"the exact algorithm's are within {float(far):.3g}",
    )


# Algorithms 4 and 5 as they are drawn


def _examine_algorithm_4(case: Case) -> Finding:
    epsilon, delta, rates = _units(case)
    table = FrequencyTable(epsilon=epsilon, delta=delta, inclusion=rates)
    exact = algorithm_4(_rational_growth(epsilon.value), delta.value, case["rates"])
    return _compared(list(table.rows()), list(map(discrete, exact)), _ROUNDING)


def _examine_algorithm_5(case: Case) -> Finding:
    epsilon, delta, rates = _units(case)
    table = FrequencyTable(epsilon=epsilon, delta=delta, inclusion=rates, subdivision=_SUBDIVISION)
    exact = algorithm_5(_rational_growth(epsilon.value), delta.value, case["rates"])
    return _compared(list(table.rows()), exact, _SUBDIVIDED)


def _drawn(case: Case) -> tuple[list[FrequencyRow], Fraction, Fraction]:
    epsilon, delta, rates = _units(case)
    table = FrequencyTable(epsilon=epsilon, delta=delta, inclusion=rates, subdivision=case["subdivision"])
    return list(table.rows()), _rational_growth(epsilon.value), delta.value


def _examine_property_1(case: Case) -> Finding:
    """Rows add up to 1, and report at most q_i and at most, and nearly, π_i."""
    rows, growth, delta = _drawn(case)
    best = algorithm_3(growth, delta, case["rates"])
    sums = all(row.unreported + sum(run.mass for run in row.runs) == 1 << row.bits for row in rows)
    # g is a little below e^ε, so `best` is a little below the optimum
    near = all(
        0 <= b + _NEGLIGIBLE - row.probability <= _ROUNDING
        and row.probability <= min(q, Fraction(row.kept, 1 << row.bits))
        for row, b, q in zip(rows, best, case["rates"], strict=True)
    )
    return Finding(
        holds=sums and near,
        closed_form=f"reported: {[float(row.probability) for row in rows]}",
        independent=f"Algorithm 3: {[float(b) for b in best]}",
    )


def _examine_property_2(case: Case) -> Finding:
    """(ε, δ)-DP of the rows as drawn, at a growth below e^ε: stricter than needed."""
    rows, growth, delta = _drawn(case)
    exact = [Row(_ONE, ()), *map(_exactly, rows)]
    worst = max(max(divergence(growth, a, b), divergence(growth, b, a)) for a, b in pairwise(exact))
    return Finding(
        holds=worst <= delta,
        closed_form=f"δ = {delta}",
        independent=f"the largest divergence of neighbouring rows is {float(worst):.15g}",
    )


def _examine_property_3(case: Case) -> Finding:
    """Algorithm 5's tails, at the edges of its pieces and in their middle, are the largest of all next rows."""
    growth, delta, rates = case["growth"], case["delta"], case["rates"]
    return _tails(growth, delta, algorithm_5(growth, delta, rates), 2)


def _examine_restricted(case: Case) -> Finding:
    """Algorithm 4's tails are the largest among next rows with one token more."""
    growth, delta, rates = case["growth"], case["delta"], case["rates"]
    exact = [discrete(row) for row in algorithm_4(growth, delta, rates)]
    return _tails(growth, delta, exact, 1)


def _examine_corollary(case: Case) -> Finding:
    """Neighbouring frequencies are concordant as often as any next row makes them."""
    growth, delta = case["growth"], case["delta"]
    rows = [Row(_ONE, ()), *algorithm_5(growth, delta, case["rates"])]
    before, row = rows[-2:]
    cells = list(aligned(before, row, parts=2))
    gains = [before.unreported + (1 - before.unreported - before.above(a)) + low / 2 for a, _, low, _ in cells]
    best = best_next(growth, delta, before, row, gains, 2) + before.unreported * row.unreported / 2
    found = order_probability(before, row)
    return Finding(
        holds=best == found,
        closed_form=f"concordant with probability {float(found):.12g}",
        independent=f"the linear programme's maximum is {float(best):.12g}",
    )


# Wrong forms


def _examine_printed_cost(case: Case) -> Finding:
    """Algorithm 5 with D as printed."""
    growth, delta = case["growth"], case["delta"]
    return _private(growth, delta, algorithm_5(growth, delta, case["rates"], printed_cost))


def _examine_garbled_line(case: Case) -> Finding:
    """Algorithm 4 without lower limits."""
    growth, delta = case["growth"], case["delta"]
    return _private(growth, delta, list(map(discrete, algorithm_4(growth, delta, case["rates"], lower_limits=False))))


def _private(growth: Fraction, delta: Fraction, rows: Sequence[Row]) -> Finding:
    worst, frequency = max(
        (max(divergence(growth, a, b), divergence(growth, b, a)), i)
        for i, (a, b) in enumerate(pairwise([Row(_ONE, ()), *rows]), start=1)
    )
    return Finding(
        holds=worst <= delta,
        closed_form=f"δ = {delta}",
        independent=f"rows {frequency - 1} and {frequency} differ by {float(worst):.12g} at e^ε = {growth}",
    )


def _examine_every_crossover(case: Case) -> Finding:
    """Algorithm 4 orders every two frequencies as well as Algorithm 5 at q ≡ 1, for every L."""
    growth, delta, rates = case["growth"], case["delta"], case["rates"]
    fine = algorithm_5(growth, delta, rates)
    coarse = [discrete(row) for row in algorithm_4(growth, delta, rates)]
    gain, frequency = max(
        (order_probability(*pair) - order_probability(*other), i)
        for i, (pair, other) in enumerate(zip(pairwise(fine), pairwise(coarse), strict=True), start=1)
    )
    return Finding(
        holds=gain <= 0,
        closed_form=f"Algorithm 4, frequencies {frequency} and {frequency + 1}",
        independent=f"Algorithm 5 is concordant more often by {float(gain):.3g}",
    )


def _examine_any_scheme(case: Case) -> Finding:
    """Frequencies 1 and 3, against the scheme that reports frequency 2 less often than it may."""
    growth, delta, (first, second, third) = case["growth"], case["delta"], case["rates"]
    least, most, _ = algorithm_3(growth, delta, (first, second, third))
    middle = least + case["share"] * (most - least)
    found, other = (
        order_probability(rows[0], rows[-1])
        for rows in (
            algorithm_5(growth, delta, (first, second, third)),
            algorithm_5(growth, delta, (first, middle, third)),
        )
    )
    return Finding(
        holds=other <= found,
        closed_form=f"frequencies 1 and 3 are concordant with probability {float(found):.12g}",
        independent=f"{float(other):.12g} where frequency 2 is reported with probability {middle}, not {most}",
    )


# Lemma 5.2


def _examine_lemma_5_2(case: Case) -> Finding:
    """At integral L, Algorithm 4 at q ≡ 1 is the closed form, and no worse than Algorithm 5."""
    growth, steps, count = case["growth"], case["steps"], case["frequency"]
    delta = (growth - 1) / (growth**steps * (growth + 1) - 2)
    rates = [_ONE] * count
    row = algorithm_4(growth, delta, rates)[-1]
    delays = [delta * growth ** min(d, 2 * steps - d) if d <= 2 * steps else Fraction(0) for d in range(count)]
    fine = algorithm_5(growth, delta, rates)[-1]
    return Finding(
        holds=row[:0:-1] == delays and _farthest(discrete(row), fine) == 0,
        closed_form=f"δe^{{ε·min(d, 2L − d)}}: {[float(d) for d in delays]}",
        independent=f"Algorithm 4: {[float(p) for p in row[:0:-1]]}",
    )


def _examine_lemma_5_2_any_crossover(case: Case) -> Finding:
    """The delays, cut off at 0, are the rows of Algorithm 5 at q ≡ 1."""
    epsilon, delta, count = Epsilon(case["epsilon"]), Delta(case["delta"]), case["frequency"]
    noise = FrequencyNoise(epsilon=epsilon, delta=delta, subdivision=_SUBDIVISION)
    exact = algorithm_5(_rational_growth(epsilon.value), delta.value, [_ONE] * count)
    return _compared([noise.row(count)], exact[-1:], _SUBDIVIDED)


# Lemma 4.4


def _examine_lemma_4_4(case: Case) -> Finding:
    """ppswor with f(i) = i: π is the solution at q ≡ 1 below ℓ, and q from there on."""
    epsilon, delta = Epsilon(case["epsilon"]), Delta(case["delta"])
    sampler, free = Ppswor(threshold=case["threshold"]), KeyReporting(epsilon=epsilon, delta=delta)
    crossed = False
    for row in islice(KeyTable(epsilon=epsilon, delta=delta, inclusion=sampler).rows(), case["frequency"]):
        rate = sampler.rate(row.frequency, precision=row.loss.precision)
        crossed = crossed or rate.less(free.probability(row.frequency)) is Truth.TRUE
        told = rate if crossed else free.probability(row.frequency)
        found = row.loss + row.probability
        if found.less(told) is not Truth.UNDECIDED and found != told:
            return Finding(holds=False, closed_form=f"π_{row.frequency} = {told}", independent=f"Algorithm 3: {found}")
        if not 0 <= row.loss.upper <= _ROUNDING:
            return Finding(
                holds=False, closed_form=f"π_{row.frequency} = {told}", independent=f"drawn: {float(row.probability)}"
            )
    return Finding(
        holds=True, closed_form="π* up to ℓ, then q", independent=f"{case['frequency']} steps of Algorithm 3"
    )


def _prove_crossing() -> Proof:
    """κ(e^{εi} − 1)/(1 − e^{−τi}) does not fall in i, so that it exceeds 1 from one i on; u = εi, v = τi.

    Its slope has the sign of u·e^u(1 − e^−v) − v·e^−v(e^u − 1), which is divided by e^{u−v} here.
    """
    growing, falling = quantity("u"), quantity("v")
    margin = growing * expm1(falling) + falling * expm1(-growing)
    return prove("u(e^v − 1) ≥ v(1 − e^−u)", margin, {growing: (0, 32), falling: (0, 32)})


# Estimates


def _examine_equation_9(case: Case) -> Finding:
    """a_j = g(h)/π_h at a frequency h that is likeliest for j, among far more frequencies than were read."""
    epsilon, delta, token = Epsilon(case["epsilon"]), Delta(case["delta"]), case["token"]
    table = FrequencyTable(epsilon=epsilon, delta=delta)
    found = maximum_likelihood(table.rows(), lambda i: i * i, token).value(token - 1)
    last = token + KeyReporting(epsilon=epsilon, delta=delta).band + 2
    exact = algorithm_4(_rational_growth(epsilon.value), delta.value, [_ONE] * last)
    likelihood = [row[token] if token < len(row) else Fraction(0) for row in exact]
    likeliest = [
        Fraction((i + 1) ** 2) / (1 - row[0])
        for i, (row, p) in enumerate(zip(exact, likelihood, strict=True))
        if p >= max(likelihood) - _ROUNDING
    ]
    return Finding(
        holds=any(abs(Fraction(found) / value - 1) < _ROUNDING for value in likeliest),
        closed_form=f"a_{token} = {found!r}",
        independent=f"at the likeliest of {last} frequencies: {[float(value) for value in likeliest]}",
    )


def _examine_moments(case: Case) -> Finding:
    """Bias, mean squared error and variance against their definitions in rational numbers."""
    rows, _, _ = _drawn(case)
    row, last = rows[-1], len(rows)
    estimates = maximum_likelihood(iter(rows), lambda i: i, last)
    outcomes = [(Fraction(row.unreported, 1 << row.bits), Fraction(0))]
    for run in row.runs:
        outcomes += [
            (Fraction(run.units, 1 << row.bits), Fraction(estimates.value(token)))
            for token in range(run.first, run.end)
        ]
    mean = sum(p * a for p, a in outcomes)
    squared = sum(p * (a - last) ** 2 for p, a in outcomes)
    exact = (mean, mean - last, squared, squared - (mean - last) ** 2)
    told = moments(row, estimates, lambda i: i)
    found = (told.expectation, told.bias, told.mean_squared_error, told.variance)
    size = max(_ONE, squared)
    return Finding(
        holds=all(abs(Fraction(a) - b) <= _ROUNDING * size for a, b in zip(found, exact, strict=True)),
        closed_form=f"E, bias, MSE, variance = {found}",
        independent=f"{tuple(map(float, exact))}",
    )


def _examine_equation_7(case: Case) -> Finding:
    """Expectation and variance of Σ L(x)g(w_x)/q over all subsets of a few keys, with τ so that q is rational."""
    inclusion = PoissonPps(threshold=case["threshold"])
    rates = [min(_ONE, case["threshold"] * frequency) for frequency, _ in case["keys"]]
    estimates = [Fraction(inverse_probability(inclusion, lambda i: i, frequency)) for frequency, _ in case["keys"]]
    shares = [tuple(zip((1 - rate, rate), (0, 1), strict=True)) for rate in rates]
    mean = squared = Fraction(0)
    for drawn in product(*shares):
        weight = prod((share for share, _ in drawn), start=_ONE)
        outcomes = zip(drawn, estimates, case["keys"], strict=True)
        total = sum((kept * each * factor for (_, kept), each, (_, factor) in outcomes), Fraction(0))
        mean, squared = mean + weight * total, squared + weight * total**2
    exact = sum((factor * frequency for frequency, factor in case["keys"]), Fraction(0))
    told = [(factor, inverse_probability_moments(inclusion, lambda i: i, i)) for i, factor in case["keys"]]
    variance = sum((factor**2 * Fraction(found.variance) for factor, found in told), Fraction(0))
    size = 1 + sum((abs(factor) * each for each, (_, factor) in zip(estimates, case["keys"], strict=True)), Fraction(0))
    return Finding(
        holds=abs(mean - exact) <= _ROUNDING * size and abs(squared - mean**2 - variance) <= _ROUNDING * size**2,
        closed_form=f"mean {float(exact):.12g}, variance {float(variance):.12g}",
        independent=f"over all samples: mean {float(mean):.12g}, variance {float(squared - mean**2):.12g}",
    )


def _key_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    key = st.tuples(st.integers(1, 40), st.integers(-8, 8).map(lambda n: Fraction(n, 2)))
    thresholds = st.integers(1, 60).map(lambda n: Fraction(1, n))
    return st.fixed_dictionaries({"threshold": thresholds, "keys": st.lists(key, min_size=1, max_size=5).map(tuple)})


def _examine_equation_8(case: Case) -> Finding:
    """The mean of ŝ over all pairs of outcomes of two keys, L = 2 and −1/2, against the expectations of each alone."""
    rows, _, _ = _drawn(case)
    pair = (rows[0], rows[-1])
    estimates = maximum_likelihood(iter(rows), lambda i: i, len(rows))
    factors = 2.0, -0.5
    outcomes = [_outcomes_of(row) for row in pair]
    mean = Fraction(0)
    for (one, first), (other, second) in product(*outcomes):
        reported = [
            (factor, token) for factor, token in zip(factors, (first, second), strict=True) if token is not None
        ]
        mean += one * other * Fraction(estimated_sum(reported, estimates))
    alone = [Fraction(moments(row, estimates, lambda i: i).expectation) for row in pair]
    linear = sum((Fraction(factor) * each for factor, each in zip(factors, alone, strict=True)), Fraction(0))
    return Finding(
        holds=abs(mean - linear) <= _ROUNDING * (1 + abs(mean)),
        closed_form=f"Σ L(x)E_i = {float(linear):.12g}",
        independent=f"mean of ŝ over all outcomes of two keys: {float(mean):.12g}",
    )


def _outcomes_of(row: FrequencyRow) -> list[tuple[Fraction, int | None]]:
    """The probability of each token of a row, and of none."""
    found: list[tuple[Fraction, int | None]] = [(Fraction(row.unreported, 1 << row.bits), None)]
    found += [(Fraction(run.units, 1 << row.bits), j) for run in row.runs for j in range(run.first, run.end)]
    return found


def _examine_concordance(case: Case) -> Finding:
    """The exact concordance of two rows of a table against the sum over all pairs of tokens."""
    rows, _, _ = _drawn(case)
    pair = rows[-2:]

    def outcomes(row: FrequencyRow) -> dict[int, int]:
        return {-1: row.unreported} | {t: run.units for run in row.runs for t in range(run.first, run.end)}

    low, high = map(outcomes, pair)
    twice = sum(a * b * (1 + (t > s) - (t < s)) for s, a in low.items() for t, b in high.items())
    found, exact = concordance(pair[0], pair[-1]), Fraction(twice, 2 << 2 * pair[0].bits)
    return Finding(holds=found == exact, closed_form=f"{float(found):.12g}", independent=f"{float(exact):.12g}")


# Cases


def _growths(least: Fraction = _ONE) -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(least, 3, max_denominator=4)


def _deltas() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(Fraction(1, 200), 1, max_denominator=200)


def _exact_cases(longest: int) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries({"growth": _growths(), "delta": _deltas(), "rates": ascending_rates(1, longest)})


def _programme_cases() -> SearchStrategy[Case]:
    return _exact_cases(3)


def _restricted_cases() -> SearchStrategy[Case]:
    return _exact_cases(5)


def _any_scheme_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "growth": st.fractions(2, 3, max_denominator=4),
            "delta": st.fractions(Fraction(1, 10), Fraction(1, 4), max_denominator=40),
            "rates": st.lists(st.fractions(Fraction(1, 2), 1, max_denominator=10), min_size=3, max_size=3).map(sorted),
            "share": st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]),
        }
    )


def _histogram_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "growth": _growths(Fraction(5, 4)),
            "delta": _deltas(),
            "rates": st.integers(6, 8).map(lambda count: (_ONE,) * count),
        }
    )


def _table_cases_with(subdivisions: SearchStrategy[int], least: int = 1) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "epsilon": st.fractions(0, 1, max_denominator=10),
            "delta": _deltas(),
            "rates": ascending_rates(least, 6),
            "subdivision": subdivisions,
        }
    )


def _table_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _table_cases_with(st.integers(0, 3))


def _pair_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _table_cases_with(st.integers(0, 3), 2)


def _estimate_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _table_cases_with(st.integers(0, 2)).filter(lambda case: case["rates"][0] > 0)


def _integral_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.integers(0, 4).flatmap(
        lambda steps: st.fixed_dictionaries(
            {
                "growth": _growths(Fraction(5, 4)),
                "steps": st.just(steps),
                "frequency": st.integers(1, 2 * steps + 4),
            }
        )
    )


def _noise_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "epsilon": st.fractions(0, 1, max_denominator=10),
            "delta": st.fractions(Fraction(1, 50), 1, max_denominator=50),
            "frequency": st.integers(1, 12),
        }
    )


def _threshold_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "epsilon": st.fractions(Fraction(1, 20), 2, max_denominator=20),
            "delta": st.sampled_from([Fraction(1, 10**k) for k in (1, 2, 3, 6, 9)]),
            "threshold": st.fractions(Fraction(1, 1000), 1, max_denominator=1000),
            "frequency": st.integers(1, 60),
        }
    )


def _likelihood_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "epsilon": st.fractions(Fraction(1, 5), 1, max_denominator=10),
            "delta": st.fractions(Fraction(1, 40), 1, max_denominator=40),
            "token": st.integers(1, 4),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="pws/algorithm-4",
        statement="PWS Algorithm 4, corrected",
        says="the table with one token to a frequency is Algorithm 4's, but for rounding to units",
        cases=_table_cases,
        examine=_examine_algorithm_4,
    ),
    Claim(
        id="pws/algorithm-4-printed",
        statement="PWS Algorithm 4, as printed",
        says="with π_ij ← [π_ij]₊ the rows are (ε, δ)-DP",
        cases=_histogram_cases,
        examine=_examine_garbled_line,
        expectation=Expectation.REJECTED,
        erratum="PWS-A4",
        witness={"growth": Fraction(2), "delta": Fraction(1, 5), "rates": (Fraction(1),) * 4},
    ),
    Claim(
        id="pws/algorithm-5",
        statement="PWS Algorithm 5, corrected",
        says="the table with subdivided tokens is Algorithm 5's, but for breakpoints rounded to multiples of 2^−r",
        cases=_table_cases,
        examine=_examine_algorithm_5,
    ),
    Claim(
        id="pws/algorithm-5-printed",
        statement="PWS Algorithm 5, as printed",
        says="with D = [e^−ε f_{i−1}(0) − f_i(0)]₊ the rows are (ε, δ)-DP",
        cases=_histogram_cases,
        examine=_examine_printed_cost,
        expectation=Expectation.REJECTED,
        erratum="PWS-A5",
        witness={"growth": Fraction(2), "delta": Fraction(1, 4), "rates": (Fraction(1),) * 3},
    ),
    Claim(
        id="pws/theorem-5.1-property-1",
        statement="PWS Theorem 5.1, Property 1, and Equation 5",
        says="rows as drawn add up to 1 exactly, report at most q_i, and π_i up to rounding",
        cases=_table_cases,
        examine=_examine_property_1,
    ),
    Claim(
        id="pws/theorem-5.1-property-2",
        statement="PWS Theorem 5.1, Property 2",
        says="rows as drawn are (ε, δ)-DP, both ways",
        cases=_table_cases,
        examine=_examine_property_2,
    ),
    Claim(
        id="pws/theorem-5.1-property-3",
        statement="PWS Theorem 5.1, Property 3",
        says="given row i − 1, every tail of Algorithm 5's row i is the largest that (ε, δ)-DP admits",
        cases=_programme_cases,
        examine=_examine_property_3,
    ),
    Claim(
        id="pws/theorem-5.1-algorithm-4",
        statement="PWS Theorem 5.1, Algorithm 4",
        says="given row i − 1, every tail of Algorithm 4's row i is the largest with i tokens",
        cases=_restricted_cases,
        examine=_examine_restricted,
    ),
    Claim(
        id="pws/theorem-5.1-every-crossover",
        statement="PWS Theorem 5.1, as printed",
        says="at q ≡ 1 Algorithm 4 separates as well as Algorithm 5, for every L",
        cases=_histogram_cases,
        examine=_examine_every_crossover,
        expectation=Expectation.REJECTED,
        erratum="PWS-T5.1",
        witness={"growth": Fraction(2), "delta": Fraction(1, 5), "rates": (Fraction(1),) * 3},
    ),
    Claim(
        id="pws/lemma-5.2",
        statement="PWS Lemma 5.2",
        says="at q ≡ 1 and integral L, Algorithms 4 and 5 have π_ij = δe^{ε·min(i−j, 2L−(i−j))}",
        cases=_integral_cases,
        examine=_examine_lemma_5_2,
    ),
    Claim(
        id="pws/lemma-5.2-any-crossover",
        statement="PWS Lemma 5.2, for every L",
        says="at q ≡ 1 the rows of Algorithm 5 are one law of delays, cut off at 0",
        cases=_noise_cases,
        examine=_examine_lemma_5_2_any_crossover,
    ),
    Claim(
        id="pws/corollary-6.1",
        statement="PWS Corollary 6.1, neighbouring frequencies",
        says="given row i − 1, Algorithm 5's row i makes two keys concordant as often as (ε, δ)-DP admits",
        cases=_programme_cases,
        examine=_examine_corollary,
    ),
    Claim(
        id="pws/corollary-6.1-printed",
        statement="PWS Corollary 6.1, as printed",
        says="no (ε, δ)-DP scheme orders two frequencies better, even one that gives up optimal reporting",
        cases=_any_scheme_cases,
        examine=_examine_any_scheme,
        expectation=Expectation.REJECTED,
        erratum="PWS-C6.1",
        witness={
            "growth": Fraction(2),
            "delta": Fraction(3, 20),
            "rates": [Fraction(1, 2)] * 3,
            "share": Fraction(1, 4),
        },
    ),
    Claim(
        id="pws/section-6-concordance",
        statement="PWS Sec. 6, concordance",
        says="the concordance of two rows is the sum over pairs of outcomes, ties counting ½",
        cases=_pair_cases,
        examine=_examine_concordance,
    ),
    Claim(
        id="pws/lemma-4.4",
        statement="PWS Lemma 4.4",
        says="for ppswor with f(i) = i, π_i is the solution at q ≡ 1 until that exceeds q_i, and q_i from there on",
        cases=_threshold_cases,
        examine=_examine_lemma_4_4,
        prove=_prove_crossing,
    ),
    Claim(
        id="pws/equation-9",
        statement="PWS Equation 9",
        says="a_j = g(h)/π_h at the likeliest h among all frequencies, however far",
        cases=_likelihood_cases,
        examine=_examine_equation_9,
    ),
    Claim(
        id="pws/section-7.1-moments",
        statement="PWS Sec. 7.1, moments",
        says="expectation, bias, mean squared error and variance are those of the reported estimate",
        cases=_estimate_cases,
        examine=_examine_moments,
    ),
    Claim(
        id="pws/equation-7",
        statement="PWS Equation 7",
        says="from a sample that is not private, Σ L(x)g(w_x)/q is unbiased, with the variance Σ L²g²(1/q − 1)",
        cases=_key_cases,
        examine=_examine_equation_7,
    ),
    Claim(
        id="pws/equation-8",
        statement="PWS Equations 6 and 8",
        says="from a sanitised sample, the mean of Σ L(x)a_j is Σ L(x)E_i",
        cases=_estimate_cases,
        examine=_examine_equation_8,
    ),
)
