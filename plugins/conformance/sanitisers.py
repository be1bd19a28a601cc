"""Laws of sanitisers of sampled keys: what is reported about a key of each frequency, end to end."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, final

from attrs import frozen

from ...accounting.enclosures import Enclosure
from ...accounting.errors import CertdpError, InvalidType
from ...accounting.exact import exact
from ...accounting.keyed.reporting import EveryKey, FrequencyRow, Inclusion, ListedRates, PoissonPps, Ppswor, Reporting
from ...accounting.relations import Direction
from ...accounting.units import Probability
from ..contract import Case, Finding
from .constants import Setup
from .divergences import formatted, point
from .law import Law, broken, kept, nothing_escapes, once

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_LEVELS = (Fraction(1, 4), Fraction(1))

Outcomes: TypeAlias = tuple[tuple[int, int, int], ...]
"""How many outcomes are alike, and the units of each at the lower and the higher frequency."""


@final
@frozen(eq=False)
class Sanitising:
    """A sanitiser with public constants, after a sampler.

    Attributes:
        setup: the constants.
        sampler: the sampler's name.
        inclusion: its probabilities.
    """

    setup: Setup
    sampler: str
    inclusion: Inclusion

    def reporting(self) -> Reporting:
        """Return what the sanitiser reports about a key of each frequency.

        Raises:
            InvalidType: where that are no rows.
        """
        found = self.setup.build().reporting(self.inclusion)
        if not isinstance(found, Reporting):
            raise InvalidType("reporting", found, "a Reporting, such as KeyTable")
        return found

    def __str__(self) -> str:
        return f"{self.setup}; after {self.sampler}"


@final
@frozen(eq=False)
class SanitiserSubject:
    """A sanitiser of sampled keys.

    Attributes:
        setups: public constants to try it with.
        uses: those together with samplers that it reports after.
        refusal: what it says where there are none.
    """

    setups: tuple[Setup, ...]
    uses: tuple[Sanitising, ...]
    refusal: str


def sanitiser_subject(setups: tuple[Setup, ...]) -> SanitiserSubject:
    """A sanitiser, and the samplers that it reports after."""
    samplers: tuple[tuple[str, Inclusion], ...] = (
        ("every key", EveryKey()),
        ("ppswor, τ = 1/10", Ppswor(threshold=Fraction(1, 10))),
        ("pps, τ = 1/20", PoissonPps(threshold=Fraction(1, 20))),
        ("rates 0.1, 0.1, 0.5, 1", ListedRates(tuple(map(Probability, ("0.1", "0.1", "0.5", "1"))))),
    )
    uses, refusal = [], ""
    for use in (Sanitising(setup, name, inclusion) for setup in setups for name, inclusion in samplers):
        try:
            with nothing_escapes():
                use.reporting().row(1)
        except CertdpError as error:
            refusal = refusal or str(error)
            continue
        except Exception:  # what breaks here breaks in the laws, with a witness
            pass
        uses.append(use)
    return SanitiserSubject(setups, tuple(uses), refusal)


def _reports(subject: SanitiserSubject) -> str | None:
    return None if subject.uses else f"it reports after none of the samplers tried ({subject.refusal})"


def _reports_at_all(subject: SanitiserSubject, _: Case) -> Finding:
    refusal = _reports(subject)
    return kept() if refusal is None else broken(refusal, "a report; state constants with which it can: options=…")


def _cases(subject: SanitiserSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    return strategies.fixed_dictionaries(
        {"constants": strategies.sampled_from(subject.uses), "frequency": strategies.integers(1, 40)}
    )


def _rows(case: Case) -> tuple[Reporting, FrequencyRow | None, FrequencyRow]:
    """The reporting, and the rows of the frequency before and of the frequency itself."""
    reporting = case["constants"].reporting()
    last = reporting.last
    frequency = case["frequency"] if last is None else min(case["frequency"], last)
    return reporting, reporting.row(frequency - 1) if frequency > 1 else None, reporting.row(frequency)


def _is_a_law(_: SanitiserSubject, case: Case) -> Finding:
    """A row adds up to 1, and nothing is reported that was not kept."""
    use: Sanitising = case["constants"]
    row = _rows(case)[2]
    if any(run.units < 0 or run.width < 1 for run in row.runs) or row.unreported < 0:
        return broken(f"runs {row.runs}, {row.unreported} unreported", "units of at least 0")
    total = row.unreported + sum(run.mass for run in row.runs)
    if total != 1 << row.bits:
        return broken(f"{total} units at frequency {row.frequency}", f"{1 << row.bits} in all")
    kept_units = use.inclusion.units(row.frequency, row.bits)
    if row.reported > kept_units:
        return broken(f"{row.reported} units reported at frequency {row.frequency}", f"at most {kept_units}, as kept")
    return kept()


def _outcomes(before: FrequencyRow | None, row: FrequencyRow) -> Outcomes:
    """Every token of two neighbouring rows, and "not reported"."""
    unreported = 1 << row.bits if before is None else before.unreported
    return ((1, unreported, row.unreported), *_tokens(before, row))


def _tokens(before: FrequencyRow | None, row: FrequencyRow) -> Iterator[tuple[int, int, int]]:
    lower = () if before is None else before.runs
    edges = sorted({edge for run in (*lower, *row.runs) for edge in (run.first, run.end)})
    for first, end in pairwise(edges):
        units = [sum(run.units for run in runs if run.first <= first < run.end) for runs in (lower, row.runs)]
        yield end - first, units[0], units[1]


def _hockey_sticks(outcomes: Outcomes, growth: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Σ [P − g·Q]₊ of the higher frequency from the lower, and of the lower from the higher."""
    upward = sum(
        (number * max(Fraction(0), after - growth * before) for number, before, after in outcomes), Fraction(0)
    )
    downward = sum(
        (number * max(Fraction(0), before - growth * after) for number, before, after in outcomes), Fraction(0)
    )
    return upward / (1 << bits), downward / (1 << bits)


def _is_private(_: SanitiserSubject, case: Case) -> Finding:
    """Neighbouring rows are (ε, δ)-close in both directions, by their own sums."""
    reporting, before, row = _rows(case)
    epsilon, delta = reporting.epsilon.value, reporting.delta.value
    growth = Enclosure.of(epsilon, precision=2 * row.bits).exp().upper
    for name, spent in zip(
        ("upward", "downward"), _hockey_sticks(_outcomes(before, row), growth, row.bits), strict=True
    ):
        if spent > delta:
            return broken(f"δ = {float(spent):.9g} {name} at frequency {row.frequency}", f"at most {float(delta):.9g}")
    return kept()


def _keeps_its_word(_: SanitiserSubject, case: Case) -> Finding:
    """The rows' ε and δ are at most those of the plugin's options, where it has such options."""
    reporting, stated = case["constants"].reporting(), case["constants"].setup.options
    for name, found in (("epsilon", reporting.epsilon.value), ("delta", reporting.delta.value)):
        if name in stated and found > exact(stated[name]):
            return broken(f"{name} = {found}", f"at most {stated[name]}, as its option says")
    return kept()


def _dominates(_: SanitiserSubject, case: Case) -> Finding:
    """The dominating pair is at least as easy to tell apart as neighbouring rows."""
    reporting, before, row = _rows(case)
    try:
        law = reporting.dominating_pair().delta
    except CertdpError:
        return kept("no pair")
    for level in _LEVELS:
        epsilon = point(level)
        sums = _hockey_sticks(_outcomes(before, row), epsilon.exp().upper, row.bits)
        for direction, spent in zip((Direction.REMOVE, Direction.ADD), sums, strict=True):
            found = law(epsilon, direction)
            if found.upper < spent:
                details = f"δ({level}), {direction.value} = {formatted(found)} of the pair"
                return broken(details, f"at least {float(spent):.9g}, as at frequency {row.frequency}")
    return kept()


def _repeats(_: SanitiserSubject, case: Case) -> Finding:
    """The same row each time, asked for alone or among others."""
    reporting, _before, row = _rows(case)
    again, fresh = reporting.row(row.frequency), case["constants"].reporting().row(row.frequency)
    among = list(reporting.at(sorted({1, row.frequency})))[-1]
    for other in (again, fresh, among):
        if other != row:
            return broken(other, row)
    return kept()


def _stands_extremes(_: SanitiserSubject, case: Case) -> Finding:
    """The row of a frequency of 2^40 adds up, or the frequency is refused with its reason."""
    try:
        row = case["constants"].reporting().row(1 << 40)
    except CertdpError:
        return kept("a refusal with a reason")
    total = row.unreported + sum(run.mass for run in row.runs)
    return kept() if total == 1 << row.bits else broken(f"{total} units", f"{1 << row.bits} in all")


LAWS: tuple[Law[SanitiserSubject], ...] = (
    Law(
        name="reports",
        says="it reports keys after some sampler, with some constants",
        cases=once,
        examine=_reports_at_all,
        most=1,
    ),
    Law(
        name="rows",
        says="a row adds up to 1, and nothing is reported that was not kept",
        absence=_reports,
        cases=_cases,
        examine=_is_a_law,
    ),
    Law(
        name="neighbours",
        says="neighbouring rows are (ε, δ)-close in both directions",
        absence=_reports,
        cases=_cases,
        examine=_is_private,
    ),
    Law(
        name="promise",
        says="the rows' ε and δ are at most those of the options epsilon and delta",
        absence=_reports,
        cases=_cases,
        examine=_keeps_its_word,
    ),
    Law(
        name="domination",
        says="the dominating pair is at least as easy to tell apart as neighbouring rows",
        absence=_reports,
        cases=_cases,
        examine=_dominates,
    ),
    Law(
        name="repeats",
        says="the same row each time, asked for alone or among others",
        absence=_reports,
        cases=_cases,
        examine=_repeats,
    ),
    Law(
        name="extreme-frequencies",
        says="a row of frequency 2^40 adds up, or is refused with the reason",
        absence=_reports,
        cases=_cases,
        examine=_stands_extremes,
        most=3,
    ),
)
