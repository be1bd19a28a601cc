"""Claims of choices by noisy scores, against their laws on small data: all coins and all noise are summed over.

Legend: up to 8 records vote for a few columns; β is the scale of the noise. `noisy` is given coins that write down what
is asked of them, so that laws are those of what the mechanism does; where it adds noise itself, it is given all noise
within a box of whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, cycle, islice, product
from math import ceil, prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from attrs import evolve, field, frozen

from ...accounting.enclosures import Enclosure
from ...accounting.expressions import W, enclose, norm
from ...accounting.pairs import bounded_range_pair
from ...accounting.provenance import Public
from ...accounting.relations import Direction
from ...mechanisms.above_threshold import AboveThreshold
from ...mechanisms.report_noisy_max import Noise, ReportNoisyMax
from ...plugins.contract import Case, Claim, Coins, Expectation, Finding, WeightedSample
from ..oracles.choices import (
    DiscreteLaplaceNoise,
    NoNoise,
    first_above,
    flipped,
    largest_with_discrete_laplace,
    proportional,
)
from .enclosed import agrees, enclosed_log
from .finite import Law, hockey_stick, joint, law, moment

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
    """Coins that give noise from lists, and each order of equal scores as often; they write down the noise's scales."""

    noise: Iterator[Sequence[int]]
    orders: Iterator[int] = field(factory=lambda: cycle(range(_ORDERS)))
    scales: list[Fraction] = field(factory=list)

    def discrete_laplace(self, scale: Fraction, size: int) -> list[int]:
        self.scales.append(scale)
        return list(islice(next(self.noise), size))

    def integers(self, bound: int, size: int) -> list[int]:
        return [next(self.orders) % bound for _ in range(size)]


def _sample(rows: Sequence[tuple[Fraction, Sequence[Fraction]]], columns: int) -> WeightedSample:
    matrix = np.asarray([[float(vote) for vote in votes] for _, votes in rows], dtype=np.float64)
    return WeightedSample(matrix.reshape(len(rows), columns), np.asarray([float(weight) for weight, _ in rows]))


def _scores(mechanism: ReportNoisyMax | AboveThreshold, case: Case) -> tuple[list[int], list[int]]:
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


def _pure(mechanism: ReportNoisyMax) -> Expression:
    pure = mechanism.loss.pure
    assert pure is not None
    return pure.epsilon


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
    coins = _BoxCoins(iter([[z for vector in vectors for _ in range(_ORDERS) for z in vector]]))
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
        found.append(compared(_declared(_pure(mechanism), tried), lost))
    return _first_that_fails(found)


def _examine_signed(case: Case) -> Finding:
    """A wrong bound: what votes of one sign lose is quoted for votes of both."""
    mechanism = _max(case, signed=True)
    with_record, without = _scores(mechanism, case)
    quoted = _declared(_pure(_max(case, signed=False)), case)
    return _bounded(quoted, _lost(_law(mechanism, with_record), _law(mechanism, without)))


# Losses in an interval

_Tables: TypeAlias = tuple[Law, Law]


def _in_interval(length: Fraction, greatest: Fraction) -> _Tables:
    """Laws of two outputs, with the ratios e^t = greatest and e^(t − ε) = greatest/length, 1 < greatest < length."""
    least = greatest / length
    likely = (1 - least) / (greatest - least)
    return (likely * greatest, (1 - likely) * least), (likely, 1 - likely)


def _examine_range(case: Case) -> Finding:
    """δ and Rényi moments of two choices, the second one adapted to the first, are at most those of the pairs.

    At one release and the worst place of the interval, e^t = √(e^ε'·e^ε), δ is the pair's.
    """
    length, level = case["length"] ** 2, 1 + (case["length"] - 1) * case["level"]
    pair = bounded_range_pair(enclosed_log(length))
    places = [1 + (length - 1) * share for share in case["places"]]
    (one, once), *after = (_in_interval(length, place) for place in places)
    both = joint(one, [first for first, _ in after]), joint(once, [second for _, second in after])
    found = []
    worst = _in_interval(length, level * case["length"])
    for tables, tried in (((one, once), pair), (both, pair.repeated(2)), (worst, pair)):
        for direction, (first, second) in zip(Direction, (tables, tables[::-1]), strict=True):
            assert tried.delta is not None
            assert tried.renyi is not None
            bound = tried.delta(enclosed_log(level**2), direction)
            direct = hockey_stick(first, second, level**2)
            found.append(Finding(direct <= bound.upper, f"δ at most {bound}", f"{float(direct)}"))
            most = (tried.renyi(Fraction(case["order"]), direction) * (case["order"] - 1)).exp()
            moments = moment(first, second, case["order"])
            found.append(Finding(moments <= most.upper, f"moment at most {most}", f"{float(moments)}"))
    assert pair.delta is not None
    exact, bound = hockey_stick(*worst, level**2), pair.delta(enclosed_log(level**2), Direction.REMOVE)
    found.append(Finding(agrees(bound, exact), f"δ = {bound}", f"{float(exact)}, at the worst place"))
    return _first_that_fails(found)


def _examine_flipped_range(case: Case) -> Finding:
    """A wrong bound: permute-and-flip of two columns, one raised by ε, has losses in an interval of length ε."""
    length = case["length"] ** 2
    raised = (1 - 1 / (2 * length), 1 / (2 * length))
    bound = bounded_range_pair(enclosed_log(length)).delta
    assert bound is not None
    quoted, direct = bound(enclosed_log(Fraction(1)), Direction.REMOVE), hockey_stick(raised, law((1, 1)), Fraction(1))
    return Finding(direct <= quoted.upper, f"δ at most {quoted}", f"{float(direct)}")


def _first_that_fails(found: Sequence[Finding]) -> Finding:
    return next((finding for finding in found if not finding.holds), found[-1])


def _intervals() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "length": st.sampled_from([Fraction(17, 16), Fraction(3, 2), Fraction(4)]),
            "level": st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(7, 8)]),
            "places": st.tuples(*[st.integers(1, 15).map(lambda k: Fraction(k, 16))] * 3),
            "order": st.integers(2, 12),
        }
    )


# Thresholds

_Told: TypeAlias = tuple[int, ...]
_Law: TypeAlias = Callable[[_Told, list[int]], Enclosure]
"""How likely some columns are told, of columns with these scores."""


def _threshold(case: Case, **options: Any) -> AboveThreshold:
    names = ("threshold", "threshold_scale", "scale", "answers", "granularity", "signed")
    given = {name: case[name] for name in names} | options
    return AboveThreshold(**{name: Public(value) for name, value in given.items()})


def _noises_of(mechanism: AboveThreshold) -> tuple[DiscreteLaplaceNoise, DiscreteLaplaceNoise]:
    spacing = mechanism.granularity.value
    scales = mechanism.threshold_scale.value, mechanism.scale.value
    return DiscreteLaplaceNoise(scales[0] / spacing), DiscreteLaplaceNoise(scales[1] / spacing)


def _law_of(mechanism: AboveThreshold, *, noiseless_threshold: bool = False, noiseless_scores: bool = False) -> _Law:
    """The law of what is told; in wrong forms without some of the noise."""
    of_threshold, of_score = _noises_of(mechanism)
    noises = NoNoise() if noiseless_threshold else of_threshold, NoNoise() if noiseless_scores else of_score
    least, answers = ceil(mechanism.threshold.value / mechanism.granularity.value), int(mechanism.answers.value)
    return lambda told, scores: first_above(told, scores, least, answers, noises)


def _every_answer(columns: int, answers: int) -> list[_Told]:
    return list(chain.from_iterable(combinations(range(columns), size) for size in range(answers + 1)))


def _boxed_threshold(case: Case) -> Finding:
    """Whether columns are told as often as their law says, over all noise in a box."""
    spacing = case["granularity"]
    mechanism = _threshold(case, threshold_scale=spacing / 4, scale=spacing / 3)
    scores, _ = _scores(mechanism, {**case, "record": case["record"][:2], "others": [o[:2] for o in case["others"]]})
    vectors = list(product(range(-_BOX, _BOX + 1), repeat=1 + len(scores)))
    coins = _BoxCoins(iter([[own for own, *_ in vectors], [z for _, *others in vectors for z in others]]))
    rows = mechanism.noisy(scores, len(vectors), cast("Coins", coins)).astype(int).tolist()
    noises = [DiscreteLaplaceNoise(scale) for scale in (coins.scales[0], *[coins.scales[1]] * len(scores))]
    outside = 2 * sum((noise.beyond(_BOX) for noise in noises), _exactly(0)).upper
    found = dict.fromkeys(_every_answer(len(scores), int(mechanism.answers.value)), _exactly(0))
    for vector, row in zip(vectors, rows, strict=True):
        told = tuple(column for column in row if column < len(scores))
        chances = (noise.exactly(z) for noise, z in zip(noises, vector, strict=True))
        found[told] += prod(chances, start=_exactly(1))
    law = _law_of(mechanism)
    laws = {told: law(told, scores) for told in found}
    holds = all(
        inside.lower <= laws[told].upper and laws[told].lower <= inside.upper + outside
        for told, inside in found.items()
    )
    return Finding(holds, f"law {[str(p) for p in laws.values()]}", f"in the box {[str(p) for p in found.values()]}")


def _adverse_threshold(case: Case) -> tuple[Case, _Told]:
    """Columns far above the threshold that miss it, before as many at it as are told; and the record that shows it.

    The noise of the threshold alone can make so many of them miss it. The record raises them all, and the answers
    either not at all or, where votes are signed, it lowers them.
    """
    spacing, answers = case["granularity"], int(case["answers"])
    missing = answers + 3
    weight = min(case["weight"], Fraction(2))
    far = spacing * _STEPS
    against = -far if case["signed"] else Fraction(0)
    threshold = spacing * ceil(abs(case["threshold"]))
    adverse = {
        **case,
        "weight": weight,
        "threshold": threshold,
        "threshold_scale": (1 + case["threshold_scale"]) * spacing / 8,
        "scale": spacing / 4,
        "record": (far,) * missing + (against,) * answers,
        "others": ((threshold + 2 * weight * far,) * missing + (threshold + weight * far,) * answers,),
    }
    return adverse, tuple(range(missing, missing + answers))


def _loses(mechanism: AboveThreshold, law: _Law, case: Case, answers: Sequence[_Told]) -> Enclosure:
    with_record, without = _scores(mechanism, case)
    return _lost([law(told, with_record) for told in answers], [law(told, without) for told in answers])


def _examine_threshold(case: Case) -> Finding:
    """No data lose more than is declared, and adverse ones nearly that; told is what reaches the threshold."""
    boxed = _boxed_threshold(case)
    if not boxed.holds:
        return boxed
    adverse, told = _adverse_threshold(case)
    found = []
    every = _every_answer(len(case["record"]), int(case["answers"]))
    for tried, answers, compared in ((case, every, _bounded), (adverse, [told], _reached)):
        mechanism = _threshold(tried)
        lost = _loses(mechanism, _law_of(mechanism), tried, answers)
        found.append(compared(_declared(mechanism.loss.epsilon, tried), lost))
    return _first_that_fails(found)


def _examine_wrong(case: Case, quoted: Callable[[AboveThreshold], AboveThreshold], **without: bool) -> Finding:
    """Whether an adverse record loses at most what is quoted, from a mechanism without some of the noise."""
    adverse, told = _adverse_threshold(case)
    mechanism = _threshold(adverse)
    lost = _loses(mechanism, _law_of(mechanism, **without), adverse, [told])
    return _bounded(_declared(quoted(mechanism).loss.epsilon, adverse), lost)


def _examine_as_one_answer(case: Case) -> Finding:
    """A wrong bound: several answers lose what one does."""
    return _examine_wrong(case, lambda mechanism: evolve(mechanism, answers=Public(1)))


def _examine_sure_threshold(case: Case) -> Finding:
    """A wrong form: the threshold has no noise."""
    return _examine_wrong(case, lambda mechanism: mechanism, noiseless_threshold=True)


def _examine_sure_scores(case: Case) -> Finding:
    """A wrong form: scores have no noise; what a score is beside the one before is then told."""
    mechanism = _threshold(case)
    with_record, without = _scores(mechanism, case)
    law = _law_of(mechanism, noiseless_scores=True)
    quoted = _declared(mechanism.loss.epsilon, case).exp()
    for told in _every_answer(len(case["record"]), int(case["answers"])):
        for one, other in ((with_record, without), (without, with_record)):
            first, second = law(told, one), law(told, other)
            if first.lower > (quoted * second).upper:
                return Finding(False, f"P at most {quoted * second}", f"summed {first}")
    return Finding(True, f"e^ε = {quoted}", "no answer is likelier")


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
                    "threshold_scale": st.integers(1, 8).map(lambda k: Fraction(k, 4)),
                    "threshold": st.integers(-4, 12).map(lambda k: Fraction(k, 2)),
                    "answers": st.integers(1, 2),
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


_TWO_COLUMNS = {
    "record": (Fraction(0), Fraction(1)),
    "others": (),
    "weight": Fraction(1),
    "threshold": Fraction(1),
    "threshold_scale": Fraction(2),
    "scale": Fraction(2),
    "answers": 2,
    "granularity": Fraction(1),
    "signed": False,
}


def _rejected(name: str, says: str, examine: Callable[[Case], Finding]) -> Claim:
    return Claim(
        id=f"selection/above-threshold-{name}",
        statement="a wrong form of the sparse vector technique (Lyu, Su, Li 2017, Section 3)",
        says=says,
        cases=_votes(),
        examine=examine,
        expectation=Expectation.REJECTED,
        witness=_TWO_COLUMNS,
    )


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
    Claim(
        id="selection/bounded-range",
        statement="Dong, Durfee, Rogers 2020; Cesar, Rogers 2021; docs/soundness_selection.md",
        says="losses in an interval of length ε, once or in two adapted choices, have at most the δ and τ of the pair",
        cases=_intervals,
        examine=_examine_range,
    ),
    Claim(
        id="selection/permute-and-flip-in-an-interval",
        statement="a wrong bound: what the exponential mechanism loses is quoted for permute-and-flip of the same ε",
        says="permute-and-flip with the pure loss ε has at most the δ of losses in an interval of length ε",
        cases=_intervals,
        examine=_examine_flipped_range,
        expectation=Expectation.REJECTED,
        witness={"length": Fraction(3, 2), "level": Fraction(0), "places": (Fraction(1, 2),) * 3, "order": 2},
    ),
    Claim(
        id="selection/above-threshold",
        statement="Dwork, Roth 2014, Theorem 3.23; Lyu, Su, Li 2017, Algorithm 1",
        says="above-threshold loses at most what it declares, adverse records of many columns nearly that",
        cases=_votes(),
        examine=_examine_threshold,
    ),
    _rejected(
        "without-noise-of-scores",
        "above-threshold whose scores have no noise, but the threshold has, loses what it declares with both",
        _examine_sure_scores,
    ),
    _rejected(
        "without-noise-of-the-threshold",
        "above-threshold whose threshold has no noise, but scores have, loses what it declares with both",
        _examine_sure_threshold,
    ),
    _rejected(
        "answers-as-one",
        "above-threshold loses with several answers what it does with one, with the same noise",
        _examine_as_one_answer,
    ),
)
