"""Claims of the dominating pairs: each law against its definition, exactly where the pair is a finite table.

Legend: g = e^ε and a = e^{−λ} are rational here, so hockey-stick divergences, pure losses and moments of integer
order are rational numbers and are compared without a tolerance. Continuous laws are compared with integrals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ...accounting.enclosures import Enclosure, Truth
from ...accounting.pairs import (
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    RandomisedResponsePair,
    SampledGaussian,
    compose_pairs,
)
from ...accounting.relations import Direction
from ...plugins.contract import Case, Claim, Expectation, Finding
from ..oracles import pairs as oracles
from .enclosed import PRECISION, agrees, enclosed, enclosed_log
from .finite import Law, greatest_ratio, hockey_stick, law, moment, randomised_response

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Tables: TypeAlias = tuple[Law, Law]
"""The law with the record, and the law without it."""

_AGREEMENT = Fraction(1, 2**128)
"""An enclosure must hold the exact number and be this narrow, relatively, to be the same closed form."""
_ONE = Fraction(1)


def directed(tables: Tables, direction: Direction) -> Tables:
    """P and Q, or Q and P."""
    return tables if direction is Direction.REMOVE else (tables[1], tables[0])


def independent(tables: Sequence[Tables]) -> Tables:
    """Return the joint laws of independent outputs."""
    first, second = ([prod(chosen, start=_ONE) for chosen in product(*side)] for side in zip(*tables, strict=True))
    return tuple(first), tuple(second)


def _formatted(**values: object) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _all_laws(
    pair: FinitePair | RandomisedResponsePair | DiscreteLaplacePair, tables: Tables, factor: Fraction, order: int
) -> Finding:
    """Whether δ, the pure loss and the moment are those of the tables, in both directions."""
    pure, delta, renyi = pair.pure, pair.delta, pair.renyi
    if pure is None or renyi is None:
        return Finding(False, "a law is missing", "the tables have no zeros")
    told, direct, holds = [], [], True
    for direction in Direction:
        first, second = directed(tables, direction)
        exact = hockey_stick(first, second, factor), greatest_ratio(first, second), moment(first, second, order)
        found = (
            delta(enclosed_log(factor), direction),
            pure(direction).exp(),
            (renyi(Fraction(order), direction) * (order - 1)).exp(),
        )
        holds = holds and _near(found[0], exact[0]) and agrees(found[1], exact[1]) and agrees(found[2], exact[2])
        told.append(_formatted(δ=found[0], ratio=found[1], moment=found[2]))
        direct.append(_formatted(δ=exact[0], ratio=exact[1], moment=exact[2]))
    return Finding(holds, "; ".join(told), "; ".join(direct))


def _near(found: Enclosure, number: Fraction) -> bool:
    """As `agrees`, with an absolute width: at a kink of δ the rational e^ε itself is only enclosed."""
    return found.contains(number) and found.width <= _AGREEMENT


# Finite tables


def _examine_finite(case: Case) -> Finding:
    """Examine the laws of tables without zeros."""
    tables = law(case["present"]), law(case["absent"])
    return _all_laws(FinitePair(*tables, precision=PRECISION), tables, case["factor"], case["order"])


def _examine_zeros(case: Case) -> Finding:
    """δ of tables with zeros; pure and Rényi laws are there just where both directions are finite."""
    tables = law(case["present"]), law(case["absent"])
    pair = FinitePair(*tables, precision=PRECISION)
    finite = all(bool(p) == bool(q) for p, q in zip(*tables, strict=True))
    found = [pair.delta(enclosed_log(case["factor"]), direction) for direction in Direction]
    exact = [hockey_stick(*directed(tables, direction), case["factor"]) for direction in Direction]
    present = pair.pure is not None, pair.renyi is not None
    return Finding(
        holds=present == (finite, finite) and all(map(_near, found, exact)),
        closed_form=_formatted(δ=found, laws=present),
        independent=_formatted(δ=exact, finite=finite),
    )


def _examine_composed(case: Case) -> Finding:
    """Different finite pairs together, and one of them repeated, against their joint tables."""
    tables = [(law(a), law(b)) for a, b in case["tables"]]
    parts = [FinitePair(*each, precision=PRECISION) for each in tables]
    composed, factor = compose_pairs(parts), case["factor"]
    joint = independent(tables)
    often = case["times"]
    repeated, repeats = parts[0].repeated(often), independent([tables[0]] * often)
    if composed.pure is None or composed.renyi is None or repeated.delta is None:
        return Finding(False, "a law is missing", "the tables have no zeros")
    holds, told = True, []
    for direction in Direction:
        first, second = directed(joint, direction)
        ratio, second_moment = greatest_ratio(first, second), moment(first, second, 2)
        delta = repeated.delta(enclosed_log(factor), direction)
        exact = hockey_stick(*directed(repeats, direction), factor)
        found = composed.pure(direction).exp(), composed.renyi(Fraction(2), direction).exp()
        holds = holds and agrees(found[0], ratio) and agrees(found[1], second_moment) and _near(delta, exact)
        told.append(
            (
                _formatted(ratio=found[0], moment=found[1], δ=delta),
                _formatted(ratio=ratio, moment=second_moment, δ=exact),
            )
        )
    return Finding(holds, "; ".join(a for a, _ in told), "; ".join(b for _, b in told))


# Randomised response


def _examine_response(case: Case) -> Finding:
    """Its laws, and it dominates: no pair of tables with the same largest ratio has a larger δ or moment."""
    absent, present = randomised_response(case["own"])
    pair = RandomisedResponsePair(enclosed_log(case["own"]))
    return _all_laws(pair, (present, absent), case["factor"], case["order"])


def _examine_response_dominates(case: Case) -> Finding:
    tables = law(case["present"]), law(case["absent"])
    own = max(greatest_ratio(*tables), greatest_ratio(tables[1], tables[0]))
    pair, factor, order = RandomisedResponsePair(enclosed_log(own)), case["factor"], case["order"]
    bound = (
        pair.delta(enclosed_log(factor), Direction.REMOVE),
        (pair.renyi(Fraction(order), Direction.REMOVE) * (order - 1)).exp(),
    )
    direct = [(hockey_stick(*directed(tables, d), factor), moment(*directed(tables, d), order)) for d in Direction]
    return Finding(
        holds=all(delta <= bound[0].upper and power <= bound[1].upper for delta, power in direct),
        closed_form=_formatted(δ=bound[0], moment=bound[1]),
        independent=f"(δ, moment) = {direct}, with e^ε = {own}",
    )


def _examine_repeated_response(case: Case) -> Finding:
    """The optimal composition against all 2^T outputs."""
    absent, present = randomised_response(case["own"])
    joint = independent([(present, absent)] * case["times"])
    pair = RandomisedResponsePair(enclosed_log(case["own"])).repeated(case["times"])
    if pair.delta is None:
        return Finding(False, "no δ", "it has one")
    found = pair.delta(enclosed_log(case["factor"]), Direction.ADD)
    exact = hockey_stick(*joint, case["factor"])
    return Finding(_near(found, exact), _formatted(δ=found), _formatted(δ=exact))


# Discrete Laplace


def discrete_laplace(stay: Fraction, steps: int) -> Tables:
    """The laws with a = e^{−λ}: outputs up to 0, and those from k on, have one ratio each and count as one output."""
    within = range(1, steps)
    inner = (1 - stay) / (1 + stay)
    present = [stay**steps / (1 + stay), *(inner * stay ** (steps - x) for x in within), 1 / (1 + stay)]
    absent = [1 / (1 + stay), *(inner * stay**x for x in within), stay**steps / (1 + stay)]
    return tuple(present), tuple(absent)


def laplace_cells(stay: Fraction, steps: int) -> Tables:
    """Two Laplace laws of scale 1/λ, k cells of that lattice apart, seen through the cells only."""
    within = range(steps)
    cell = (1 - stay) / 2
    present = [stay**steps / 2, *(cell * stay ** (steps - 1 - x) for x in within), Fraction(1, 2)]
    absent = [Fraction(1, 2), *(cell * stay**x for x in within), stay**steps / 2]
    return tuple(present), tuple(absent)


def _discrete_pair(case: Case, steps: int) -> DiscreteLaplacePair:
    return DiscreteLaplacePair(enclosed_log(1 / case["stay"]), enclosed(steps))


def _examine_discrete_laplace(case: Case) -> Finding:
    steps = case["steps"]
    return _all_laws(_discrete_pair(case, steps), discrete_laplace(case["stay"], steps), case["factor"], case["order"])


def _continuous_pair(case: Case, steps: int) -> LaplacePair:
    return LaplacePair(enclosed_log(1 / case["stay"]) * steps)


def _examine_dominated(
    case: Case,
    tables: Callable[[Fraction, int], Tables],
    dominating: Callable[[Case, int], DiscreteLaplacePair | LaplacePair],
) -> Finding:
    """Two coordinates of noise against one with the summed distance."""
    sides, factor, order = case["distances"], case["factor"], case["order"]
    joint = independent([tables(case["stay"], side) for side in sides])
    pair = dominating(case, sum(sides))
    bound = (
        pair.delta(enclosed_log(factor), Direction.ADD),
        (pair.renyi(Fraction(order), Direction.ADD) * (order - 1)).exp(),
    )
    direct = hockey_stick(*joint, factor), moment(*joint, order)
    return Finding(
        holds=direct[0] <= bound[0].upper and direct[1] <= bound[1].upper,
        closed_form=_formatted(δ=bound[0], moment=bound[1]),
        independent=_formatted(δ=direct[0], moment=direct[1]),
    )


def _examine_discrete_domination(case: Case) -> Finding:
    return _examine_dominated(case, discrete_laplace, _discrete_pair)


def _examine_laplace_domination(case: Case) -> Finding:
    return _examine_dominated(case, laplace_cells, _continuous_pair)


def _examine_continuous_for_discrete(case: Case) -> Finding:
    """Whether the continuous pair with the same pure loss bounds discrete noise."""
    return _examine_dominated(case, discrete_laplace, _continuous_pair)


def _examine_zero_concentrated(case: Case) -> Finding:
    """τ(α) ≤ ρα in rational moments of integer order, and ρ is the Kullback-Leibler divergence, a limit of τ(α)."""
    pair = _discrete_pair(case, case["steps"])
    tables, order = discrete_laplace(case["stay"], case["steps"]), case["order"]
    allowed = (pair.zero_concentrated * (order * (order - 1))).exp()
    reached = pair.renyi(1 + Fraction(1, 2**60), Direction.REMOVE)
    exact = moment(*tables, order)
    return Finding(
        holds=exact <= allowed.upper and abs(reached - pair.zero_concentrated).less(Fraction(1, 2**40)) is Truth.TRUE,
        closed_form=_formatted(ρ=pair.zero_concentrated, allowed=allowed),
        independent=_formatted(moment=exact, τ_near_1=reached),
    )


# Laws on the line and on all integers


def _close(found: Enclosure, number: Fraction) -> bool:
    """Whether a numerical value lies in the enclosure, give or take its own error, and the enclosure is narrow."""
    room = oracles.CLOSE * max(number, oracles.CLOSE)
    return found.lower - room <= number <= found.upper + room and found.width <= room


def _compared(found: Sequence[Enclosure], numbers: Sequence[Fraction]) -> Finding:
    return Finding(
        holds=all(map(_close, found, numbers)),
        closed_form=", ".join(map(str, found)),
        independent=", ".join(f"{float(n):.17g}" for n in numbers),
    )


def _examine_laplace(case: Case) -> Finding:
    shift, epsilon, order = case["shift"], case["epsilon"], case["order"]
    pair = LaplacePair(enclosed(shift))
    return _compared(
        [pair.delta(enclosed(epsilon), Direction.REMOVE), pair.renyi(order, Direction.REMOVE)],
        [oracles.laplace_delta(shift, epsilon), oracles.laplace_renyi(shift, order)],
    )


def _examine_gaussian(case: Case) -> Finding:
    shift, epsilon = case["shift"], case["epsilon"]
    found = GaussianPair(enclosed(shift)).delta(enclosed(epsilon), Direction.REMOVE)
    return _compared([found], [oracles.gaussian_delta(shift, epsilon)])


def _examine_sampled_gaussian(case: Case) -> Finding:
    shift, epsilon, rate = case["shift"], case["epsilon"], case["rate"]
    pair = SampledGaussian(enclosed(shift), enclosed(rate))
    return _compared(
        [pair.delta(enclosed(epsilon), direction) for direction in Direction],
        [
            oracles.sampled_gaussian_delta(shift, rate, epsilon, remove=direction is Direction.REMOVE)
            for direction in Direction
        ],
    )


def _examine_discrete_gaussian(case: Case) -> Finding:
    variance, steps, epsilon, order = case["variance"], case["steps"], case["epsilon"], case["order"]
    pair = DiscreteGaussianPair(variance, enclosed(steps), precision=PRECISION)
    return _compared(
        [pair.delta(enclosed(epsilon), Direction.ADD), pair.renyi(order, Direction.ADD)],
        [
            oracles.discrete_gaussian_delta(variance, steps, epsilon),
            oracles.discrete_gaussian_renyi(variance, steps, order),
        ],
    )


# Cases


def ratios(least: int, most: int, *, denominator: int) -> SearchStrategy[Fraction]:
    """Rational numbers between two whole ones, the smallest first: drawn and shrunk faster than by two integers."""
    from hypothesis import strategies as st

    known = {
        Fraction(top, under) for under in range(1, denominator + 1) for top in range(least * under, most * under + 1)
    }
    return st.sampled_from(sorted(known))


def _factors() -> SearchStrategy[Fraction]:
    """Return a strategy for rational e^ε ≥ 1."""
    return ratios(1, 3, denominator=12)


def _rows(*, least: int) -> SearchStrategy[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Two rows of scores of the same length, each with a score above 0."""
    from hypothesis import strategies as st

    outputs = st.lists(st.tuples(st.integers(least, 9), st.integers(least, 9)), min_size=2, max_size=4)
    rows = outputs.map(lambda scores: (tuple(a for a, _ in scores), tuple(b for _, b in scores)))
    return rows.filter(lambda both: all(map(any, both)))


def _orders() -> SearchStrategy[int]:
    from hypothesis import strategies as st

    return st.integers(2, 6)


def table_cases(*, least: int) -> SearchStrategy[Case]:
    """Two tables, an e^ε and an order."""
    from hypothesis import strategies as st

    def named(drawn: tuple[tuple[tuple[int, ...], tuple[int, ...]], Fraction, int]) -> Case:
        (present, absent), factor, order = drawn
        return {"present": present, "absent": absent, "factor": factor, "order": order}

    return st.tuples(_rows(least=least), _factors(), _orders()).map(named)


def _positive_cases() -> SearchStrategy[Case]:
    return table_cases(least=1)


def _zero_cases() -> SearchStrategy[Case]:
    return table_cases(least=0)


def _composed_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    tables = st.lists(_rows(least=1), min_size=1, max_size=3).map(tuple)
    return st.fixed_dictionaries({"tables": tables, "factor": _factors(), "times": st.integers(1, 4)})


def _response_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    own = st.fractions(1, 9, max_denominator=12)
    return st.fixed_dictionaries({"own": own, "factor": _factors(), "order": _orders(), "times": st.integers(1, 7)})


def _stays() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(Fraction(1, 9), Fraction(17, 18), max_denominator=18)


def _discrete_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {"stay": _stays(), "steps": st.integers(1, 7), "factor": _factors(), "order": _orders()}
    )


def _two_dimensional_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    distances = st.tuples(st.integers(1, 4), st.integers(1, 4))
    return st.fixed_dictionaries({"stay": _stays(), "distances": distances, "factor": _factors(), "order": _orders()})


def _line_cases() -> SearchStrategy[Case]:
    """Few, for an integral takes its time."""
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "shift": st.sampled_from([Fraction(1, 8), Fraction(1), Fraction(7, 3)]),
            "epsilon": st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(2)]),
            "order": st.sampled_from([Fraction(3, 2), Fraction(17, 4)]),
            "rate": st.sampled_from([Fraction(1, 100), Fraction(1, 2)]),
        }
    )


def _lattice_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "variance": st.fractions(Fraction(1, 4), 12, max_denominator=6),
            "steps": st.integers(1, 6),
            "epsilon": st.fractions(0, 3, max_denominator=10),
            "order": st.fractions(Fraction(5, 4), 5, max_denominator=4),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="pairs/finite",
        statement="Zhu, Dong, Wang 2022, Definition 7",
        says="δ, pure loss and Rényi moments of a finite pair are those of its tables, in both directions",
        cases=_positive_cases,
        examine=_examine_finite,
    ),
    Claim(
        id="pairs/finite-with-zeros",
        statement="Zhu, Dong, Wang 2022, Definition 7",
        says="tables with zeros have their δ, and no pure or Rényi law where a probability faces a zero",
        cases=_zero_cases,
        examine=_examine_zeros,
    ),
    Claim(
        id="pairs/composition",
        statement="Zhu, Dong, Wang 2022, Theorem 10",
        says="pure and Rényi losses of different pairs add exactly; a repeated finite pair is its joint tables",
        cases=_composed_cases,
        examine=_examine_composed,
    ),
    Claim(
        id="pairs/randomised-response",
        statement="Kairouz, Oh, Viswanath 2015",
        says="the laws of randomised response are those of its two outputs",
        cases=_response_cases,
        examine=_examine_response,
    ),
    Claim(
        id="pairs/randomised-response-dominates",
        statement="Kairouz, Oh, Viswanath 2015",
        says="no pair with the same pure loss has a larger δ or Rényi moment",
        cases=_positive_cases,
        examine=_examine_response_dominates,
    ),
    Claim(
        id="pairs/optimal-composition",
        statement="Kairouz, Oh, Viswanath 2015, Theorem 3.3",
        says="δ of T randomised responses is that of all 2^T outputs",
        cases=_response_cases,
        examine=_examine_repeated_response,
    ),
    Claim(
        id="pairs/discrete-laplace",
        statement="the pair's definition",
        says="the laws of the discrete Laplace pair are those of its exact tables",
        cases=_discrete_cases,
        examine=_examine_discrete_laplace,
    ),
    Claim(
        id="pairs/discrete-laplace-dimensions",
        statement="the pair's definition",
        says="discrete Laplace noise in two dimensions is dominated by one dimension at the summed distance",
        cases=_two_dimensional_cases,
        examine=_examine_discrete_domination,
    ),
    Claim(
        id="pairs/laplace-dimensions",
        statement="the pair's definition",
        says="Laplace noise in two dimensions, seen through a grid, is dominated by one at the summed distance",
        cases=_two_dimensional_cases,
        examine=_examine_laplace_domination,
    ),
    Claim(
        id="pairs/continuous-for-discrete-laplace",
        statement="a wrong law",
        says="the Laplace pair with the same pure loss bounds discrete Laplace noise",
        cases=_two_dimensional_cases,
        examine=_examine_continuous_for_discrete,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="pairs/discrete-laplace-zcdp",
        statement="the pair's definition",
        says="τ(α) ≤ ρα with the Kullback-Leibler divergence as ρ, and no smaller one",
        cases=_discrete_cases,
        examine=_examine_zero_concentrated,
    ),
    Claim(
        id="pairs/laplace",
        statement="the pair's definition",
        says="δ and τ of two Laplace laws are the integrals that define them",
        cases=_line_cases,
        examine=_examine_laplace,
    ),
    Claim(
        id="pairs/gaussian",
        statement="Balle, Wang 2018, Theorem 8",
        says="δ of two normal laws is the integral that defines it",
        cases=_line_cases,
        examine=_examine_gaussian,
    ),
    Claim(
        id="pairs/sampled-gaussian",
        statement="Balle, Barthe, Gaboardi 2018, Theorem 2",
        says="δ of the sampled Gaussian pair is the integral that defines it, in both directions",
        cases=_line_cases,
        examine=_examine_sampled_gaussian,
    ),
    Claim(
        id="pairs/discrete-gaussian",
        statement="Canonne, Kamath, Steinke 2020, Theorem 7 and Proposition 5",
        says="δ and τ of two discrete Gaussian laws are the sums that define them",
        cases=_lattice_cases,
        examine=_examine_discrete_gaussian,
    ),
)
