"""Certificates of kind "keyed-approximate": (epsilon, delta) of a release of sampled keys, for data of every frequency.

A key is kept with a probability that depends on its frequency, and is then reported, or reported with a token, each
key by itself. The unit of privacy is an element, one occurrence of a key: it moves one key to a neighbouring
frequency. So the release is (epsilon, delta)-differentially private exactly where the laws of what is reported about
one key at every two neighbouring frequencies are within it, both ways (PWS Section 4; Lemma 5.2 and Section 5 where
tokens are reported). Both are proven here for the table stated, in whole units, with no more reported than the sampler
keeps.

A user with at most c elements lies c such steps away: with G and d for one step, G^c and d·(1 + G + ... + G^(c-1)).
Several releases, each on a fresh sample, and what releasing the sampler's constants costs, add up within one step
(basic composition). Or, about one element, releases are composed by what each keeps, or those of keys alone at each
frequency (`composed`): the theorem says so. The latter are about the rates stated, so none of them is a released value.

What is not proven: that a program samples and reports with the probabilities stated.
"""

from fractions import Fraction
from math import ceil, floor
from typing import Any, Final, NamedTuple

from mpmath import libmp

from .. import shapes
from ..budget import Budget
from ..data import Data
from ..declared import hold_keyed
from ..intervals import ONE, Arithmetic, Interval, at_most, floor_in_units
from ..released import released_assumed
from ..statement import PART, Assumed, accepted_approximate, cost_assumed, hold_assumptions, plugins_assumed
from ..verdict import Refused, Verdict
from .composed import Releases, prove_composed
from .frequencies import prove_delays, prove_rows
from .keys import prove_keys
from .rates import Rates, read_rates
from .units import LONGEST_SUBDIVISION, MARGIN, Units, a_whole_number

KIND: Final = "keyed-approximate"

_GUARD: Final = 64
_FINE: Final = Arithmetic(2400)  # over twice the most bits of a unit
_LEAST_BITS: Final = 52
_MOST: Final = 2**53
_CERTAIN: Final = Interval(ONE, ONE)
_THEOREMS: Final = {
    "keys": "PWS Section 4, Lemma 4.1",
    "delays": "PWS Section 5, Lemma 5.2",
    "rows": "PWS Section 5, Theorem 5.1",
}
_GROUPS: Final = " and group privacy"
_COMPOSED: Final = " and basic composition"
_OPTIMAL: Final = " and optimal composition (Kairouz, Oh, Viswanath 2015)"
_BY_FREQUENCY: Final = _THEOREMS["keys"] + " and composition at each frequency (Zhu, Dong, Wang 2022)"

_BODY: Final = shapes.record(
    format=shapes.text,
    kind=shapes.one_of(KIND),
    audience=shapes.one_of("public"),
    theorem=shapes.text,
    claim=shapes.record(
        unit=shapes.one_of("element", "user"),
        contributions=shapes.optional(shapes.integer(1, _MOST)),
        relation=shapes.one_of("add-remove"),
        notion=shapes.one_of("approximate"),
        epsilon=shapes.not_negative,
        delta=shapes.not_negative,
        largest_frequency=shapes.optional(shapes.integer(1, _MOST)),
    ),
    inputs=shapes.record(
        scheme=shapes.mapping(shapes.anything),
        releases=shapes.integer(1, _MOST),
        reports=shapes.one_of(*_THEOREMS),
        subdivision=shapes.integer(0, LONGEST_SUBDIVISION),
        bits=shapes.of_type(int),
        growth=a_whole_number,
        allowance=a_whole_number,
        table=shapes.anything,
        released_cost=shapes.record(epsilon=shapes.not_negative, delta=shapes.not_negative),
    ),
    mechanism=PART,
    sampler=PART,
    assumptions=shapes.sequence(shapes.record(name=shapes.text, value=shapes.text)),
    versions=shapes.mapping(shapes.text),
)


class Cost(NamedTuple):
    """What releasing the sampler's constants costs."""

    epsilon: Fraction
    delta: Fraction


def check_keyed_approximate(body: dict[str, Any], data: Data | None, budget: Budget) -> Verdict:
    """Check a certificate of this kind; it is never bound to data."""
    _BODY(body, "certificate")
    claim, inputs = body["claim"], body["inputs"]
    if (claim["unit"] == "user") != (claim["contributions"] is not None):
        raise Refused("contributions belong in a claim about users, and only there")
    units = Units.of(inputs)
    cost = Cost(*(Fraction(inputs["released_cost"][key]) for key in ("epsilon", "delta")))
    theorem, by_frequency = _theorem(body, cost), body["theorem"] == _BY_FREQUENCY
    if body["theorem"] not in (theorem, _optimal_theorem(body, cost), _theorem_by_frequency(body, cost)):
        raise Refused(f"the theorem is {theorem!a}")
    rates = read_rates(inputs["scheme"], Arithmetic(units.bits + _GUARD), budget)
    known = _check_options(body, units)
    assumed = _hold_assumptions(body, known, by_frequency)
    releases = None
    if body["theorem"] == theorem:
        _prove_budget(body, units, cost)
    else:
        releases = Releases(Fraction(claim["epsilon"]), Fraction(claim["delta"]), inputs["releases"], cost, budget)
        if not by_frequency:
            prove_composed(releases, units)
    covered = _prove_table(inputs, rates, units, releases if by_frequency else None)
    if known:
        _hold_end(body["mechanism"]["options"], inputs, rates, units)
    if covered != claim["largest_frequency"]:
        raise Refused(f"the table covers {'every frequency' if covered is None else f'frequencies up to {covered}'}")
    return _accepted(body, assumed, data)


def _theorem(body: dict[str, Any], cost: Cost) -> str:
    """Name the theorem that the claim follows by where the losses of releases add up."""
    inputs = body["inputs"]
    composed = _COMPOSED if any(cost) or inputs["releases"] > 1 else ""
    return _THEOREMS[inputs["reports"]] + composed + (_GROUPS if body["claim"]["unit"] == "user" else "")


def _optimal_theorem(body: dict[str, Any], cost: Cost) -> str | None:
    """Name it where they are composed by what each keeps; None of users, for whom no such proof is known."""
    if body["claim"]["unit"] == "user":
        return None
    return _THEOREMS[body["inputs"]["reports"]] + _OPTIMAL + (_COMPOSED if any(cost) else "")


def _theorem_by_frequency(body: dict[str, Any], cost: Cost) -> str | None:
    """Name it where they are composed at each frequency; None of users, of tokens, and at released rates."""
    if body["claim"]["unit"] == "user" or body["inputs"]["reports"] != "keys" or any(cost):
        return None
    return _BY_FREQUENCY


def _check_options(body: dict[str, Any], units: Units) -> bool:
    """Hold what the options of mechanism and sampler say against the inputs, where they say it.

    Whether the mechanism is a sanitiser of certdp.
    """
    inputs = body["inputs"]
    known = hold_keyed(body["mechanism"], body["sampler"], inputs["reports"], inputs["scheme"])
    mechanism, sampler = (body[role]["options"] for role in ("mechanism", "sampler"))
    for key in ("threshold", "power"):
        if key in sampler and inputs["scheme"].get(key, sampler[key]) != sampler[key]:
            raise Refused(f"inputs.scheme.{key} is not the sampler's option")
    for key in ("sizes", "rates"):
        if key in sampler and ",".join(inputs["scheme"].get(key, ())) != sampler[key]:
            raise Refused(f"inputs.scheme.{key} is not the sampler's option")
    if mechanism.get("subdivision", str(inputs["subdivision"])) != str(inputs["subdivision"]):
        raise Refused("inputs.subdivision is not the mechanism's option")
    if "epsilon" in mechanism and not _grows_at_most(units, _option(mechanism, "epsilon")):
        raise Refused("inputs.growth exceeds the mechanism's option epsilon")
    if "delta" in mechanism and Fraction(units.allowance, units.certain) > _option(mechanism, "delta"):
        raise Refused("inputs.allowance exceeds the mechanism's option delta")
    if known:
        _hold_budget(units, inputs["subdivision"], _option(mechanism, "epsilon"), _option(mechanism, "delta"))
    return known


def _hold_budget(units: Units, subdivision: int, epsilon: Fraction, delta: Fraction) -> None:
    """Hold bits, growth and allowance against the rule by which the sanitisers of certdp round epsilon and delta."""
    if not delta:
        raise Refused("at the mechanism's option delta of 0 no key may be reported")
    bits = _LEAST_BITS + (ceil(1 / delta) - 1).bit_length() + subdivision
    if units.bits != bits or units.allowance != floor(delta * (1 << bits - subdivision)) << subdivision:
        raise Refused("bits and allowance are not those of the mechanism's option delta")
    more = units._replace(growth=units.growth + 1)
    if units.growth < units.certain**2 and _grows_at_most(more, epsilon):
        raise Refused("inputs.growth is below the mechanism's option epsilon")


def _option(options: dict[str, str], key: str) -> Fraction:
    return shapes.rational(options[key], f"mechanism.options.{key}")


def _grows_at_most(units: Units, epsilon: Fraction) -> bool:
    """Decide whether G ≤ e^epsilon is proven."""
    growth = _FINE.rational(Fraction(units.growth, units.certain))
    return at_most(growth.hi, _FINE.exp(_FINE.rational(epsilon)).lo)


def _prove_budget(body: dict[str, Any], units: Units, cost: Cost) -> None:
    """Prove that G and D/2^K for every release, the cost, and as many steps as a user takes are within the claim."""
    claim, releases = body["claim"], body["inputs"]["releases"]
    epsilon, delta = Fraction(claim["epsilon"]), Fraction(claim["delta"])
    steps = claim["contributions"] or 1
    if delta > 1:
        raise Refused("claim.delta is no probability")
    if not _grows_at_most(units, (epsilon / steps - cost.epsilon) / releases):
        raise Refused("the growth stated, and the cost of released constants, exceed epsilon")
    one = releases * Fraction(units.allowance, units.certain) + cost.delta
    if steps == 1:
        within = one <= delta
    else:
        growth = _FINE.rational(Fraction(units.growth, units.certain))
        growth = _FINE.power(growth, Fraction(releases))
        growth = _FINE.multiply(growth, _FINE.exp(_FINE.rational(cost.epsilon)))
        total = _FINE.multiply(_FINE.rational(one), _geometric_sum(growth, steps))
        within = at_most(total.hi, _FINE.rational(delta).lo)
    if not within:
        raise Refused("the allowance stated, and the cost of released constants, exceed delta")


def _geometric_sum(factor: Interval, terms: int) -> Interval:
    """Enclose 1 + g + ... + g^(terms - 1) by doubling."""
    total, power = _CERTAIN, factor
    for bit in format(terms, "b")[1:]:
        total = _FINE.multiply(total, _FINE.add(_CERTAIN, power))
        power = _FINE.multiply(power, power)
        if bit == "1":
            total = _FINE.add(_CERTAIN, _FINE.multiply(total, factor))
            power = _FINE.multiply(power, factor)
    return total


def _prove_table(inputs: dict[str, Any], rates: Rates, units: Units, releases: Releases | None) -> int | None:
    """Prove the table, and releases by it; the last frequency that it covers, or None."""
    reports, table, subdivision = inputs["reports"], inputs["table"], inputs["subdivision"]
    if reports == "keys":
        if subdivision:
            raise Refused("inputs.subdivision is of tokens; keys alone have none")
        return prove_keys(table, rates, units, releases)
    if reports == "rows":
        return prove_rows(table, rates, subdivision, units)
    if inputs["scheme"] != {"name": "every-key"}:
        raise Refused("delays are for keys that are not sampled")
    prove_delays(table, subdivision, units)
    return None


def _hold_end(options: dict[str, str], inputs: dict[str, Any], rates: Rates, units: Units) -> None:
    """Hold how a table goes on against the option `largest`, the frequency as which all higher ones count.

    Without that option the last row holds for ever only where it reports all that is ever kept.
    """
    end: float = min(rates.last, _MOST)
    if "largest" in options:
        largest = int(options["largest"])
        if largest > end:
            raise Refused("the mechanism's option largest is no frequency that has a rate")
        end = largest
    if inputs["reports"] == "delays":
        return  # cut off at any frequency they are proven
    constant = inputs["table"]["then"] == "constant"
    if "largest" in options and not constant:
        raise Refused("the table does not go on as the mechanism's option largest says")
    if constant:
        frequency, reported = _last_row(inputs["table"])
        kept = -floor_in_units(libmp.mpf_neg(rates.rate(int(end)).hi), units.bits)
        if frequency > end or (frequency < end and reported + MARGIN < kept):
            raise Refused("the table's last row is not that of the largest frequency, nor all that is kept there")


def _last_row(table: dict[str, Any]) -> tuple[int, int]:
    """Give the last frequency of a proven table, and how many units are listed as reported of it, else 0."""
    frequency, reported = len(table.get("kept", ())), 0
    for segment in table.get("segments", ()):
        rows = segment.get("reported", ())
        frequency = segment.get("kept_through", frequency + len(rows))
        reported = int(rows[-1]) if rows else 0
    return frequency, reported


def _hold_assumptions(body: dict[str, Any], known: bool, by_frequency: bool) -> Assumed:
    """Hold the assumptions against what the certificate rests on; `known` is a sanitiser of certdp."""
    claim, inputs = body["claim"], body["inputs"]
    needed = plugins_assumed(body) | {
        "unit is an element": "one occurrence of a key",
        "coins of each key": "independent of those of all other keys",
    }
    if claim["contributions"] is not None:
        needed["each user contributes at most so many elements in all"] = str(claim["contributions"])
    if inputs["releases"] > 1:
        needed["releases, each on a fresh sample with coins of its own"] = str(inputs["releases"])
    if claim["largest_frequency"] is not None:
        needed["largest frequency"] = str(claim["largest_frequency"])
    if known and "largest" in body["mechanism"]["options"]:
        needed["a key of more occurrences counts as having"] = body["mechanism"]["options"]["largest"]
    needed |= cost_assumed(inputs["released_cost"]["epsilon"])
    needed |= cost_assumed(inputs["released_cost"]["delta"], "released delta")
    needed |= released_assumed(
        body["assumptions"],
        {"": body},
        indifferent=frozenset({"sampler"}) if known and not by_frequency else frozenset(),
        domain=None,
        norms_matter=False,
        cost=any(inputs["released_cost"][key] != "0" for key in ("epsilon", "delta")),
    )
    return hold_assumptions(body, needed)


def _accepted(body: dict[str, Any], assumed: Assumed, data: Data | None) -> Verdict:
    """Say for whom and against what change."""
    claim, mechanism, sampler = body["claim"], body["mechanism"]["name"], body["sampler"]["name"]
    steps, last, releases = claim["contributions"], claim["largest_frequency"], body["inputs"]["releases"]
    frequencies = "every frequency" if last is None else f"every frequency up to {last}"
    whom = "element" if steps is None else f"user with at most {steps} element{'s' * (steps > 1)}"
    often = "one release costs" if releases == 1 else f"{releases} releases, each on a fresh sample, cost"
    reason = (
        f"with the probabilities stated for mechanism {mechanism!a} after sampler {sampler!a}, {often} "
        f"at most (epsilon, delta), for keys of {frequencies}"
    )
    return accepted_approximate(body, [body], reason, assumed, whom=whom, domain=f"keys of {frequencies}", data=data)
