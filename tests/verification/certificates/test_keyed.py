"""Certificates of releases of sampled keys: what is true is accepted, what is not is refused, and nothing hangs."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import flint
import pytest
from attrs import evolve, frozen
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from certdp import InvalidValue, Public, Released, check
from certdp.accounting.derivation import Assumption, Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.keyed.reporting import FrequencyRow, Inclusion, Reporting
from certdp.accounting.notions import Approximate, Pure
from certdp.accounting.relations import ADD_REMOVE, ELEMENT, RECORD
from certdp.commands.app import app
from certdp.guarantees import Evidence
from certdp.mechanisms.pws_frequencies import PwsFrequencies
from certdp.mechanisms.pws_keys import PwsKeys
from certdp.plugins.contract import CONTRACT_VERSION, About, KeySampler, Sanitiser
from certdp.samplers.every_key import EveryKey
from certdp.samplers.listed_rates import ListedRates
from certdp.samplers.pps import Pps
from certdp.samplers.ppswor import Ppswor
from certdp.verification.certificates.keyed import keyed_certificate
from certdp.verification.certificates.writing import sealed
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples
from tests.support.forgeries import Body, body_of, drop, put


def keys(epsilon: Any = "0.5", delta: Any = "1e-3") -> PwsKeys:
    return PwsKeys(epsilon=Public(epsilon), delta=Public(delta))


def tokens(epsilon: Any = "0.5", delta: Any = "1e-3", subdivision: int = 4) -> PwsFrequencies:
    return PwsFrequencies(epsilon=Public(epsilon), delta=Public(delta), subdivision=Public(subdivision))


def ppswor(threshold: Any = "0.1", power: Any = 1) -> Ppswor:
    return Ppswor(threshold=Public(threshold), power=Public(power))


def pps(threshold: Any = "0.01", power: Any = 1) -> Pps:
    return Pps(threshold=Public(threshold), power=Public(power))


LISTED = ListedRates(rates=Public("0.001,0.1,0.5,0.5,1"))
RELEASES: dict[str, tuple[Sanitiser, KeySampler]] = {
    "keys, all": (keys(), EveryKey()),
    "keys, ppswor": (keys(), ppswor()),
    "keys, pps": (keys(), pps()),
    "keys, listed": (keys(), LISTED),
    "tokens, all": (tokens(), EveryKey()),
    "tokens, ppswor": (tokens(), ppswor("0.5")),
    "tokens, pps": (tokens(), pps("0.05")),
    "tokens, listed": (tokens(), LISTED),
}
OTHERS: dict[str, tuple[Sanitiser, KeySampler]] = {
    "epsilon 0": (keys("0"), EveryKey()),
    "epsilon beyond all bits": (keys("1e300"), EveryKey()),
    "delta 1": (keys(1, 1), ppswor()),
    "a tiny delta": (keys(1, "1e-100"), ppswor("0.9")),
    "a huge threshold": (keys(), ppswor("1e200")),
    "a tiny threshold": (keys("0.1", "1e-9"), ppswor("1e-12")),
    "pps to a billion": (keys("0.1", "1e-9"), pps("1e-9")),
    "pps that never detaches": (keys("0.1", "0.1"), pps("0.03")),
    "pps near the allowance": (keys("0.1", "0.03"), pps("0.0301")),
    "ppswor of roots": (keys(), ppswor("0.1", "0.5")),
    "pps of roots": (keys(), pps("0.01", "0.5")),
    "ppswor of squares": (keys(), ppswor("0.001", 2)),
    "pps of squares": (keys(), pps("0.0001", 2)),
    "all alike": (keys(), ppswor("0.2", 0)),
    "pps, all alike": (tokens(), pps("0.2", 0)),
    "tokens at epsilon 0": (tokens("0", "0.04"), EveryKey()),
    "one token each": (tokens("0.3", "0.01", 0), ppswor("0.3")),
    "fine tokens": (tokens("1", "1e-6", 64), pps("0.1")),
}


@cache
def written(name: str) -> bytes:
    return keyed_certificate(*(RELEASES | OTHERS)[name])


def reporting_of(name: str) -> Reporting:
    mechanism, sampler = (RELEASES | OTHERS)[name]
    return mechanism.reporting(sampler.inclusion)


class TestWhatIsTrue:
    @pytest.mark.parametrize("name", [*RELEASES, *OTHERS])
    def test_it_is_accepted_as_declared(self, name: str) -> None:
        verdict = check(written(name))
        assert verdict.outcome.value == "holds", verdict
        body, reporting = body_of(written(name)), reporting_of(name)
        assert Fraction(body["claim"]["epsilon"]) == reporting.epsilon.value
        assert Fraction(body["claim"]["delta"]) == reporting.delta.value
        assert body["claim"]["largest_frequency"] == (5 if "listed" in name else None)

    @pytest.mark.parametrize("name", [*RELEASES, *OTHERS])
    def test_no_smaller_number_is(self, name: str) -> None:
        """Rounding takes no more than 2^-50 of either."""
        for key in ("epsilon", "delta"):
            body = body_of(written(name))
            if name == "epsilon beyond all bits" and key == "epsilon":
                continue  # from one unit everything may follow
            value = Fraction(body["claim"][key])
            body["claim"][key] = str(value * (1 - Fraction(1, 2**50)) if value else Fraction(-1, 2**99))
            assert not check(sealed(body)).accepted, key

    @pytest.mark.parametrize("name", ["keys, all", "keys, ppswor", "keys, pps", "keys, listed", "pps of roots"])
    def test_every_row_with_one_unit_more_is_refused(self, name: str) -> None:
        body = body_of(written(name))
        for segment in body["inputs"]["table"]["segments"]:
            rows = segment.get("reported", [])
            for place, row in enumerate(rows):
                rows[place] = str(int(row) + 1)
                assert not check(sealed(body)).accepted, place
                rows[place] = row
        assert check(sealed(body)).accepted

    @given(
        st.fractions(0, 2, max_denominator=100),
        st.fractions(Fraction(1, 500), Fraction(1, 2), max_denominator=500),
        st.fractions(Fraction(1, 40), 2, max_denominator=40),
        st.sampled_from(["0", "1/2", "1", "2"]),
        st.sampled_from([Ppswor, Pps]),
    )
    @example(Fraction(1), Fraction(1, 10), Fraction(1, 9), "3/2", Ppswor)
    @examples(40)
    def test_keys_whatever_the_parameters(
        self, epsilon: Fraction, delta: Fraction, threshold: Fraction, power: str, scheme: Any
    ) -> None:
        content = keyed_certificate(keys(epsilon, delta), scheme(threshold=Public(threshold), power=Public(power)))
        assert check(content).accepted

    @given(
        st.fractions(Fraction(1, 10), 2, max_denominator=100),
        st.fractions(Fraction(1, 100), Fraction(1, 2), max_denominator=100),
        st.fractions(Fraction(1, 4), 2, max_denominator=40),
        st.sampled_from(["0", "1", "2"]),
        st.sampled_from([Ppswor, Pps]),
    )
    @example(Fraction(1, 2), Fraction(1, 10**6), Fraction(1, 50), "1", Pps)
    @examples(15)
    def test_tokens_whatever_the_parameters(
        self, epsilon: Fraction, delta: Fraction, threshold: Fraction, power: str, scheme: Any
    ) -> None:
        sampler = scheme(threshold=Public(threshold), power=Public(power))
        assert check(keyed_certificate(tokens(epsilon, delta, 2), sampler)).accepted

    @pytest.mark.parametrize("name", ["keys, all", "tokens, all", "keys, pps", "tokens, ppswor"])
    def test_for_users(self, name: str) -> None:
        content = keyed_certificate(*RELEASES[name], contributions=7)
        verdict, body = check(content), body_of(content)
        assert verdict.accepted
        assert verdict.claim is not None
        assert "user with at most 7 elements" in verdict.claim.guarantee
        assert Fraction(body["claim"]["epsilon"]) == Fraction(7, 2)
        exact = flint.arb("1e-3") * (flint.arb("3.5").exp() - 1) / (flint.arb("0.5").exp() - 1)
        stated = Fraction(body["claim"]["delta"])
        ratio = arb_of(stated) / exact
        assert ratio > flint.arb(1 - 1e-14)
        assert ratio < flint.arb(1 + 1e-12)
        for contributions in (8, None):
            body["claim"]["contributions"] = contributions
            assert not check(sealed(body)).accepted
        body["claim"]["unit"] = "element"
        assert not check(sealed(body)).accepted

    def test_for_several_releases(self) -> None:
        content = keyed_certificate(*RELEASES["keys, ppswor"], releases=4, contributions=2)
        body = body_of(content)
        assert Fraction(body["claim"]["epsilon"]) == 4
        assert "basic composition and group privacy" in body["theorem"]
        body["inputs"]["releases"] = 5
        assert not check(sealed(body)).accepted
        body["assumptions"] = [
            {**item, "value": "5"} if item["name"].startswith("releases") else item for item in body["assumptions"]
        ]
        assert not check(sealed(body)).accepted

    @pytest.mark.parametrize(
        ("bound", "epsilon", "delta"),
        [
            (Pure(Enclosure.of("0.25")), "3/4", "1/1000"),
            (Approximate(Enclosure.of("0.25"), Enclosure.of(Fraction(1, 1024))), "3/4", "253/128000"),
        ],
    )
    def test_a_released_threshold_adds_its_cost(self, bound: Any, epsilon: str, delta: str) -> None:
        derivation = Theorem("law", "a noisy total").conclude([])
        cost = Guarantee(bound=bound, relation=ADD_REMOVE, unit=ELEMENT, derivation=derivation)
        content = keyed_certificate(keys(), Ppswor(threshold=Released(Fraction(1, 10), cost), power=Public(1)))
        body = body_of(content)
        assert (body["claim"]["epsilon"], body["claim"]["delta"]) == (epsilon, delta)
        body["claim"]["epsilon"] = "1/2"
        assert not check(sealed(body)).accepted
        per_record = Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=derivation)
        with pytest.raises(InvalidValue, match="Element"):
            keyed_certificate(keys(), Ppswor(threshold=Released(Fraction(1, 10), per_record), power=Public(1)))

    @pytest.mark.parametrize("mechanism", [keys(), tokens()])
    @pytest.mark.parametrize("sampler", [EveryKey(), ppswor("0.001"), pps(), LISTED, ppswor("0.001", "1.7")])
    @pytest.mark.parametrize("largest", [1, 5])
    def test_a_public_largest_frequency_covers_all(
        self, mechanism: PwsKeys | PwsFrequencies, sampler: KeySampler, largest: int
    ) -> None:
        content = keyed_certificate(evolve(mechanism, largest=Public(largest)), sampler)
        assert check(content).accepted
        assert body_of(content)["claim"]["largest_frequency"] is None

    def test_listed_rates_of_which_all_kept_keys_are_reported_early(self) -> None:
        body = body_of(keyed_certificate(keys(20, "1/2"), ListedRates(rates=Public("0.5,1,1,1"))))
        assert body["claim"]["largest_frequency"] == 4

    def test_a_long_stretch_up_to_a_public_largest_frequency(self) -> None:
        content = keyed_certificate(evolve(keys(), largest=Public(10**6)), pps("1e-7"))
        assert check(content).accepted
        assert len(content) < 20_000

    @pytest.mark.slow
    def test_the_command_says_for_whom(self, tmp_path: Path) -> None:
        file = tmp_path / "release.json"
        file.write_bytes(keyed_certificate(*RELEASES["keys, listed"], contributions=2))
        result = CliRunner().invoke(app, ["check", str(file), "--json"])
        assert result.exit_code == 0
        shown = json.loads(result.output)
        assert shown["verdict"] == "holds"
        assert "per user with at most 2 elements under add-remove" in shown["guarantee"]
        assert shown["domain"] == "keys of every frequency up to 5"
        assert shown["epsilon"] == [None, 1.0]
        file.write_bytes(file.read_bytes().replace(b'"contributions": 2', b'"contributions": 3'))
        assert CliRunner().invoke(app, ["check", str(file)]).exit_code == 1

    def test_the_same_claim_gives_the_same_bytes(self) -> None:
        assert keyed_certificate(*RELEASES["tokens, pps"]) == written("tokens, pps")

    def test_further_assumptions_are_stated_once(self) -> None:
        further = (Assumption("mechanism.epsilon", "1/2"), Assumption("of the data", "each row is one user's"))
        stated = body_of(keyed_certificate(*RELEASES["keys, all"], assumptions=further))["assumptions"]
        names = [item["name"] for item in stated]
        assert len(names) == len(set(names))
        assert "of the data" in names
        with pytest.raises(InvalidValue, match="as stated of the same name"):
            keyed_certificate(*RELEASES["keys, all"], assumptions=[Assumption("mechanism.epsilon", "1/4")])


def law(row: FrequencyRow | None, certain: int) -> dict[int | None, int]:
    """Units of every run's first token, and of no report; runs must be a token long."""
    if row is None:
        return {None: certain}
    return {None: row.unreported} | {run.first + k: run.units for run in row.runs for k in range(run.width)}


class TestAgainstExactRows:
    """The rows that a program draws satisfy what is certified, by Fractions and Arb."""

    @pytest.mark.parametrize("name", ["keys, all", "keys, ppswor", "keys, pps", "tokens, ppswor", "tokens, pps"])
    def test_neighbours(self, name: str) -> None:
        reporting, claim = reporting_of(name), body_of(written(name))["claim"]
        certain = reporting.budget.certain
        frequencies = 40 if name.startswith("tokens") else 150
        laws = [law(row, certain) for row in (None, *reporting.at(range(1, frequencies)))]
        epsilon = Fraction(claim["epsilon"])
        factor = sum((epsilon**k / math.factorial(k) for k in range(60)), Fraction(0))  # a little below e^epsilon
        for lower, higher in pairwise(laws):
            for one, other in ((lower, higher), (higher, lower)):
                excess = sum(max(Fraction(0), units - factor * other.get(token, 0)) for token, units in one.items())
                assert excess <= Fraction(claim["delta"]) * certain

    @pytest.mark.parametrize("name", ["keys, ppswor", "keys, pps", "ppswor of roots", "pps of roots", "all alike"])
    def test_the_table_is_the_one_drawn(self, name: str) -> None:
        """Rows written out, and on stretches what is kept, within two units."""
        table, reporting = body_of(written(name))["inputs"]["table"], reporting_of(name)
        listed: dict[int, int] = {}
        stretches: list[tuple[int, int]] = []
        frequency = 0
        for segment in table["segments"]:
            if "kept_through" in segment:
                stretches.append((frequency + 1, segment["kept_through"]))
                frequency = segment["kept_through"]
            for units in segment.get("reported", []):
                frequency += 1
                listed[frequency] = int(units)
        drawn = {row.frequency: row for row in reporting.at(range(1, min(frequency, 2000) + 50))}
        for at, row in drawn.items():
            if at in listed:
                assert row.reported == listed[at]
            elif at <= frequency or table["then"] == "kept":
                assert row.reported == row.kept == reporting.inclusion.units(at, reporting.budget.bits)
            else:
                assert row.reported == listed[frequency]


def both(*forgeries: Callable[[Body], None]) -> Callable[[Body], None]:
    def forge(body: Body) -> None:
        for each in forgeries:
            each(body)

    return forge


def assumed(name: str, value: str | None) -> Callable[[Body], None]:
    def forge(body: Body) -> None:
        kept = [item for item in body["assumptions"] if item["name"] != name]
        assert value is not None or len(kept) < len(body["assumptions"]), f"nothing is forged: no assumption is {name}"
        body["assumptions"] = kept + ([] if value is None else [{"name": name, "value": value}])

    return forge


def foreign(role: str) -> Callable[[Body], None]:
    """A plugin of which the checker knows nothing."""

    def renamed(body: Body) -> None:
        (told,) = (item for item in body["assumptions"] if item["name"] == f"evidence of {role} {body[role]['name']}")
        told["name"] = f"evidence of {role} theirs"
        body[role].update(distribution="elsewhere", name="theirs")

    return renamed


def unnamed(option: str) -> Callable[[Body], None]:
    """A sampler of which the checker knows nothing, and without the option."""
    return both(drop("sampler", "options", option), foreign("sampler"))


def more(text: str) -> str:
    return str(int(text) + 1)


def fewer(text: str) -> str:
    return str(int(text) - 1)


ANYWHERE: dict[str, Callable[[Body], None]] = {
    "a smaller epsilon": put("49/100", "claim", "epsilon"),
    "a smaller delta": put("1/1001", "claim", "delta"),
    "a delta above 1": put("2", "claim", "delta"),
    "a negative epsilon": put("-1/2", "claim", "epsilon"),
    "a float for an exact number": put(0.5, "claim", "epsilon"),
    "nan": put("nan", "claim", "epsilon"),
    "an endless number": put("1" + "0" * 800, "claim", "epsilon"),
    "another relation": put("replace", "claim", "relation"),
    "no relation": drop("claim", "relation"),
    "a record for an element": put("record", "claim", "unit"),
    "a user for an element": put("user", "claim", "unit"),
    "users without an assumption": both(put("user", "claim", "unit"), put(1, "claim", "contributions")),
    "users of a million elements": both(
        put("user", "claim", "unit"),
        put(10**6, "claim", "contributions"),
        assumed("each user contributes at most so many elements in all", "1000000"),
        put(lambda theorem: theorem + " and group privacy", "theorem"),
    ),
    "contributions of an element": put(3, "claim", "contributions"),
    "no contributions at all": put(0, "claim", "contributions"),
    "a claim of pure privacy": put("pure", "claim", "notion"),
    "an owner's audience": put("owner", "audience"),
    "a stronger theorem": put("PWS Theorem 9.9", "theorem"),
    "group privacy for an element": put(lambda theorem: theorem + " and group privacy", "theorem"),
    "no assumptions": put([], "assumptions"),
    "no assumption about the unit": assumed("unit is an element", None),
    "a record as the unit": assumed("unit is an element", "one record"),
    "coins of the keys together": assumed("coins of each key", "the same for all keys"),
    "an altered assumption": assumed("mechanism.epsilon", "1/4"),
    "an altered option": put("1/4", "mechanism", "options", "epsilon"),
    "an altered option and assumption": both(
        put("1/4", "mechanism", "options", "epsilon"), assumed("mechanism.epsilon", "1/4")
    ),
    "a smaller delta of the mechanism": both(
        put("1/2000", "mechanism", "options", "delta"), assumed("mechanism.delta", "1/2000")
    ),
    "an assumption stated twice": put(lambda stated: [*stated, stated[0]], "assumptions"),
    "heuristic evidence": put("heuristic", "mechanism", "evidence"),
    "evidence that the assumptions do not state": put("cited", "sampler", "evidence"),
    "more growth": put(more, "inputs", "growth"),
    "growth below 1": put("1", "inputs", "growth"),
    "growth as a number": put(3, "inputs", "growth"),
    "a leading zero": put(lambda text: "0" + text, "inputs", "growth"),
    "a sign": put(lambda text: "+" + text, "inputs", "growth"),
    "endless growth": put("9" * 701, "inputs", "growth"),
    "more allowance": put(lambda text: str(int(text) + 2**4), "inputs", "allowance"),
    "a negative allowance": put("-5", "inputs", "allowance"),
    "another unit": put(lambda bits: bits + 1, "inputs", "bits"),
    "a coarser unit": put(lambda bits: bits - 1, "inputs", "bits"),
    "no bits": put(0, "inputs", "bits"),
    "endless bits": put(2**60, "inputs", "bits"),
    "many bits": put(10**6, "inputs", "bits"),
    "bits that are true": put(True, "inputs", "bits"),
    "another subdivision": put(lambda r: r + 1, "inputs", "subdivision"),
    "an endless subdivision": put(10**9, "inputs", "subdivision"),
    "no scheme": put({}, "inputs", "scheme"),
    "a list as a scheme": put([], "inputs", "scheme"),
    "an unknown scheme": put({"name": "bottom-k"}, "inputs", "scheme"),
    "a scheme whose name is a list": put({"name": []}, "inputs", "scheme"),
    "a smaller rate": put({"name": "listed-rates", "rates": ["1/1000000"] * 50}, "inputs", "scheme"),
    "no table": put({}, "inputs", "table"),
    "a table that is a list": put([], "inputs", "table"),
    "another kind of table": put(lambda kind: "rows" if kind == "keys" else "keys", "inputs", "reports"),
    "an unknown kind of table": put("sums", "inputs", "reports"),
    "no releases": put(0, "inputs", "releases"),
    "more releases": put(2, "inputs", "releases"),
    "a cost that is not claimed": both(
        put("1/1000", "inputs", "released_cost", "epsilon"),
        assumed("released cost", "1/1000"),
        put(lambda theorem: theorem + " and basic composition", "theorem"),
    ),
    "a negative cost": put("-1", "inputs", "released_cost", "epsilon"),
    "a negative delta of a cost": put("-1/2", "inputs", "released_cost", "delta"),
    "an endless cost": put("9" * 690, "inputs", "released_cost", "epsilon"),
    "a largest frequency": put(3, "claim", "largest_frequency"),
    "another kind": put("composed-approximate", "kind"),
}
TABLE = ("inputs", "table")
UNITS = ("inputs", "table", "columns", 0, "units")


def moved(rows: list[str]) -> list[str]:
    return [*rows[:3], more(rows[3]), fewer(rows[4]), *rows[5:]]


def listing(body: Body) -> None:
    """Every row of a table of keys doubles."""
    for segment in body["inputs"]["table"]["segments"]:
        if "reported" in segment:
            segment["reported"] = [str(2 * int(units)) for units in segment["reported"]]


ONE_KIND: dict[str, tuple[str, Callable[[Body], None]]] = {
    "double units": ("keys, all", listing),
    "a missing row": ("keys, all", drop(*TABLE, "segments", 0, "reported", 3)),
    "a missing first row": ("keys, ppswor", drop(*TABLE, "segments", 0, "reported", 0)),
    "a missing last row": ("keys, listed", drop(*TABLE, "segments", -1, "reported", -1)),
    "a negative row": ("keys, all", put("-1", *TABLE, "segments", 0, "reported", 0)),
    "a row as a number": ("keys, all", put(5, *TABLE, "segments", 0, "reported", 0)),
    "a row above 1": ("keys, all", put(lambda units: more(units), *TABLE, "segments", 0, "reported", -1)),
    "all kept from the start": ("keys, ppswor", put({"segments": [], "then": "kept"}, *TABLE)),
    "all kept without sampling": ("keys, all", put({"segments": [], "then": "kept"}, *TABLE)),
    "a stretch from the start": ("keys, pps", put({"segments": [{"kept_through": 99}], "then": "kept"}, *TABLE)),
    "a stretch beyond what is proven": ("keys, pps", put(99, *TABLE, "segments", 1, "kept_through")),
    "a stretch back": ("keys, pps", put(3, *TABLE, "segments", 1, "kept_through")),
    "an endless stretch": ("keys, pps", put(2**53, *TABLE, "segments", 1, "kept_through")),
    "a stretch beyond 2^53": ("keys, pps", put(2**80, *TABLE, "segments", 1, "kept_through")),
    "kept after a row that is not": (
        "keys, ppswor",
        put(lambda rows: [*rows[:-1], fewer(fewer(fewer(rows[-1])))], *TABLE, "segments", 0, "reported"),
    ),
    "an unknown end": ("keys, ppswor", put("ever", *TABLE, "then")),
    "an end that covers less": ("keys, ppswor", put("absent", *TABLE, "then")),
    "constant for kept": ("keys, listed", put("constant", *TABLE, "then")),
    "kept beyond the rates": ("keys, listed", put("kept", *TABLE, "then")),
    "a largest frequency that the table does not have": ("keys, listed", put(6, "claim", "largest_frequency")),
    "every frequency": ("keys, listed", put(None, "claim", "largest_frequency")),
    "falling rates": ("keys, listed", put(["1/1000", "1/10", "1/2", "49/100", "1"], "inputs", "scheme", "rates")),
    "rates above 1": ("keys, listed", put(["1/1000", "1/10", "1/2", "1", "2"], "inputs", "scheme", "rates")),
    "rates that the option does not state": (
        "keys, listed",
        put(["1/1000", "1/9", "1/2", "1/2", "1"], "inputs", "scheme", "rates"),
    ),
    "fewer rates": ("keys, listed", put(lambda rates: rates[:-1], "inputs", "scheme", "rates")),
    "no rates": ("keys, listed", put([], "inputs", "scheme", "rates")),
    "a negative power": ("keys, ppswor", put("-1", "inputs", "scheme", "power")),
    "another power": ("keys, ppswor", put("1/2", "inputs", "scheme", "power")),
    "a power that the option is not": (
        "keys, ppswor",
        both(unnamed("power"), put("1/9", "inputs", "scheme", "power")),
    ),
    "a huge power": (
        "keys, ppswor",
        both(unnamed("power"), put("9" * 690, *("inputs", "scheme", "power"))),
    ),
    "a tiny power": (
        "keys, ppswor",
        both(unnamed("power"), put("1/" + "9" * 690, "inputs", "scheme", "power")),
    ),
    "a smaller threshold": (
        "keys, ppswor",
        both(unnamed("threshold"), put("1/11", "inputs", "scheme", "threshold")),
    ),
    "a tiny threshold": (
        "keys, ppswor",
        both(unnamed("threshold"), put("1/" + "9" * 690, "inputs", "scheme", "threshold")),
    ),
    "no threshold": ("keys, ppswor", put("0", "inputs", "scheme", "threshold")),
    "falling sizes": (
        "keys, ppswor",
        put({"name": "ppswor", "threshold": "1/10", "sizes": ["1", "2", "1"]}, "inputs", "scheme"),
    ),
    "a unit more": ("tokens, all", put(more, *UNITS, 0)),
    "a unit moved": ("tokens, all", put(moved, *UNITS)),
    "a negative delay": ("tokens, all", put("-3", *UNITS, 0)),
    "delays in another order": ("tokens, all", put(lambda units: units[1:] + units[:1], *UNITS)),
    "a wider column": ("tokens, all", put(more, *TABLE, "columns", 0, "width")),
    "a column less": ("tokens, all", drop(*TABLE, "columns", -1)),
    "delays of a sample": (
        "tokens, all",
        put({"name": "ppswor", "threshold": "1", "power": "1"}, "inputs", "scheme"),
    ),
    "more kept": ("tokens, ppswor", put(more, *TABLE, "kept", 2)),
    "less kept": ("tokens, ppswor", put(fewer, *TABLE, "kept", 30)),
    "a missing frequency": ("tokens, ppswor", drop(*TABLE, "kept", 0)),
    "a negative frequency": ("tokens, ppswor", put("-1", *TABLE, "kept", 0)),
    "another digest": ("tokens, ppswor", put("0" * 64, *TABLE, "digest")),
    "no digest": ("tokens, ppswor", put(None, *TABLE, "digest")),
    "a period of nothing": ("tokens, ppswor", put(0, *TABLE, "period")),
    "another period": ("tokens, ppswor", put(lambda period: period + 1, *TABLE, "period")),
    "a period before the first row": ("tokens, ppswor", put(10**5, *TABLE, "period")),
    "no period": ("tokens, ppswor", put(None, *TABLE, "period")),
    "a period of constant rows": ("tokens, ppswor", put("constant", *TABLE, "then")),
    "shifted rows without a period": ("tokens, listed", put("shifted", *TABLE, "then")),
    "rows beyond the rates": ("tokens, listed", put(lambda kept: kept + kept[-1:], *TABLE, "kept")),
}


def forged(name: str, forge: Callable[[Body], None]) -> str:
    body = copy.deepcopy(body_of(written(name)))
    forge(body)
    verdict = check(sealed(body))
    assert not verdict.accepted, verdict
    return verdict.reason


class TestForgeries:
    @pytest.mark.parametrize("forgery", ANYWHERE)
    @pytest.mark.parametrize("name", ["keys, all", "keys, pps", "tokens, all", "tokens, ppswor"])
    def test_a_forged_field_is_refused(self, name: str, forgery: str) -> None:
        reason = forged(name, ANYWHERE[forgery])
        assert "the check failed" not in reason

    @pytest.mark.parametrize("forgery", ONE_KIND)
    def test_a_forged_table_is_refused(self, forgery: str) -> None:
        reason = forged(*ONE_KIND[forgery])
        assert "the check failed" not in reason

    @pytest.mark.parametrize("name", ["keys, all", "keys, pps", "tokens, all", "tokens, ppswor"])
    def test_for_fewer_elements_of_a_user_than_claimed(self, name: str) -> None:
        body = body_of(keyed_certificate(*RELEASES[name], contributions=3))
        body["claim"]["contributions"] = 4
        for item in body["assumptions"]:
            if item["name"].startswith("each user"):
                item["value"] = "4"
        assert "exceed" in check(sealed(body)).reason

    def test_a_smaller_table_for_a_larger_one(self) -> None:
        """At half of epsilon the same rows are too far apart."""
        other = body_of(keyed_certificate(keys("0.25"), EveryKey()))
        reason = forged(
            "keys, all",
            both(put(other["inputs"]["growth"], "inputs", "growth"), foreign("mechanism")),
        )
        assert "between frequencies" in reason

    @pytest.mark.parametrize("sanitiser", [keys(), tokens(subdivision=2)])
    @pytest.mark.parametrize("largest", ["19", "21", "0", "-20", "020", "nan", None])
    def test_another_largest_frequency_than_that_of_the_table(
        self, sanitiser: PwsKeys | PwsFrequencies, largest: str | None
    ) -> None:
        body = body_of(keyed_certificate(evolve(sanitiser, largest=Public(20)), ppswor()))
        assert check(sealed(body)).accepted
        del body["mechanism"]["options"]["largest"]
        if largest is not None:
            body["mechanism"]["options"]["largest"] = largest
            for item in body["assumptions"]:
                item["value"] = largest if item["value"] == "20" else item["value"]
        assert "largest" in check(sealed(body)).reason

    @pytest.mark.parametrize("sanitiser", [keys(), tokens(subdivision=2)])
    def test_a_largest_frequency_that_is_not_assumed_or_does_not_end_the_table(
        self, sanitiser: PwsKeys | PwsFrequencies
    ) -> None:
        body = body_of(keyed_certificate(evolve(sanitiser, largest=Public(20)), ppswor()))
        last = body["assumptions"].pop()
        assert "a key of more occurrences counts as having" in check(sealed(body)).reason
        body["assumptions"] += [last, {"name": "largest frequency", "value": "20"}]
        body["inputs"]["table"]["then"], body["claim"]["largest_frequency"] = "absent", 20
        assert "does not go on" in check(sealed(body)).reason

    def test_sizes_of_the_scheme_that_are_no_option(self) -> None:
        sampler = Ppswor(threshold=Public("0.1"), sizes=Public("1,2,3,5"))
        body = body_of(keyed_certificate(keys(), sampler))
        del body["sampler"]["options"]["sizes"]
        assert "scheme is not that of sampler" in check(sealed(body)).reason

    def test_changed_bytes_and_deep_json(self) -> None:
        content = written("keys, all")
        assert not check(content.replace(b'"element"', b'"user"')).accepted
        deep = b'"table": {"a": ' + b"[" * 5000 + b"]" * 5000 + b","
        assert not check(content.replace(b'"table": {', deep)).accepted
        assert not check(content.replace(b'"bits": 62', b'"bits": NaN')).accepted

    @pytest.mark.soundness
    @pytest.mark.parametrize("power", ["13/10", "1"])
    def test_huge_lists_of_rows_end_in_a_refusal(self, power: str) -> None:
        body = body_of(written("keys, ppswor"))
        unnamed("power")(body)
        body["assumptions"] = [one for one in body["assumptions"] if one["name"] != "sampler.power"]
        body["inputs"]["scheme"] = {"name": "ppswor", "threshold": "1/10", "power": power}
        body["inputs"]["table"] = {"segments": [{"reported": ["0"] * 300_000}], "then": "constant"}
        assert "work budget" in check(sealed(body)).reason

    @pytest.mark.soundness
    def test_a_huge_list_of_rates_ends_in_a_refusal(self) -> None:
        body = body_of(written("tokens, ppswor"))
        body["inputs"]["table"]["kept"] = [str(row) for row in range(300_000)]
        assert "work budget" in check(sealed(body)).reason


@frozen(kw_only=True)
class Unstated:
    """A sampler whose rates no certificate states."""

    about: ClassVar[About] = About(
        name="unstated", version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="x", unit=ELEMENT
    )

    @property
    def inclusion(self) -> Inclusion:
        class Half(Inclusion):
            def rate(self, frequency: int, *, precision: int) -> Enclosure:
                return Enclosure.of("1/2", precision=precision)

        return Half()


class TestWhatHasNoCertificate:
    def test_rates_that_none_states(self) -> None:
        with pytest.raises(InvalidValue, match="rates of every-key"):
            keyed_certificate(keys(), Unstated())

    def test_a_delta_of_users_that_says_nothing(self) -> None:
        with pytest.raises(InvalidValue, match="says nothing"):
            keyed_certificate(keys(1, "0.1"), EveryKey(), contributions=50)

    def test_rows_beyond_the_work_of_a_checker(self) -> None:
        told = r"at most 131,072 rows, checked in at most 1,073,741,824 steps\. State a public largest frequency"
        with pytest.raises(InvalidValue, match=told):
            keyed_certificate(tokens("0.5", "1e-6", 32), ppswor("1e-7"))

    def test_no_contributions(self) -> None:
        with pytest.raises(InvalidValue, match="contributions"):
            keyed_certificate(keys(), EveryKey(), contributions=0)

    def test_a_record_mechanism_is_of_another_unit(self) -> None:
        about = About(
            name="x", version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="x", unit=RECORD
        )
        other: Any = type("Other", (), {"about": about, "reporting": None})()
        with pytest.raises(InvalidValue, match="unit is: element"):
            keyed_certificate(other, EveryKey())

    def test_heuristic_evidence(self) -> None:
        about = About(
            name="x", version="1", contract=CONTRACT_VERSION, evidence=Evidence.HEURISTIC, citation="x", unit=ELEMENT
        )
        other: Any = frozen(type("Other", (), {"about": about, "inclusion": None}))()
        with pytest.raises(InvalidValue, match="proved or cited"):
            keyed_certificate(keys(), other)
