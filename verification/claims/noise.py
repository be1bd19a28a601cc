"""Claims about noise as it is drawn: correctly rounded on a grid, and about ways that are not private.

Legend: r is the scale in units of the grid; T(x) the probability that noise of scale 1 exceeds x in magnitude, G its
inverse; p the uniform number whose bits are drawn. The cell of noise is the whole number of units nearest to it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, final

import numpy as np
from attrs import define, frozen

from ...accounting.draws.choice import choose
from ...accounting.draws.discrete import TABLED, DiscreteGaussian, discrete_gaussian, discrete_laplace
from ...accounting.draws.exact import LazyNumber
from ...accounting.draws.laws import GAUSSIAN, LAPLACE, Law
from ...accounting.draws.lp_noise import Proposal, exact_lp_cells, kernel_cells, kernel_states
from ...accounting.draws.noise import LARGEST_SCALE, noise_cells
from ...accounting.draws.source import Bits
from ...accounting.draws.tables import OCTAVES, PLACE, POINT, SEGMENTS, row
from ...accounting.enclosures import Enclosure
from ...accounting.norms import Norm
from ...plugins.contract import Case, Claim, Coins, Expectation, Finding
from ..oracles import noise as oracle

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_WORD = 64
_HALF = Fraction(1, 2)
_CLOSE = Fraction(1, 2**300)
_BINARY64 = 2.0**-53  # what separates the numbers from 1/2 to 1


@final
@frozen
class _Known:
    """A law of the library beside the same law of the oracle."""

    law: Law
    tail: Callable[[Fraction], Fraction]
    magnitude: Callable[[Fraction], Fraction]

    def beyond(self, end: Fraction, scale: Fraction) -> Fraction:
        """The probability of a magnitude beyond `end` units."""
        return self.tail(max(end, Fraction(0)) / scale)

    def share(self, cell: int, scale: Fraction) -> Fraction:
        """The probability of a magnitude whose cell is `cell`."""
        return self.beyond(cell - _HALF, scale) - self.beyond(cell + _HALF, scale)


_LAWS = MappingProxyType(
    {
        "laplace": _Known(LAPLACE, oracle.laplace_tail, oracle.laplace_magnitude),
        "gaussian": _Known(GAUSSIAN, oracle.gaussian_tail, oracle.gaussian_magnitude),
    }
)


@final
@define
class _Chosen:
    """A source of one word, and of another one for ever after."""

    word: int
    further: int
    private: bool = False

    def bits(self, count: int) -> Bits:
        drawn, self.word = self.word, self.further
        return np.full(count, drawn, dtype=np.uint64)


# The cell of a word


def _examine_cells(case: Case) -> Finding:
    """A word at the end of a cell or beside it, against the tail at both ends of the cell that is drawn."""
    known, scale = _LAWS[case["law"]], case["scale"]
    at = int(known.beyond(case["cell"] + _HALF, scale) * (1 << _WORD - 1)) + case["away"]
    first, further = min(max(at, 0), (1 << _WORD - 1) - 1), case["further"]
    word = first << 1 | case["sign"]
    (drawn,) = noise_cells(known.law, scale, 1, _Chosen(word, further)).tolist()
    p = (first + Fraction(further, (1 << _WORD) - 1)) / (1 << _WORD - 1)  # the second word comes again and again
    inner, outer = (known.beyond(abs(drawn) + side, scale) for side in (-_HALF, _HALF))
    return Finding(
        holds=outer <= p <= inner and (drawn <= 0 if case["sign"] else drawn >= 0),
        closed_form=f"cell {drawn}",
        independent=f"T from {float(inner):.17g} to {float(outer):.17g} at its ends, p = {float(p):.17g}",
    )


def _examine_error_bounds(case: Case) -> Finding:
    """The polynomial of a row, summed exactly at a place that a word can mean, against G there."""
    known, octave, segment = _LAWS[case["law"]], case["octave"], case["segment"]
    place = 2 * case["place"] - 1
    first, rest, bound = row(known.law, octave, segment)
    exact = Fraction(first) + sum(
        (Fraction(c) * (place * (1 << PLACE)) ** n for n, c in enumerate(rest, start=1)), Fraction(0)
    )
    p = (2 * (SEGMENTS + segment) + 1 + place) / Fraction(SEGMENTS << (octave + 2))
    true = known.magnitude(p) * (1 << POINT)
    return Finding(
        holds=abs(exact - true) <= bound - 3,  # 2 are for the scaling, 1 for cutting to an integer
        closed_form=f"{float(exact):.17g} within {bound - 3}",
        independent=f"G(p)·2^{POINT} = {float(true):.17g}, {float(abs(exact - true)):.3g} away",
    )


# Vectors of noise of density ∝ exp(−‖ζ‖_p)

_SHARE = (1 << _WORD) - 1


def _examine_lengths(case: Case) -> Finding:
    """A level at the end of those that keep a length, or beside it, against the ratio of the two densities."""
    order, w, further = case["order"], case["w"], case["further"]
    share = oracle.lp_acceptance(order, (w + Fraction(further, _SHARE)) / (1 << _WORD - 1))
    level = min(max(int(share * (1 << _WORD)) + case["away"], 0), _SHARE)
    right = (level + Fraction(further, _SHARE)) / (1 << _WORD) <= share
    source, proposal = _Chosen(further, further), Proposal(order)
    drawn = proposal.accepts(LazyNumber(w, _WORD - 1, source), LazyNumber(level, _WORD, source))
    words = np.array([[w << 1], [level]], dtype=np.uint64)
    (state,) = kernel_states(proposal, *words).tolist()
    return Finding(
        holds=drawn == right and state in (right, _UNDECIDED),
        closed_form=f"kept: {drawn}, by the kernel {state}",
        independent=f"kept: {right}, level {level} of {float(share * (1 << _WORD)):.17g}",
    )


_UNDECIDED = 2


def _examine_vectors(case: Case) -> Finding:
    """The cells of a vector at a scale that brings one coordinate to the end of a cell, or beside it."""
    order, further = case["order"], case["further"]
    rest = Fraction(further, _SHARE)
    words, levels = case["words"], case["levels"]
    heights = levels if order.order is None else levels[:-1]
    places = [((word >> 1) + rest) / (1 << _WORD - 1) for word in words]
    true = oracle.lp_vector(order.order, places, [(level + rest) / (1 << _WORD) for level in heights])
    scale = (case["cell"] + _HALF) / true[0] * (1 + Fraction(case["away"], 1 << case["nearness"]))
    scale = min(max(scale, Fraction(1)), Fraction(LARGEST_SCALE))
    right = [int(each * scale + _HALF) * (-1 if word & 1 else 1) for each, word in zip(true, words, strict=True)]
    proposal = None if order.order is None else Proposal(order.order)
    given = np.array(words, dtype=np.uint64), np.array(heights, dtype=np.uint64)
    exact = exact_lp_cells(proposal, scale, *given, {}, _Chosen(further, further))
    cells = np.zeros((1, len(words)), dtype=np.int64)
    decided = not kernel_cells(*given, proposal, scale, cells)
    return Finding(
        holds=exact == right and (not decided or cells[0].tolist() == right),
        closed_form=f"cells {exact}, by the kernel {cells[0].tolist() if decided else 'undecided'}",
        independent=f"cells {right}",
    )


# One of finitely many outputs


def _examine_choices(case: Case) -> Finding:
    """A word at the end of an output's share or beside it, against the shares."""
    exponents, further = case["exponents"], case["further"]
    ends = oracle.exponential_shares(exponents)
    at = int(ends[case["end"] % len(ends)] * (1 << _WORD)) + case["away"]
    word = min(max(at, 0), _SHARE)
    right = sum((word + Fraction(further, _SHARE)) / (1 << _WORD) > end for end in ends)
    (drawn,) = choose(exponents, 1, _Chosen(word, further)).tolist()
    return Finding(
        holds=drawn == right,
        closed_form=f"output {drawn}",
        independent=f"output {right}, word {word} of shares that end at {[float(end) for end in ends]}",
    )


# Discrete noise


def _examine_discrete(case: Case) -> Finding:
    """A word at a tail or beside it, against the tails at both ends of the number that is drawn."""
    scale, gaussian, further = case["scale"], case["gaussian"], case["further"]
    at = int(oracle.discrete_tail(gaussian, scale, case["cell"]) * (1 << _WORD - 1)) + case["away"]
    first = min(max(at, 1), (1 << _WORD - 1) - 1)
    source = _Many(first << 1 | case["sign"], further)
    numbers = (discrete_gaussian if gaussian else discrete_laplace)(scale, _ENOUGH, source)
    drawn = int(numbers[0]) if numbers is not None else 0
    p = (first + Fraction(further, _SHARE)) / (1 << _WORD - 1)
    inner, outer = (oracle.discrete_tail(gaussian, scale, abs(drawn) + side) for side in (0, 1))
    return Finding(
        holds=numbers is not None and outer <= p <= inner and (drawn <= 0 if case["sign"] else drawn >= 0),
        closed_form=f"number {drawn}",
        independent=f"tails {float(inner):.17g} and {float(outer):.17g}, p = {float(p):.17g}",
    )


_ENOUGH = 1 << 10
"""Numbers for which a table is made at any scale that is tried."""


@final
@define
class _Many:
    """A source of one word before words that are decided where many are asked for, and of another one where one is."""

    word: int
    further: int
    private: bool = False

    def bits(self, count: int) -> Bits:
        drawn = np.full(count, 5 << 60 if count > 1 else self.further, dtype=np.uint64)
        drawn[0] = self.word if count > 1 else self.further
        return drawn


def _examine_kept(case: Case) -> Finding:
    """The probability with which a rounded normal number is kept, and what is said of it without computing it."""
    scale, y = case["scale"], int(case["cell"] * case["scale"])
    found, true = DiscreteGaussian(scale).kept(y, 80), oracle.rounded_normal_kept(scale, y)
    quick = 1 - (scale**2 + y * y) / (8 * scale**4)
    return Finding(
        holds=found.lower - _CLOSER <= true <= found.upper + _CLOSER and quick <= true <= 1,
        closed_form=f"a(y) from {float(found.lower):.17g} to {float(found.upper):.17g}, at least {float(quick):.12g}",
        independent=f"{float(true):.17g}",
    )


_CLOSER = Fraction(1, 2**70)


# What cells lose


def _examine_ratio(case: Case) -> Finding:
    """The probabilities of one output from sums that are some units apart, against e^(units/scale)."""
    known, scale, moved = _LAWS["laplace"], case["scale"], case["moved"]
    cell = case["cell"]
    here, there = (
        known.share(abs(z), scale) / (2 if z else 1) for z in (cell, cell - moved)
    )  # T is of both signs; the cell 0 has both
    most = Enclosure.of(moved / scale, precision=512).exp().upper
    return Finding(
        holds=here <= there * most * (1 + _CLOSE) and there <= here * most * (1 + _CLOSE),
        closed_form=f"e^ε = {float(most):.12g}",
        independent=f"probabilities {float(here):.12g} and {float(there):.12g}",
    )


# What is not private


def _examine_redrawn(case: Case) -> Finding:
    """Numbers of few bits, of which those are thrown away that do not decide a cell: the law of the others."""
    known, scale, bits = _LAWS[case["law"]], case["scale"], case["bits"]
    kept = decided = 0
    inner, outer = known.beyond(-_HALF, scale), known.beyond(_HALF, scale)
    ends = [known.beyond(z + _HALF, scale) * (1 << bits) for z in range(1 << bits)]
    for first in range(1 << bits):
        if first and not any(first < end < first + 1 for end in ends):
            decided += 1
            kept += outer <= Fraction(first, 1 << bits) and Fraction(first + 1, 1 << bits) <= inner
    drawn, true = Fraction(kept, decided), inner - outer
    return Finding(
        holds=abs(drawn - true) <= _CLOSE,
        closed_form=f"the cell 0 has probability {float(true):.12g}",
        independent=f"it is drawn with probability {float(drawn):.12g}",
    )


def _examine_low_bits(case: Case) -> Finding:
    """An output of binary64 noise around a sum of 0, among the outputs around a sum of 1.

    fl(1 + n) in (−1/2, 1/2) has n in (−3/2, −1/2), a multiple of 2^-53: so is 1 + n, which is exact.
    """
    uniform, sign = case["uniform"], 1 << 63 if case["sign"] else 0
    (output,) = Coins(_Two(uniform << 11, sign)).laplace(Fraction(1), 1).tolist()
    near = -0.5 < output < 0.5
    return Finding(
        holds=not near or (output / _BINARY64).is_integer(),
        closed_form="every output around 0 is one around 1",
        independent=f"{output!r} is no multiple of 2^-53",
    )


@final
@define
class _Two:
    """A source of two words, one at a time."""

    first: int
    second: int
    private: bool = False

    def bits(self, count: int) -> Bits:
        drawn, self.first = self.first, self.second
        return np.full(count, drawn, dtype=np.uint64)


# Cases


def _discrete_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "scale": st.fractions(Fraction(1, 5), 6, max_denominator=30),
            "gaussian": st.booleans(),
            "cell": st.integers(0, 20),
            "away": st.integers(-2, 2) | st.integers(-(2**62), 2**62),
            "further": st.integers(1, _SHARE - 1),
            "sign": st.integers(0, 1),
        }
    )


def _kept_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "scale": st.fractions(TABLED, 10**7, max_denominator=20),
            "cell": st.fractions(-9, 9, max_denominator=50),
        }
    )


def _choice_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    few = st.fractions(-50, 50, max_denominator=30) | st.sampled_from([Fraction(10**6), Fraction(0), Fraction(-300)])
    return st.fixed_dictionaries(
        {
            "exponents": st.lists(few, min_size=2, max_size=6).map(tuple),
            "end": st.integers(0, 4),
            "away": st.integers(-2, 2) | st.integers(-(2**62), 2**62),
            "further": st.integers(1, _SHARE - 1),
        }
    )


def _length_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "order": st.fractions(1, 4, max_denominator=20).filter(lambda p: p > 1)
            | st.sampled_from([Fraction(2), Fraction(20), Fraction(1024), Fraction(2**70), Fraction(10**40 + 1, 7)]),
            "w": st.integers(1, (1 << _WORD - 1) - 1) | st.integers(1, 2**45),
            "away": st.integers(-3, 3) | st.integers(-(2**30), 2**30) | st.integers(-(2**62), 2**62),
            "further": st.integers(1, _SHARE - 1),
        }
    )


def _vector_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    orders = st.sampled_from([Norm(2), Norm("3/2"), Norm("5/4"), Norm(3), Norm(20), Norm(1024), Norm.LINF])

    def of_size(size: int) -> SearchStrategy[Case]:
        apart = 1 << _WORD - 30  # numbers nearer to the place where lengths exceed 1 are never given to a kernel
        bits = st.integers(apart, _SHARE - apart)
        return st.fixed_dictionaries(
            {
                "order": orders,
                "words": st.lists(bits, min_size=size, max_size=size).map(tuple),
                "levels": st.lists(bits, min_size=size + 1, max_size=size + 1).map(tuple),
                "cell": st.integers(1, 200) | st.integers(0, 44).map(lambda k: 1 << k),
                "away": st.sampled_from([-2, -1, 1, 2]) | st.integers(1, 2**20) | st.integers(-(2**20), -1),
                "nearness": st.sampled_from([40, 60, 90, 150]),
                "further": st.integers(1, _SHARE - 1),
            }
        )

    return st.integers(2, 6).flatmap(of_size)


def _scales() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    fine = st.integers(0, 44).flatmap(
        lambda k: st.fractions(2**k, 2 ** (k + 1), max_denominator=99).map(lambda r: min(r, Fraction(LARGEST_SCALE)))
    )
    return st.fractions(1, 50, max_denominator=40) | fine


def _cell_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    shares = st.fractions(0, 6, max_denominator=1000) | st.fractions(6, 40, max_denominator=100)

    def at_scale(scale: Fraction) -> SearchStrategy[Case]:
        return st.fixed_dictionaries(
            {
                "law": st.sampled_from(sorted(_LAWS)),
                "scale": st.just(scale),
                "cell": shares.map(lambda share: int(share * scale)),
                "away": st.integers(-3, 3) | st.integers(-(2**34), 2**34) | st.integers(-(2**62), 2**62),
                "further": st.sampled_from([1, 2**64 - 1]) | st.integers(1, 2**64 - 1),
                "sign": st.integers(0, 1),
            }
        )

    return _scales().flatmap(at_scale)


def _bound_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "law": st.sampled_from(sorted(_LAWS)),
            "octave": st.integers(0, OCTAVES - 1),
            "segment": st.integers(0, SEGMENTS - 1),
            "place": st.sampled_from([Fraction(0), Fraction(1)]) | st.fractions(0, 1, max_denominator=2**20),
        }
    )


def _ratio_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "scale": st.fractions(1, 50, max_denominator=40),
            "cell": st.integers(-200, 200),
            "moved": st.integers(0, 60),
        }
    )


def _redrawn_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "law": st.sampled_from(sorted(_LAWS)),
            "scale": st.fractions(1, 5, max_denominator=9),
            "bits": st.integers(3, 6),
        }
    )


def _output_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    near_one = st.integers(0, 2**51 - 1)  # the others have outputs beyond 1/2, about which the argument says nothing
    return st.fixed_dictionaries({"uniform": near_one.map(lambda k: 2**53 - 1 - k), "sign": st.booleans()})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="noise/cells",
        statement="correctly rounded noise",
        says="a uniform number means the cell that holds its noise, however near to the cell's end",
        cases=_cell_cases,
        examine=_examine_cells,
    ),
    Claim(
        id="noise/error-bounds",
        statement="tables of noise",
        says="the polynomial of each segment is within its printed bound of the inverse tail",
        cases=_bound_cases,
        examine=_examine_error_bounds,
    ),
    Claim(
        id="noise/laplace-ratio",
        statement="Laplace noise on a grid",
        says="cells of sums d units apart have probabilities within e^(d/r) of each other",
        cases=_ratio_cases,
        examine=_examine_ratio,
    ),
    Claim(
        id="noise/lp-lengths",
        statement="noise of density ∝ exp(−‖ζ‖_p)",
        says="a proposed length is kept with the ratio of its density to the proposal's, however near to that",
        cases=_length_cases,
        examine=_examine_lengths,
    ),
    Claim(
        id="noise/lp-cells",
        statement="noise of density ∝ exp(−‖ζ‖_p)",
        says="lengths and levels mean the cells of their vector, however near to the end of a cell",
        cases=_vector_cases,
        examine=_examine_vectors,
    ),
    Claim(
        id="noise/choice",
        statement="McSherry, Talwar 2007, the exponential mechanism over finitely many outputs",
        says="a uniform number means the output in whose share it lies, however near to the share's end",
        cases=_choice_cases,
        examine=_examine_choices,
    ),
    Claim(
        id="noise/discrete",
        statement="Canonne, Kamath, Steinke 2020, discrete Laplace and discrete Gaussian noise",
        says="a uniform number means the whole number between whose tails it lies, however near to one",
        cases=_discrete_cases,
        examine=_examine_discrete,
    ),
    Claim(
        id="noise/discrete-gaussian-kept",
        statement="discrete Gaussian noise from rounded normal numbers",
        says="the share of a rounded normal number that is kept is enclosed, and at least 1 − (σ² + y²)/8σ⁴",
        cases=_kept_cases,
        examine=_examine_kept,
    ),
    Claim(
        id="noise/redrawn",
        statement="noise that is drawn anew",
        says="numbers that do not decide a cell may be thrown away",
        cases=_redrawn_cases,
        examine=_examine_redrawn,
        expectation=Expectation.REJECTED,
        witness={"law": "laplace", "scale": Fraction(1), "bits": 3},
    ),
    Claim(
        id="noise/low-bits",
        statement="noise in binary64",
        says="every output of a sum is an output of its neighbour",
        cases=_output_cases,
        examine=_examine_low_bits,
        expectation=Expectation.REJECTED,
        witness={"uniform": 2**53 - 2**33, "sign": False},
    ),
)
