"""Claims of repeat and select: each against the law of the best output, summed over every number of repetitions.

Legend: laws are those of one run on two neighbouring data sets, ranks say which outputs are better. asked is an e^ε.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from ...accounting.pairs import FinitePair
from ...accounting.provenance import Public
from ...accounting.relations import Direction
from ...accounting.selection import (
    NegativeBinomialRepetitions,
    PoissonRepetitions,
    RandomRepetitions,
    Selected,
)
from ...plugins.contract import Case, Claim, Expectation, Finding
from ..oracles.divergences import logarithm, renyi
from ..oracles.repetitions import LEFT_OUT, negative_binomial, poisson, selected, with_number
from .enclosed import PRECISION, enclosed_log
from .finite import Law, greatest_ratio, hockey_stick, law

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Chosen: TypeAlias = tuple[RandomRepetitions, list[Fraction]]
"""The law of the repetitions, and its probabilities."""

_ROOM = 4 * LEFT_OUT


@lru_cache
def _negative_binomial(mean: Fraction, shape: Fraction) -> Chosen:
    law = NegativeBinomialRepetitions(mean=Public(mean), shape=Public(shape))
    return law, negative_binomial(mean, shape)


@lru_cache
def _poisson(mean: Fraction) -> Chosen:
    return PoissonRepetitions(mean=Public(mean)), poisson(mean)


def _chosen(case: Case) -> Chosen:
    shape = case["shape"]
    return _poisson(case["mean"]) if shape is None else _negative_binomial(1 + case["mean"], shape)


def _laws(case: Case) -> tuple[Law, Law]:
    return law(case["first"]), law(case["second"])


def _best(case: Case) -> tuple[Law, Law]:
    """The laws of the best output."""
    _, chances = _chosen(case)
    first, second = (tuple(selected(one, case["ranks"], chances)) for one in _laws(case))
    return first, second


def _pair(case: Case) -> Selected:
    return Selected(FinitePair(*_laws(case), precision=PRECISION), _chosen(case)[0])


def _profile(case: Case, factor: Fraction = Fraction(1)) -> Finding:
    """Whether δ at e^ε = asked, of the best output with the first law from that with the second, is at most the bound.

    Args:
        case: the laws.
        factor: of the bound, in a wrong form.
    """
    law_of_delta = _pair(case).delta
    assert law_of_delta is not None
    bound = law_of_delta(enclosed_log(case["asked"]), Direction.REMOVE).upper * factor
    direct = hockey_stick(*_best(case), case["asked"])
    return Finding(direct <= bound + _ROOM * (1 + case["asked"]), repr(float(bound)), repr(float(direct)))


def _renyi(case: Case) -> Finding:
    law_of_tau = _pair(case).renyi
    assert law_of_tau is not None
    bound = law_of_tau(case["order"], Direction.REMOVE).upper
    return _compared(case, bound)


def _compared(case: Case, bound: Fraction) -> Finding:
    first, second = (tuple(p / sum(one) for p in one) for one in _best(case))
    direct = renyi(first, second, case["order"])
    return Finding(direct <= bound + Fraction(1, 2**60), repr(float(bound)), repr(float(direct)))


def _pure(case: Case) -> Finding:
    """Whether ε is at least that of the best output, and at most (2 + η)·ε of one run, or ε + mean·tanh(ε/2)."""
    first, second = _laws(case)
    found = _pair(case).pure
    assert found is not None
    bound = found(Direction.REMOVE).upper
    direct = logarithm(max(p / q for p, q in zip(*_best(case), strict=True) if q))
    one = logarithm(max(greatest_ratio(first, second), greatest_ratio(second, first)))
    ratio = max(greatest_ratio(first, second), greatest_ratio(second, first))
    most = _largest_pure(case, one, ratio)
    room = Fraction(1, 2**40)
    return Finding(direct <= bound + room and bound <= most + room, repr(float(bound)), repr(float(direct)))


def _largest_pure(case: Case, epsilon: Fraction, ratio: Fraction) -> Fraction:
    mean, shape = Fraction(case["mean"]), case["shape"]
    return epsilon + mean * (ratio - 1) / (ratio + 1) if shape is None else epsilon * (2 + shape)


def _once(case: Case) -> Finding:
    """A wrong form: δ of one run counts once, whatever is repeated; (ε, δ)-DP gives (3ε, δ)-DP by the geometric law."""
    chance, ratio = case["delta"], case["ratio"]
    response = law((ratio, 1)), law((1, ratio))
    first, second = (
        (*(p * (1 - chance) for p in one), chance * here, chance * (1 - here))
        for one, here in zip(response, (1, 0), strict=True)
    )
    _, chances = _negative_binomial(case["mean"], Fraction(1))
    best = [tuple(selected(one, (0, 1, 2, 2), chances)) for one in (first, second)]
    direct = hockey_stick(best[0], best[1], ratio**3)
    return Finding(direct <= chance + _ROOM * (1 + ratio**3), repr(float(chance)), repr(float(direct)))


def _one_run(case: Case) -> Finding:
    """A wrong form: the best of several runs loses what one run does."""
    first, second = _laws(case)
    bound = hockey_stick(first, second, case["asked"])
    direct = hockey_stick(*_best(case), case["asked"])
    return Finding(direct <= bound + _ROOM * (1 + case["asked"]), repr(float(bound)), repr(float(direct)))


def _without_none(case: Case) -> Finding:
    """A wrong form: τ + log E[K]/(α − 1) of equal laws, without the probability that nothing is run."""
    bound = logarithm(case["mean"]) / (case["order"] - 1)
    return _compared({**case, "second": case["first"]}, bound)


def _with_the_number(case: Case) -> Finding:
    """A wrong form: the pure ε of the best output also covers how many runs there were."""
    found = _pair(case).pure
    assert found is not None
    bound = found(Direction.REMOVE).upper
    _, chances = _chosen(case)
    both = [with_number(one, case["ranks"], chances, 12) for one in _laws(case)]
    direct = logarithm(max(p / q for p, q in zip(*both, strict=True) if q))
    return Finding(direct <= bound, repr(float(bound)), repr(float(direct)))


_MEANS = [Fraction(1, 8), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(6)]
_SHAPES = [Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)]


def _cases(shapes: list[Fraction | None]) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of(outputs: int) -> SearchStrategy[Case]:
        scores = st.tuples(*[st.integers(1, 40)] * outputs)
        return st.fixed_dictionaries(
            {
                "first": scores,
                "second": scores,
                "ranks": st.tuples(*[st.integers(0, 3)] * outputs),
                "mean": st.sampled_from(_MEANS),
                "shape": st.sampled_from(shapes),
                "asked": st.fractions(1, 12, max_denominator=8),
                "order": st.sampled_from([Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(20)]),
            }
        )

    return st.integers(2, 5).flatmap(of)


def _of_negative_binomial() -> SearchStrategy[Case]:
    return _cases([*_SHAPES])


def _of_poisson() -> SearchStrategy[Case]:
    return _cases([None])


def _of_both() -> SearchStrategy[Case]:
    return _cases([None, *_SHAPES])


def _leaking() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "ratio": st.fractions(1, 3, max_denominator=8),
            "delta": st.sampled_from([Fraction(1, 10**7), Fraction(1, 100)]),
            "mean": st.sampled_from([Fraction(2), Fraction(5)]),
        }
    )


_TWO = {
    "first": (3, 1),
    "second": (1, 3),
    "ranks": (0, 1),
    "mean": Fraction(3),
    "asked": Fraction(3),
    "order": Fraction(2),
}
_NEGATIVE = "Papernot, Steinke 2022, Theorem 2; docs/soundness_selection.md"
_POISSON = "Papernot, Steinke 2022, Theorem 6; docs/soundness_selection.md"


def _rejected(
    name: str,
    says: str,
    cases: Callable[[], SearchStrategy[Case]],
    examine: Callable[[Case], Finding],
    witness: Case,
) -> Claim:
    return Claim(
        id=f"selection/{name}",
        statement="docs/soundness_selection.md",
        says=says,
        cases=cases,
        examine=examine,
        expectation=Expectation.REJECTED,
        witness=witness,
    )


CLAIMS = (
    Claim(
        id="selection/negative-binomial-profile",
        statement=_NEGATIVE,
        says="the best of a negative binomial number of runs has at most the δ(ε) of shifted profiles of one run",
        cases=_of_negative_binomial,
        examine=_profile,
    ),
    Claim(
        id="selection/negative-binomial-renyi",
        statement=_NEGATIVE,
        says="its Rényi divergence is at most that of one run, what its mean adds and the largest tilt",
        cases=_of_negative_binomial,
        examine=_renyi,
    ),
    Claim(
        id="selection/poisson-profile",
        statement=_POISSON,
        says="the best of a Poisson number of runs has at most the δ(ε) of shifted profiles of one run",
        cases=_of_poisson,
        examine=_profile,
    ),
    Claim(
        id="selection/poisson-renyi",
        statement=_POISSON,
        says="its Rényi divergence is at most that of one run, what its mean adds and the largest tilt",
        cases=_of_poisson,
        examine=_renyi,
    ),
    Claim(
        id="selection/pure",
        statement="Liu, Talwar 2019, Theorem 3.2; Papernot, Steinke 2022, Corollary 3",
        says="the best of ε-DP runs is ε'-DP for an ε' of at most (2 + η)·ε, or ε + mean·tanh(ε/2)",
        cases=_of_both,
        examine=_pure,
    ),
    _rejected(
        "delta-once",
        "(ε, δ)-DP runs give (3ε, δ)-DP: δ counts once",
        _leaking,
        _once,
        {"ratio": Fraction(1), "delta": Fraction(1, 100), "mean": Fraction(5)},
    ),
    _rejected(
        "as-one-run", "the best of several runs loses what one does", _of_both, _one_run, {**_TWO, "shape": Fraction(1)}
    ),
    _rejected(
        "none-forgotten",
        "a Poisson number of runs needs no term for no run",
        _of_poisson,
        _without_none,
        {**_TWO, "mean": Fraction(1, 8), "shape": None},
    ),
    _rejected(
        "number-told",
        "the number of runs may be told",
        _of_negative_binomial,
        _with_the_number,
        {**_TWO, "shape": Fraction(1)},
    ),
    _rejected(
        "half-the-mean",
        "δ is charged for half of the repetitions",
        _of_both,
        lambda case: _profile(case, Fraction(1, 2)),
        {
            **_TWO,
            "first": (100, 9900),
            "second": (1, 9999),
            "ranks": (1, 0),
            "shape": Fraction(1),
            "asked": Fraction(4),
        },
    ),
)
