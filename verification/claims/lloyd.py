"""Claims of IS Section 4: the profile of weighted DP-Lloyd, and the law of the noise of its sums.

Legend: a transcript is what DP-Lloyd releases: per iteration a noisy count and a noisy sum of each cluster. Its density
on two data sets is computed from the definition, with assignments of its own. β_c and β_s are the scales of counts and
sums, ζ is the noise of a sum, d its dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from ...accounting.enclosures import Enclosure
from ...accounting.expressions import Variable, W, enclose, norm
from ...accounting.norms import Norm
from ...accounting.provenance import Public
from ...accounting.sampling.losses import PureLoss
from ...mechanisms.lloyd import Lloyd, Split
from ...plugins.contract import Case, Claim, Expectation, Finding

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Vector: TypeAlias = tuple[Fraction, ...]
Weighted: TypeAlias = tuple[Fraction, Vector]

_PRECISION = 128
_NEAR = Fraction(1, 2**100)
_CLOSE = Fraction(1, 2**76)
_ORDERS = ("1", "3/2", "2", "inf")


def _length(vector: Vector, order: Norm) -> Enclosure:
    """‖v‖_p: exact for p = 1 and ∞, enclosed otherwise."""
    if order == Norm.L1:
        return Enclosure.of(sum(map(abs, vector), Fraction(0)), precision=_PRECISION)
    if order == Norm.LINF:
        return Enclosure.of(max(map(abs, vector)), precision=_PRECISION)
    total = Enclosure.of(0, precision=_PRECISION)
    for entry in vector:
        total = total + Enclosure.of(abs(entry), precision=_PRECISION).power(1 / order.reciprocal)
    return total.power(order.reciprocal)


def _minus(first: Vector, second: Vector) -> Vector:
    return tuple(a - b for a, b in zip(first, second, strict=True))


# The transcript of DP-Lloyd


@frozen
class _Cluster:
    """What one iteration releases about one cluster."""

    count: Fraction
    total: Vector


def _statistics(data: Sequence[Weighted], centres: Sequence[Vector]) -> list[_Cluster]:
    """The exact counts and sums of the clusters around some centres, each record in the first nearest one."""
    members: list[list[Weighted]] = [[] for _ in centres]
    for weight, record in data:
        squared = [sum((a * a for a in _minus(record, centre)), Fraction(0)) for centre in centres]
        members[squared.index(min(squared))].append((weight, record))
    return [
        _Cluster(
            sum((w for w, _ in group), Fraction(0)),
            tuple(sum((w * x[j] for w, x in group), Fraction(0)) for j in range(len(centres[0]))),
        )
        for group in members
    ]


def _updated(release: Sequence[_Cluster], centres: Sequence[Vector]) -> list[Vector]:
    """Any rule that looks at the releases alone would do; this one keeps a centre whose count is below 1."""
    return [
        tuple(entry / cluster.count for entry in cluster.total) if cluster.count >= 1 else centre
        for cluster, centre in zip(release, centres, strict=True)
    ]


def _distances(
    transcript: Sequence[Sequence[_Cluster]], data: Sequence[Weighted], start: Sequence[Vector], order: Norm, case: Case
) -> Enclosure:
    """−log of the density of a transcript, but for a constant that is the same on every data set."""
    total, centres = Enclosure.of(0, precision=_PRECISION), list(start)
    for release in transcript:
        for seen, exact in zip(release, _statistics(data, centres), strict=True):
            total = total + abs(seen.count - exact.count) / case["scale_count"]
            total = total + _length(_minus(seen.total, exact.total), order) / case["scale_sum"]
        centres = _updated(release, centres)
    return total


def _transcript(case: Case, telling: bool) -> list[list[_Cluster]]:
    """Releases some steps away from the exact ones without the record; or beyond them along what the record adds."""
    (weight, record), others, centres = case["record"], case["others"], list(case["centres"])
    result = []
    for errors in case["errors"]:
        with_it, without = _statistics([*others, (weight, record)], centres), _statistics(others, centres)
        release = []
        for one, other, (count_error, sum_error) in zip(with_it, without, errors, strict=True):
            added = one.count - other.count, _minus(one.total, other.total)
            if telling:
                steps = 1 + abs(count_error)
                release.append(
                    _Cluster(
                        other.count + steps * added[0],
                        tuple(a + steps * b for a, b in zip(other.total, added[1], strict=True)),
                    )
                )
            else:
                moved = tuple(a + b for a, b in zip(other.total, sum_error, strict=True))
                release.append(_Cluster(other.count + count_error, moved))
        result.append(release)
        centres = _updated(release, centres)
    return result


def _mechanism(case: Case) -> Lloyd:
    return Lloyd(
        clusters=Public(len(case["centres"])),
        scale_sum=Public(case["scale_sum"]),
        scale_count=Public(case["scale_count"]),
        radius=Public(1),
        norm=Public(case["order"]),
        iterations=Public(len(case["errors"])),
    )


def _declared(mechanism: Lloyd) -> PureLoss:
    return mechanism.loss


def _without_counts(mechanism: Lloyd) -> PureLoss:
    """A wrong profile: the noisy counts cost nothing."""
    return PureLoss(mechanism.iterations.value * W * norm(mechanism.norm.value) / mechanism.scale_sum.value)


def _one_iteration(mechanism: Lloyd) -> PureLoss:
    """A wrong profile: iterations after the first cost nothing."""
    return PureLoss(mechanism.loss.epsilon / mechanism.iterations.value)


def _examine_profile(profile: Callable[[Lloyd], PureLoss]) -> Callable[[Case], Finding]:
    """No transcript is likelier by more than e^ε with the record or without it; some transcript reaches that."""

    def examine(case: Case) -> Finding:
        order = Norm.of(case["order"])
        weight, record = case["record"]
        norms = {norm(order): _length(record, order), W: Enclosure.of(weight, precision=_PRECISION)}
        declared = enclose(profile(_mechanism(case)).epsilon, norms, precision=_PRECISION)
        ratios = []
        for telling in (False, True):
            transcript = _transcript(case, telling)
            with_it, without = (
                _distances(transcript, data, case["centres"], order, case)
                for data in ([*case["others"], case["record"]], case["others"])
            )
            ratios.append(without - with_it)
        seen, reached = ratios
        bound = declared.upper * (1 + _NEAR)
        near = abs(reached.midpoint - declared.midpoint) <= declared.upper * _NEAR
        return Finding(
            holds=max(abs(seen.lower), abs(seen.upper)) <= bound and near,
            closed_form=f"ε(w, x) = {declared}",
            independent=f"log-ratio of densities {seen} at one transcript, {reached} at the telling one",
        )

    return examine


def _transcript_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    entries = st.integers(-9, 9).map(lambda n: Fraction(n, 3))
    scales = st.integers(1, 40).map(lambda n: Fraction(n, 4))
    weights = st.integers(2, 12).map(lambda n: Fraction(n, 2))

    def of_shape(shape: tuple[int, int, int]) -> SearchStrategy[Case]:
        dimension, clusters, iterations = shape
        vectors = st.tuples(*[entries] * dimension)
        weighted = st.tuples(weights, vectors)
        errors = st.tuples(*[st.tuples(entries, vectors)] * clusters)
        return st.fixed_dictionaries(
            {
                "order": st.sampled_from(_ORDERS),
                "centres": st.tuples(*[vectors] * clusters),
                "record": weighted,
                "others": st.lists(weighted, max_size=4),
                "errors": st.tuples(*[errors] * iterations),
                "scale_sum": scales,
                "scale_count": scales,
            }
        )

    return st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)).flatmap(of_shape)


# The noise of the sums


def _log_density(noise: Vector, order: Norm, scale: Fraction, shape: int) -> Enclosure:
    """Log-density of a radius of law Gamma(shape, scale) times a direction from the cone measure, but for a constant.

    The density of the radius at r is ∝ r^(shape − 1)·e^(−r/scale), and it is spread over a sphere of size ∝ r^(d − 1).
    """
    radius = _length(noise, order)
    return (shape - len(noise)) * radius.log() - radius / scale


def _examine_noise(shape: Callable[[int], int]) -> Callable[[Case], Finding]:
    """Whether moving the sum by a shift changes no density by more than e^(‖shift‖/β)."""

    def examine(case: Case) -> Finding:
        order, scale, shift, noise = Norm.of(case["order"]), case["scale"], case["shift"], case["noise"]
        allowed = _length(shift, order) / scale
        here, there = (_log_density(at, order, scale, shape(len(noise))) for at in (noise, _minus(noise, shift)))
        ratio = abs(here - there)
        return Finding(
            holds=ratio.upper <= allowed.upper * (1 + _NEAR) + _NEAR,
            closed_form=f"‖s‖/β = {allowed.upper_float:.12g}",
            independent=f"the log-densities at ({', '.join(map(str, noise))}) and s beside it differ by "
            f"{ratio.lower_float:.12g}",
        )

    return examine


def _noise_cases(dimensions: tuple[int, int]) -> Callable[[], SearchStrategy[Case]]:
    def cases() -> SearchStrategy[Case]:
        from hypothesis import strategies as st

        near = st.integers(-1000, 1000).map(lambda n: Fraction(n, 1000))

        def of_dimension(dimension: int) -> SearchStrategy[Mapping[str, object]]:
            vectors = st.tuples(*[near] * dimension).filter(any)
            drawn = st.fixed_dictionaries(
                {
                    "order": st.sampled_from(_ORDERS),
                    "scale": st.integers(1, 40).map(lambda n: Fraction(n, 4)),
                    "shift": vectors,
                    "noise": vectors,
                }
            )
            return drawn.filter(lambda case: case["noise"] != case["shift"])

        return st.integers(*dimensions).flatmap(of_dimension)

    return cases


def _gamma_shape(dimension: int) -> int:
    """The radius of a density ∝ exp(−‖ζ‖/β)."""
    return dimension


def _exponential_shape(dimension: int) -> int:
    """A wrong law, drawn by who reads exp(−‖ζ‖/β) as the density of the radius."""
    return 1


# Scales of the noise


def _examine_scales(case: Case) -> Finding:
    """Cubes decide: (β_count/β_sum)³ = 4dρ² as published, (β_sum/(r·β_count))³ = 4dρ² as derived; ρ = 0.225."""
    scale, radius, dimension = case["scale"], case["radius"], case["dimension"]
    published, derived = (split.count_scale(scale, dimension, radius) for split in (Split.PUBLISHED, Split.DERIVED))
    share = 4 * dimension * Fraction("0.225") ** 2
    cubes = (published / scale) ** 3, (scale / (radius * derived)) ** 3
    return Finding(
        holds=all(abs(cube - share) <= share * _CLOSE for cube in cubes),
        closed_form=f"cubes {float(cubes[0]):.16g} (published) and {float(cubes[1]):.16g} (derived)",
        independent=f"4dρ² = {share}",
    )


def _scale_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    positive = st.fractions(Fraction(1, 20), 1000, max_denominator=20)
    return st.fixed_dictionaries({"scale": positive, "radius": positive, "dimension": st.integers(1, 5000)})


# Starting centres


def _beyond(centre: Fraction, edge: Fraction, scale: Fraction) -> Enclosure:
    """Return the probability Pr[centre + Laplace(scale) ≥ edge]."""
    half = Enclosure.of(-abs(edge - centre) / scale, precision=_PRECISION).exp() / 2
    return 1 - half if centre > edge else half


def _half_counted(data: Sequence[Weighted], edge: Fraction, scale: Fraction) -> Enclosure:
    """The probability that the noisy count of the second cluster reaches the edge, from two random records as centres.

    The law of the noisy count alone: that of all releases tells as much at least.
    """
    starts = list(permutations(range(len(data)), 2))
    total = Enclosure.of(0, precision=_PRECISION)
    for start in starts:
        _, second = _statistics(data, [data[i][1] for i in start])
        total = total + _beyond(second.count, edge, scale)
    return total / len(starts)


def _examine_random_records(case: Case) -> Finding:
    """Records at 1, and one at −1 more: that one as the first centre sends all others to the second cluster."""
    others: list[Weighted] = [(Fraction(1), (Fraction(1),))] * case["records"]
    record: Weighted = (Fraction(1), (Fraction(-1),))
    mechanism = _mechanism({**case, "centres": (0, 1), "order": "2", "errors": ((),)})
    loss = enclose(mechanism.loss.epsilon, _at(record), precision=_PRECISION)
    edge, scale = Fraction(case["records"], 2), case["scale_count"]
    with_it, without = (_half_counted(data, edge, scale) for data in ([*others, record], others))
    allowed = loss.exp() * without
    return Finding(
        holds=with_it.lower <= allowed.upper,
        closed_form=f"ε = {loss.upper_float:.12g}, so that the second count is {edge} at least with probability "
        f"e^ε·{without.upper_float:.3g} = {allowed.upper_float:.3g} at most",
        independent=f"that probability over all pairs of starting records: {with_it.lower_float:.3g}",
    )


def _at(record: Weighted) -> dict[Variable, Enclosure]:
    weight, vector = record
    return {norm(2): _length(vector, Norm.L2), W: Enclosure.of(weight, precision=_PRECISION)}


def _start_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    scales = st.integers(1, 4).map(Fraction)
    return st.fixed_dictionaries({"records": st.integers(2, 30), "scale_count": scales, "scale_sum": scales})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="is/proposition-13",
        statement="IS Proposition 13",
        says="weighted DP-Lloyd has the profile T·w·(1/β_count + ‖x‖_p/β_sum), and no smaller one",
        cases=_transcript_cases,
        examine=_examine_profile(_declared),
    ),
    Claim(
        id="is/proposition-13-without-counts",
        statement="IS Proposition 13, a wrong profile",
        says="the noisy counts cost nothing",
        cases=_transcript_cases,
        examine=_examine_profile(_without_counts),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="is/proposition-13-one-iteration",
        statement="IS Proposition 13, a wrong profile",
        says="T iterations cost what one does",
        cases=_transcript_cases,
        examine=_examine_profile(_one_iteration),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="is/noise-of-sums",
        statement="IS Section 4, noise of density ∝ exp(−‖ζ‖_p/β)",
        says="with a radius of law Gamma(d, β) a shift s of the sum costs ‖s‖_p/β",
        cases=_noise_cases((1, 10)),
        examine=_examine_noise(_gamma_shape),
    ),
    Claim(
        id="is/noise-with-exponential-radius",
        statement="IS Section 4, noise of density ∝ exp(−‖ζ‖_p/β)",
        says="with a radius of law Exponential(β) a shift s of the sum costs ‖s‖_p/β, in 2 and more dimensions",
        cases=_noise_cases((2, 10)),
        examine=_examine_noise(_exponential_shape),
        expectation=Expectation.REJECTED,
        erratum="IS-noise",
        witness={
            "order": "1",
            "scale": Fraction(1),
            "shift": (Fraction(1, 10), Fraction(0)),
            "noise": (Fraction(-1, 1000), Fraction(0)),
        },
    ),
    Claim(
        id="is/random-records-as-centres",
        statement="IS Section 5, starting centres",
        says="one iteration from two random records as centres has the profile of Proposition 13",
        cases=_start_cases,
        examine=_examine_random_records,
        expectation=Expectation.REJECTED,
        erratum="IS-init",
        witness={"records": 20, "scale_count": Fraction(1), "scale_sum": Fraction(1)},
    ),
    Claim(
        id="is/noise-scales",
        statement="IS Section 5, noise scales",
        says="the scale of counts is ∛(4dρ²)·β_sum as published, and β_sum/(r∛(4dρ²)) as derived",
        cases=_scale_cases,
        examine=_examine_scales,
    ),
)
