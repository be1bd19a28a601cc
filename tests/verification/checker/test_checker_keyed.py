"""Certificates of keyed releases made here, from the format alone, and the checker's numbers against Arb."""

import hashlib
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mpmath import libmp

from certdp.verification.checker import Outcome, check
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.envelope import seal
from certdp.verification.checker.intervals import Arithmetic, Interval, Mpf
from certdp.verification.checker.keyed.frequencies import _Rule, prove_rows
from certdp.verification.checker.keyed.keys import TABLE, _Proof
from certdp.verification.checker.keyed.rates import ListedRates, Rates, read_rates
from certdp.verification.checker.keyed.release import _geometric_sum, _hold_budget
from certdp.verification.checker.keyed.units import MARGIN, Units
from certdp.verification.checker.statement import in_decimals
from certdp.verification.checker.verdict import Refused
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples
from tests.support.keyed_bodies import certificate, rows

Body = dict[str, Any]
FINE = Arithmetic(160)
POWERS = ["0", "1/3", "1/2", "1", "3/2", "2", "7"]


class TestSmallTables:
    """Units of a quarter, so that everything can be seen."""

    @pytest.mark.parametrize(
        ("units", "accepted"),
        [
            ((1, 2, 3, 4), True),
            ((0, 1, 1, 0), True),  # reports may fall again, as long as it is by no more than delta
            ((), True),
            ((1, 3), False),
            ((2,), False),
            ((1, 2, 0), False),
            ((1, 2, 3, 4, 5), False),
        ],
    )
    def test_without_growth(self, units: tuple[int, ...], accepted: bool) -> None:
        verdict = check(seal(certificate(rows(*units))))
        assert verdict.accepted is accepted, verdict

    @given(st.lists(st.integers(0, 16), max_size=5), st.integers(16, 40), st.integers(0, 6))
    def test_every_table_of_sixteenths(self, units: list[int], growth: int, allowance: int) -> None:
        """Exactly those are accepted in which all events of neighbouring rows satisfy the definition."""
        factor, spare = Fraction(growth, 16), Fraction(allowance, 16)
        laws = [(Fraction(value, 16), 1 - Fraction(value, 16)) for value in (0, *units)]
        true = all(
            p <= factor * q + spare
            for lower, higher in pairwise(laws)
            for p, q in (*zip(lower, higher, strict=True), *zip(higher, lower, strict=True))
        )
        body = certificate(
            rows(*units), epsilon="1", delta=str(spare), bits=4, growth=str(growth), allowance=str(allowance)
        )
        assert check(seal(body)).accepted is true

    @pytest.mark.parametrize(("growth", "accepted"), [(10, True), (11, False)])
    def test_growth_is_held_against_epsilon(self, growth: int, accepted: bool) -> None:
        """e is between 10/4 and 11/4, by 2.718…"""
        assert check(seal(certificate(rows(1), epsilon="1", growth=str(growth)))).accepted is accepted

    def test_more_than_is_kept(self) -> None:
        scheme = {"name": "listed-rates", "rates": ["1/4", "2/5", "1"]}
        for units, accepted in (((1, 1, 2), True), ((1, 2, 2), False)):
            body = certificate(rows(*units), scheme=scheme)
            assert check(seal(body)).accepted is accepted

    @pytest.mark.parametrize(
        ("kept", "accepted"), [({"name": "ppswor", "threshold": "1/9", "sizes": ["0", "3", "99"]}, True), ({}, False)]
    )
    def test_listed_sizes(self, kept: Body, accepted: bool) -> None:
        """1 - e^(-1/3) is 0.28, 1 - e^-11 almost 1."""
        scheme = kept or {"name": "ppswor", "threshold": "1/9", "sizes": ["0", "2", "99"]}
        assert check(seal(certificate(rows(0, 1, 2, 3), scheme=scheme))).accepted is False  # no fourth size
        assert check(seal(certificate(rows(0, 1, 2), scheme=scheme))).accepted is accepted

    def test_evidence_by_citation(self) -> None:
        body = certificate(rows(1))
        body["sampler"]["evidence"] = body["assumptions"][3]["value"] = "cited"
        assert check(seal(body)).outcome is Outcome.HOLDS_ASSUMING_PROFILE

    @pytest.mark.parametrize(("delta", "accepted"), [("3/4", True), ("74/100", False)])
    def test_three_elements_of_a_user(self, delta: str, accepted: bool) -> None:
        body = certificate(rows(1, 2, 3), delta=delta)
        body["claim"] |= {"unit": "user", "contributions": 3}
        body["theorem"] += " and group privacy"
        body["assumptions"].append({"name": "each user contributes at most so many elements in all", "value": "3"})
        assert check(seal(body)).accepted is accepted

    @pytest.mark.parametrize(
        ("delta", "reason"), [("1", None), ("1000001/1000000", "no probability"), ("3/2", "no probability")]
    )
    def test_delta_is_a_probability_whatever_epsilon_is(self, delta: str, reason: str | None) -> None:
        verdict = check(seal(certificate(rows(1), epsilon="3", delta=delta)))
        assert verdict.accepted is (reason is None), verdict
        assert reason is None or reason in verdict.reason

    @pytest.mark.parametrize(("delta", "accepted"), [("7/12", True), ("699999/1200000", False)])
    def test_one_step_is_added_up_exactly(self, delta: str, accepted: bool) -> None:
        """1/4 of one release and 1/3 that was paid before, none of which is rounded."""
        body = certificate(rows(1), delta=delta, released_cost={"epsilon": "0", "delta": "1/3"})
        body["theorem"] += " and basic composition"
        body["mechanism"]["options"] = {"scale": "2"}
        body["assumptions"] += [
            {"name": "mechanism.scale", "value": "2"},
            {"name": "mechanism.scale was released", "value": "within 2 to 2"},
            {"name": "released delta", "value": "1/3"},
        ]
        verdict = check(seal(body))
        assert verdict.accepted is accepted, verdict

    @pytest.mark.parametrize(("delta", "accepted"), [("1/2", True), ("49/100", False), ("1/4", False)])
    def test_two_elements_of_a_user(self, delta: str, accepted: bool) -> None:
        body = certificate(rows(1, 2, 3), delta=delta)
        body["claim"] |= {"unit": "user", "contributions": 2}
        body["theorem"] += " and group privacy"
        body["assumptions"].append({"name": "each user contributes at most so many elements in all", "value": "2"})
        assert check(seal(body)).accepted is accepted

    @given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.integers(1, 3), st.integers(8, 20))
    @example([1, 1, 1, 1, 1, 1, 1, 1], 1, 8)
    @example([1, 2, 2, 2, 1], 1, 16)
    @examples(150)
    def test_every_law_of_delays(self, units: list[int], allowance: int, growth: int) -> None:
        """Exactly those are accepted whose copies, one moved by one, satisfy the definition for all sets of tokens."""
        factor, spare = Fraction(growth, 8), Fraction(allowance, 8)
        law = [Fraction(value, 8) for value in (0, *units, 0)]
        true = sum(units) == 8 and all(
            sum(max(Fraction(0), p - factor * q) for p, q in pairs) <= spare
            for pairs in (list(pairwise(law)), [(b, a) for a, b in pairwise(law)])
        )
        body = certificate(
            {"columns": [{"width": "1", "units": list(map(str, units))}]},
            epsilon="1",
            delta=str(spare),
            reports="delays",
            bits=3,
            growth=str(growth),
            allowance=str(allowance),
        )
        body["theorem"] = "PWS Section 5, Lemma 5.2"
        assert check(seal(body)).accepted is true


def rational(value: Mpf) -> Any:
    sign, mantissa, exponent, _ = value
    return flint.arb((-1) ** sign * mantissa) * flint.arb(2) ** exponent


def truth(scheme: Body, frequency: int) -> Any:
    """q_i by Arb."""
    if not frequency:
        return flint.arb(0)
    power, threshold = Fraction(scheme["power"]), Fraction(scheme["threshold"])
    exponent = arb_of(power)
    size = flint.arb(frequency) ** exponent * arb_of(threshold)
    if scheme["name"] == "pps":
        return size if size < 1 else flint.arb(1)
    return -((-size).expm1())


def above(bound: Mpf, value: Any) -> bool:
    return bool(libmp.mpf_eq(bound, libmp.finf)) or not (rational(bound) < value)


@pytest.fixture(autouse=True)
def precisely() -> Any:
    before, flint.ctx.prec = flint.ctx.prec, 400
    yield
    flint.ctx.prec = before


class TestRates:
    @pytest.mark.parametrize("name", ["ppswor", "pps"])
    @pytest.mark.parametrize("power", POWERS)
    @pytest.mark.parametrize("threshold", ["1/1000", "1/7", "3"])
    def test_bounds_hold_all_steps_of_a_range(self, name: str, power: str, threshold: str) -> None:
        scheme = {"name": name, "threshold": threshold, "power": power}
        rates = read_rates(scheme, FINE)
        growth = Interval(libmp.from_float(1.25), libmp.from_float(1.25))
        exact = [truth(scheme, i) for i in range(42)]
        for i in range(1, 42):
            found = rates.rate(i)
            assert not (exact[i] < rational(found.lo))
            assert not (exact[i] > rational(found.hi))
        for first, last in ((1, 1), (1, 40), (2, 3), (5, 40), (17, 17), (30, 41)):
            for i in range(first, last + 1):
                rise = exact[i] - exact[i - 1]
                fall = (1 - exact[i - 1]) - flint.arb(1.25) * (1 - exact[i])
                for end in (last, None):
                    assert above(rates.rise(first, end), rise)
                    assert above(rates.fall(first, end, growth), fall)

    @pytest.mark.parametrize("power", ["1/2", "1"])
    def test_bounds_of_one_step_are_that_step(self, power: str) -> None:
        """So that halving comes to an end."""
        scheme = {"name": "ppswor", "threshold": "1/50", "power": power}
        rates, growth = read_rates(scheme, FINE), Interval(libmp.fone, libmp.fone)
        for i in (1, 2, 60):
            rise = truth(scheme, i) - truth(scheme, i - 1)
            for bound in (rates.rise(i, i), rates.fall(i, i, growth)):
                assert rational(bound) - rise < flint.arb(2) ** -140

    @pytest.mark.parametrize(
        "scheme",
        [
            {"name": "ppswor", "threshold": "0", "power": "1"},
            {"name": "ppswor", "threshold": "1", "power": "-1"},
            {"name": "ppswor", "threshold": "1"},
            {"name": "pps", "threshold": "1", "sizes": []},
            {"name": "pps", "threshold": "1", "sizes": ["2", "1"]},
            {"name": "pps", "threshold": "1", "sizes": ["1"], "power": "1"},
            {"name": "listed-rates", "rates": ["1/2", "1/3"]},
            {"name": "listed-rates", "rates": ["1/2", "3/2"]},
            {"name": "listed-rates", "rates": []},
            {"name": "listed-rates", "rates": [0.5]},
            {"name": "every-key", "rates": []},
            {"name": 3},
            {},
        ],
    )
    def test_what_is_no_scheme(self, scheme: Body) -> None:
        with pytest.raises(Refused):
            read_rates(scheme, FINE)


UNIT = 512
"""What an operation of weight 1 costs at low precisions."""
WORK = [  # of a rate, of what is left out, of a rise, of a fall, of both premises of a stretch
    ({"name": "every-key"}, (0, 0, 0, 0, 24)),
    ({"name": "listed-rates", "rates": ["1/4", "1/2", "3/4"]}, (0, 0, 0, 0, 24)),
    ({"name": "pps", "threshold": "1/9", "sizes": ["1", "2", "3"]}, (3, 3, 9, 12, 48)),
    ({"name": "pps", "threshold": "1/9", "power": "1"}, (3, 3, 9, 12, 48)),
    ({"name": "pps", "threshold": "1/9", "power": "1/2"}, (67, 67, 207, 274, 572)),
    ({"name": "ppswor", "threshold": "1/9", "power": "1"}, (35, 35, 73, 181, 313)),
    ({"name": "ppswor", "threshold": "1/9", "power": "1/2"}, (99, 99, 271, 641, 1035)),
]


@pytest.mark.parametrize(("scheme", "weights"), WORK, ids=str)
def test_what_is_computed_of_rates_is_taken_from_the_budget(scheme: Body, weights: tuple[int, ...]) -> None:
    """In weights that were measured once: at lower ones a file would be worked on for longer than the budget says."""
    low, growth = Arithmetic(64), Arithmetic(64).rational(Fraction(2))

    def spent(call: Callable[[Rates], object]) -> float:
        budget = Budget(10**9)
        call(read_rates(scheme, low, budget))
        return (10**9 - budget.left) / UNIT

    assert weights == (
        spent(lambda rates: rates.rate(3)),
        spent(lambda rates: rates.left_out(3)),
        spent(lambda rates: rates.rise(3, 3)),
        spent(lambda rates: rates.fall(3, 3, growth)),
        spent(lambda rates: _Proof(rates, Units(8, 512, 64))._holds(3, 3)),
    )


class TestStretches:
    """What is accepted for every frequency holds for any rounding within the margin, row by row in integers."""

    @pytest.mark.parametrize(
        "scheme",
        [
            {"name": "ppswor", "threshold": "1/10", "power": "1"},
            {"name": "ppswor", "threshold": "1/3", "power": "1/2"},
            {"name": "ppswor", "threshold": "1/50", "power": "2"},
            {"name": "pps", "threshold": "1/100", "power": "1"},
            {"name": "pps", "threshold": "1/40", "power": "1/2"},
            {"name": "pps", "threshold": "1/500", "power": "3/2"},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("length", [1, 20, None])
    def test_all_kept_from_any_frequency(self, scheme: Body, length: int | None) -> None:
        """Here e^epsilon is 1.21 and delta 0.0047."""
        units = Units(30, 1_300_000_000, 5_000_000)
        kept = [int((truth(scheme, i) * (1 << 30)).lower().floor().unique_fmpz()) for i in range(400)]
        stream = random.Random(1)
        rounded = [[max(0, value - stream.choice((0, 0, 1))) for value in kept] for _ in range(3)]
        proof, proven = _Proof(read_rates(scheme, FINE), units), 0
        for first in range(1, 370, 5):
            last = None if length is None else first + length - 1
            if proof._holds(first, last):
                proven += 1
                steps = range(first, 400 if last is None else last + 1)
                assert all(units.admits(row[i - 1], row[i - 1], row[i]) for row in rounded for i in steps)
        assert 0 < proven < 74

    def test_a_stretch_from_any_frequency_is_proven_by_halves(self) -> None:
        """Of rates that are listed nothing is known of several steps together."""
        units = Units(30, 1_300_000_000, 5_000_000)
        rates = read_rates({"name": "listed-rates", "rates": [str(Fraction(k, 1000)) for k in range(1, 41)]}, FINE)
        proof = _Proof(rates, units)
        for last in (2, 3, 20, 40):
            assert not proof._holds(proof.frequency + 1, last) or proof.frequency + 1 == last
            proof.stretch(last)
            assert proof.frequency == last

    def test_for_ever_is_of_a_scheme_that_goes_on(self) -> None:
        units = Units(30, 1_300_000_000, 5_000_000)
        _Proof(read_rates({"name": "ppswor", "threshold": "1/1000", "power": "1"}, FINE), units).for_ever()
        with pytest.raises(Refused, match="not all keys from frequency 1 on"):
            _Proof(read_rates({"name": "pps", "threshold": "1/2", "power": "1"}, FINE), units).for_ever()
        ending = _Proof(read_rates({"name": "ppswor", "threshold": "1", "sizes": ["100", "100"]}, FINE), units)
        ending.frequency = 1
        assert ending._holds(2, None)  # hardly any is left out, so nothing is amiss but that there is no third
        with pytest.raises(Refused, match="not all keys from frequency 2 on"):
            ending.for_ever()

    def test_the_margin_counts(self) -> None:
        """What holds for the exact rates, but not once they are rounded, is not accepted."""
        scheme = {"name": "pps", "threshold": "1/1024", "power": "1"}
        for spare, accepted in ((0, False), (1, False), (2, True)):
            units = Units(30, 1 << 30, (1 << 20) + spare)
            assert _Proof(read_rates(scheme, FINE), units)._holds(1, 1024) is accepted


@given(st.fractions(Fraction(1, 10**9), 10, max_denominator=10**12))
@example(Fraction("0.3"))
@example(Fraction(10**30 - 1, 10**36))
def test_numbers_are_shown_rounded_up(value: Fraction) -> None:
    shown = Fraction(in_decimals(value))
    assert value <= shown <= value * (1 + Fraction(1, 10**14))
    assert shown == value or Fraction(repr(float(value))) != value


def test_a_number_just_below_a_short_one_is_shown_as_that() -> None:
    assert in_decimals(Fraction(10**30 - 1, 10**36)) == "1e-06"
    assert in_decimals(Fraction("9" * 400)) == "9" * 400
    assert Fraction(in_decimals(Fraction("1/3" + "0" * 330))) == Fraction(333333333333334, 10 ** (330 + 15))


@given(st.integers(1, 300), st.fractions(1, 3, max_denominator=50))
@examples(30)
def test_geometric_sums(terms: int, factor: Fraction) -> None:
    found = _geometric_sum(FINE.rational(factor), terms)
    exact = sum((factor**k for k in range(terms)), Fraction(0))
    low, high = (Fraction(*libmp.to_rational(end)) for end in found)
    assert low <= exact <= high
    assert high - low <= exact / 2**140


def ruled(kept: list[int], units: Units, subdivision: int) -> tuple[str, list[Any]]:
    """The digest of the rows that the rule gives, and the last state but for the place of its tokens."""
    rule, digest, states = _Rule(units, 1 << subdivision, Budget()), hashlib.sha256(), list[Any]()
    for frequency, most in enumerate(kept, 1):
        rule.step(most)
        runs = ";".join(f"{run.first},{run.width},{run.units}" for run in rule.runs)
        digest.update(f"{rule.unreported}:{runs}\n".encode("ascii"))
        end = frequency << subdivision
        states.append((rule.unreported, [(end - run.first, run.width, run.units) for run in rule.runs]))
    return digest.hexdigest(), states


@pytest.mark.parametrize("subdivision", [0, 1, 3])
def test_the_tokens_of_a_row_lie_in_order_among_those_there_are(subdivision: int) -> None:
    """Each in one place, new ones after all others, and all units are given out."""
    units, stream = Units(12, 5000, 301), random.Random(3)
    rule, kept, uneven = _Rule(units, 1 << subdivision, Budget()), 0, 0
    for frequency in range(1, 40):
        kept = min(units.certain, kept + stream.randrange(500))
        rule.step(kept)
        end = frequency << subdivision
        assert rule.runs[0].first >= 0
        assert rule.runs[-1].first + rule.runs[-1].width <= end
        assert all(one.first + one.width <= other.first for one, other in pairwise(rule.runs))
        assert rule.unreported + sum(run.width * run.units for run in rule.runs) == units.certain
        uneven += len([run for run in rule.runs if run.first >= end - (1 << subdivision)]) > 1
    assert uneven > 0 or subdivision == 0


def test_rows_that_go_on_as_copies_keep_the_same_share() -> None:
    """A row may be a copy while what is kept goes up and down: what comes further on is then no copy by the rule."""
    units, rates = Units(8, 512, 64), read_rates({"name": "every-key"}, FINE)
    for kept, admitted in (([128] * 40, True), ([128, 120] * 20, False)):
        digest, states = ruled(kept, units, 0)
        assert states[-1] == states[-3]
        table = {"kept": [*map(str, kept)], "digest": digest, "then": "shifted", "period": 2}
        if admitted:
            assert prove_rows(table, rates, 0, units) is None
        else:
            with pytest.raises(Refused, match="the last row is not the one of 2 frequencies before"):
                prove_rows(table, rates, 0, units)


@pytest.mark.parametrize(
    ("last", "admitted"), [(0, False), (-1, False), (1, True), (2**53, True), (2**53 + 1, False), (1.0, False)]
)
def test_a_stretch_ends_at_a_frequency(last: Any, admitted: bool) -> None:
    """Whether one that lies before the stretch, or beyond what is counted, is stated at all."""
    table = {"segments": [{"kept_through": last}], "then": "kept"}
    if admitted:
        TABLE(table, "inputs.table")
    else:
        with pytest.raises(Refused, match="kept_through"):
            TABLE(table, "inputs.table")


def test_all_that_is_kept_may_be_reported_and_a_rate_is_looked_up_where_more_is_kept() -> None:
    """Rates do not fall: where no more is kept than before, what the rate admits was held before."""
    units = Units(8, 512, 64)
    asked: list[int] = []

    class Counted(ListedRates):
        def rate(self, frequency: int) -> Interval:
            asked.append(frequency)
            return super().rate(frequency)

    rates = Counted(["1/4", "1/4", "3/8", "1/2", "1/2"], FINE, Budget())
    for kept, admitted in (([64, 64, 96, 96, 32], True), ([64, 65, 65, 65, 65], False)):
        asked.clear()
        table = {"kept": [*map(str, kept)], "digest": ruled(kept, units, 0)[0], "then": "constant", "period": None}
        if admitted:
            assert prove_rows(table, rates, 0, units) is None
            assert asked == [1, 3]
        else:
            with pytest.raises(Refused, match="more is kept of frequency 2 than the rate admits"):
                prove_rows(table, rates, 0, units)


def test_a_stretch_leaves_room_for_how_far_a_drawn_rate_may_fall() -> None:
    """From none to a first rate q: beside D/C there is room for the margin times G, which the row before may lack."""
    units = Units(8, 1024, 20)
    most = Fraction(units.scaled_allowance - MARGIN * units.growth, units.certain**2)
    for rate, admitted in ((most, True), (most + Fraction(1, 2**40), False)):
        proof = _Proof(read_rates({"name": "listed-rates", "rates": [str(rate)]}, FINE), units)
        assert proof._holds(1, 1) is admitted


def test_a_stretch_goes_beyond_what_is_proven() -> None:
    units = Units(30, 1_300_000_000, 5_000_000)
    proof = _Proof(read_rates({"name": "ppswor", "threshold": "1/1000", "power": "1"}, FINE), units)
    proof.stretch(5)
    for last in (4, 5):
        with pytest.raises(Refused, match="must increase"):
            proof.stretch(last)
    proof.stretch(6)


@pytest.mark.parametrize("subdivision", [0, 3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_units_are_those_to_which_a_sanitiser_rounds_its_budget(epsilon: Fraction, subdivision: int) -> None:
    """The growth is the largest of at most e^epsilon, the allowance the largest of at most delta in whole columns."""
    delta, bits = Fraction(1, 1000), 52 + 10 + subdivision
    growth: Any = (flint.arb(flint.fmpq(epsilon.numerator, epsilon.denominator)).exp() * (1 << bits)).floor()
    units = Units(bits, int(growth.unique_fmpz()), int(delta * 2 ** (bits - subdivision)) << subdivision)
    _hold_budget(units, subdivision, epsilon, delta)
    for changed in (
        units._replace(growth=units.growth - 1),
        units._replace(growth=units.certain),
        units._replace(allowance=units.allowance - 1),
        units._replace(allowance=units.allowance - (1 << subdivision)),
        units._replace(allowance=units.allowance + (1 << subdivision)),
        units._replace(bits=bits - 1),
        units._replace(bits=bits + 1),
    ):
        with pytest.raises(Refused, match=r"of the mechanism's option delta|below the mechanism's option epsilon"):
            _hold_budget(changed, subdivision, epsilon, delta)
    for wrong in (Fraction(0), Fraction(-1), Fraction(1001, 1000)):
        with pytest.raises(Refused, match="the mechanism's option delta"):
            _hold_budget(units, subdivision, epsilon, wrong)


@pytest.mark.parametrize("segment", [None, 5, "kept_through", ["kept_through"], {"kept_through": "1"}, {}])
def test_a_segment_is_an_object_of_one_of_two_shapes(segment: Any) -> None:
    TABLE({"segments": [{"kept_through": 1}, {"reported": ["0"]}], "then": "kept"}, "here")
    with pytest.raises(Refused, match="here"):
        TABLE({"segments": [segment], "then": "kept"}, "here")


@pytest.mark.parametrize(
    ("kept", "accepted"),
    [
        ((60,), True),
        ((61,), False),  # from none: above the allowance, less the margin times the growth
        ((60, 180), True),
        ((60, 181), False),  # above twice the rate before and that allowance
        ((60, 180, 420, 753), True),
        ((60, 180, 420, 754), False),  # what is not kept falls below half of what was not, less the allowance
    ],
)
def test_the_rates_of_a_stretch_rise_as_far_as_the_growth_allows(kept: tuple[int, ...], accepted: bool) -> None:
    """Units of 2^-10, a growth of 2, an allowance of 64 and a margin of 2 of them."""
    scheme = {"name": "listed-rates", "rates": [str(Fraction(units, 1024)) for units in kept]}
    table = {"segments": [{"kept_through": len(kept)}], "then": "absent"}
    body = certificate(table, epsilon="1", delta="1/16", bits=10, growth="2048", allowance="64", scheme=scheme)
    body["claim"]["largest_frequency"] = len(kept)
    body["assumptions"].append({"name": "largest frequency", "value": str(len(kept))})
    verdict = check(seal(body))
    assert verdict.accepted is accepted, verdict
    if not accepted:
        assert f"not all keys of frequency {len(kept)} can be proven" in verdict.reason
