"""Claims of choices by noisy scores, against their laws on small data: all coins and all noise are summed over.

Legend: up to 8 records vote for a few columns; β is the scale of the noise. `noisy` is given coins that write down what
is asked of them, so that laws are those of what the mechanism does; where it adds noise itself, it is given all noise
within a box of whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import cycle, islice, product
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from attrs import field, frozen

from ...accounting.enclosures import Enclosure
from ...accounting.expressions import W, enclose, norm
from ...accounting.provenance import Public
from ...mechanisms.report_noisy_max import Noise, ReportNoisyMax
from ...plugins.contract import Case, Claim, Coins, Expectation, Finding, WeightedSample
from ..oracles.choices import DiscreteLaplaceNoise, flipped, largest_with_discrete_laplace, proportional

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ...accounting.expressions import Expression

_PRECISION = 128
_BOX = 3
_ORDERS = 6
"""Ties of up to three columns are decided by as many equally likely numbers."""
_STEPS = 25
"""How many steps of 4 scales an adverse record moves a score: far into the tail of the noise."""
_NEAR = Fraction(1, 100)


@frozen
class _ExponentCoins:
    """Coins that write down the exponents that a choice is asked for, and choose the first."""

    exponents: list[list[Fraction]] = field(factory=list)

    def permute_and_flip(self, exponents: Sequence[Fraction], which: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
        self.exponents.append([exponents[place] for place in which.tolist()])
        return 0

    def exponential_choice(
        self, exponents: Sequence[Fraction], size: int
    ) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        self.exponents.append([*exponents])
        return np.zeros(size, dtype=np.int64)


@frozen
class _BoxCoins:
    """Coins that give noise from a list, and each order of equal scores as often; they write down the noise's scale."""

    noise: Sequence[int]
    orders: Iterator[int] = field(factory=lambda: cycle(range(_ORDERS)))
    scales: list[Fraction] = field(factory=list)

    def discrete_laplace(self, scale: Fraction, size: int) -> list[int]:
        self.scales.append(scale)
        return list(islice(self.noise, size))

    def integers(self, bound: int, size: int) -> list[int]:
        return [next(self.orders) % bound for _ in range(size)]


def _sample(rows: Sequence[tuple[Fraction, Sequence[Fraction]]], columns: int) -> WeightedSample:
    matrix = np.asarray([[float(vote) for vote in votes] for _, votes in rows], dtype=np.float64)
    return WeightedSample(matrix.reshape(len(rows), columns), np.asarray([float(weight) for weight, _ in rows]))


def _scores(mechanism: ReportNoisyMax, case: Case) -> tuple[list[int], list[int]]:
    """The scores with the record and without it."""
    rows = [*((Fraction(1), other) for other in case["others"]), (case["weight"], case["record"])]
    width = len(case["record"])
    return mechanism.totals(_sample(rows, width)), mechanism.totals(_sample(rows[:-1], width))


def _law(mechanism: ReportNoisyMax, scores: list[int]) -> list[Enclosure]:
    if mechanism.noise.value is Noise.LAPLACE:
        return largest_with_discrete_laplace(scores, mechanism.scale.value / mechanism.granularity.value)
    coins = _ExponentCoins()
    mechanism.noisy(scores, 1, cast("Coins", coins))
    law = flipped if mechanism.noise.value is Noise.EXPONENTIAL else proportional
    return law(coins.exponents[0])


def _declared(epsilon: Expression, case: Case) -> Enclosure:
    weight, most = case["weight"], max(map(abs, case["record"]))
    squares = sum((Fraction(vote) ** 2 for vote in case["record"]), Fraction(0))
    lengths = {
        norm(1): _exactly(sum(map(abs, case["record"]), Fraction(0))),
        norm(2): _exactly(squares).sqrt(),
        norm("inf"): _exactly(most),
    }
    return enclose(epsilon, {W: _exactly(weight), **lengths}, precision=_PRECISION)


def _exactly(number: Fraction | int) -> Enclosure:
    return Enclosure.of(number, precision=_PRECISION)


def _lost(first: Sequence[Enclosure], second: Sequence[Enclosure]) -> Enclosure:
    """The largest |log ratio| of the probabilities of an output."""
    ratios = [abs((p / q).log()) for p, q in zip(first, second, strict=True)]
    return max(ratios, key=lambda ratio: ratio.upper)


def _bounded(declared: Enclosure, found: Enclosure) -> Finding:
    return Finding(found.lower <= declared.upper, f"declared {declared}", f"summed {found}")


def _reached(declared: Enclosure, found: Enclosure) -> Finding:
    holds = found.lower <= declared.upper <= found.lower * (1 + _NEAR)
    return Finding(holds, f"declared {declared}", f"summed {found}, of an adverse record")


def _max(case: Case, **options: Any) -> ReportNoisyMax:
    given = {"scale": case["scale"], "noise": case["noise"], "granularity": case["granularity"]}
    return ReportNoisyMax(**{name: Public(value) for name, value in (given | options).items()})


def _boxed(case: Case) -> Finding:
    """Whether the largest noisy score is told as often as its law says, over all noise in a box."""
    mechanism = _max(case, noise="laplace", granularity=4 * case["scale"], signed=case["signed"])
    scores, _ = _scores(mechanism, {**case, "record": case["record"][:3], "others": [o[:3] for o in case["others"]]})
    vectors = list(product(range(-_BOX, _BOX + 1), repeat=len(scores)))
    coins = _BoxCoins([z for vector in vectors for _ in range(_ORDERS) for z in vector])
    told = mechanism.noisy(scores, _ORDERS * len(vectors), cast("Coins", coins)).reshape(len(vectors), _ORDERS)
    noise = DiscreteLaplaceNoise(coins.scales[0])
    found, outside = [_exactly(0)] * len(scores), 2 * len(scores) * noise.beyond(_BOX).upper
    for vector, columns in zip(vectors, told.astype(int).tolist(), strict=True):
        chance = prod((noise.exactly(z) for z in vector), start=_exactly(Fraction(1, _ORDERS)))
        for column in columns:
            found[column] += chance
    law = largest_with_discrete_laplace(scores, Fraction(1, 4))
    holds = all(
        inside.lower <= whole.upper and whole.lower <= inside.upper + outside
        for inside, whole in zip(found, law, strict=True)
    )
    return Finding(holds, f"law {[str(p) for p in law]}", f"in the box {[str(p) for p in found]}")


def _adverse(case: Case) -> Case:
    """A record that raises the scores of two columns far below the best one, and lowers the best where it may."""
    far = 4 * case["scale"] * _STEPS
    weight = min(case["weight"], Fraction(2))
    best = 2 * weight * far * (1 + case["signed"])
    against = -far if case["signed"] else Fraction(0)
    return {
        **case,
        "weight": weight,
        "granularity": 4 * case["scale"],
        "record": (far, against, far),
        "others": ((Fraction(0), best, Fraction(0)),),
    }


def _examine_max(case: Case) -> Finding:
    """No data lose more than is declared, and adverse ones nearly that; told is what is the largest with its noise."""
    boxed = _boxed(case) if case["noise"] == "laplace" else None
    if boxed is not None and not boxed.holds:
        return boxed
    found = []
    for tried, compared in ((case, _bounded), (_adverse(case), _reached)):
        mechanism = _max(tried, signed=tried["signed"])
        with_record, without = _scores(mechanism, tried)
        lost = _lost(_law(mechanism, with_record), _law(mechanism, without))
        found.append(compared(_declared(mechanism.loss.epsilon, tried), lost))
    return next((finding for finding in found if not finding.holds), found[-1])


def _examine_signed(case: Case) -> Finding:
    """A wrong bound: what votes of one sign lose is quoted for votes of both."""
    mechanism = _max(case, signed=True)
    with_record, without = _scores(mechanism, case)
    quoted = _declared(_max(case, signed=False).loss.epsilon, case)
    return _bounded(quoted, _lost(_law(mechanism, with_record), _law(mechanism, without)))


def _votes(**further: Callable[[], SearchStrategy[object]]) -> Callable[[], SearchStrategy[Case]]:
    def cases() -> SearchStrategy[Case]:
        from hypothesis import strategies as st

        made = {name: strategy() for name, strategy in further.items()}

        def of(columns: int) -> SearchStrategy[Case]:
            votes = st.tuples(*[st.integers(-3, 3).map(Fraction)] * columns)
            return st.fixed_dictionaries(
                {
                    "record": votes.filter(any),
                    "others": st.lists(votes, max_size=7).map(tuple),
                    "weight": st.integers(1, 4).map(Fraction),
                    "scale": st.integers(1, 8).map(lambda k: Fraction(k, 4)),
                    "granularity": st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2)]),
                    "signed": st.booleans(),
                    **made,
                }
            )

        return st.integers(1, 4).flatmap(of)

    return cases


def _noises() -> SearchStrategy[object]:
    from hypothesis import strategies as st

    return st.sampled_from([str(noise) for noise in Noise])


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="selection/noisy-max",
        statement="McKenna, Sheldon 2020, Theorem 1; McSherry, Talwar 2007, Theorem 6; Dwork, Roth 2014, Claim 3.9",
        says="report-noisy-max loses at most what it declares with each noise, adverse records nearly that",
        cases=_votes(noise=_noises),
        examine=_examine_max,
    ),
    Claim(
        id="selection/noisy-max-of-both-signs",
        statement="a wrong bound: the loss of votes of one sign is quoted for votes of both signs",
        says="report-noisy-max of signed votes loses at most W·‖x‖_∞/β",
        cases=_votes(noise=_noises),
        examine=_examine_signed,
        expectation=Expectation.REJECTED,
        witness={
            "record": (Fraction(3), Fraction(-3)),
            "others": ((Fraction(0), Fraction(8)),),
            "weight": Fraction(1),
            "scale": Fraction(2),
            "granularity": Fraction(1),
            "signed": True,
            "noise": "gumbel",
        },
    ),
)
