"""Plans: releases of several mechanisms on samples of several kinds, all fixed before the data are seen."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from attrs import field, frozen
from numpy.typing import ArrayLike

from .accounted import Accounted, Answer
from .accounting.accountants import WorstPairs
from .accounting.clipping import Outside
from .accounting.common_record import case_on_axis
from .accounting.composed_runs import composed
from .accounting.derivation import Assumption, Derivation, Theorem
from .accounting.domains import NormBall
from .accounting.errors import InvalidType, InvalidValue
from .accounting.pairs import Pair, compose_pairs
from .accounting.provenance import Payment
from .accounting.relations import AddRemove, Replace
from .accounting.releases import SampleOnce
from .plugins.contract import Coins, Release, stated
from .sampled import declared_loss, declared_rate
from .sampled_releases import SampledReleases

if TYPE_CHECKING:
    from rich.table import Table

    from .run_certificates import Certified

_FIXED = Theorem("law", "releases fixed beforehand, one after the other")

CHOSEN = Theorem("law", "chosen from earlier releases of an adaptive run, whose filter has counted them")
"""What the cost of a parameter rests on that an adaptive run chose; a plan refuses such a parameter."""


def _parts(value: Iterable[SampledReleases]) -> tuple[SampledReleases, ...]:
    if not isinstance(value, Iterable):
        raise InvalidType("parts", value, "SampledReleases, in order", "Write Plan([first, second])")
    return tuple(value)


@final
@frozen
class Plan(Accounted):
    """Several runs of releases, one after the other.

    What is released may be chosen by earlier outputs; mechanisms, samplers, their parameters and the number of
    releases may not: those are fixed here. Every accountant applies.

    Args:
        parts: at least one run of releases; over one public domain, or none.

    Guarantees:
        Every bound holds for all records of the domain: each part's pairs dominate it there, and any choice of one
        pair per part is accounted for. A lower end is proven where one record has exactly known pairs in every part.
        What a release of parameters cost counts once, in however many parts its values are used.

    Raises:
        InvalidValue: for no parts, parts with different domains or relations, and parameters that an adaptive run
            chose. InvalidType: for anything but SampledReleases.
    """

    parts: tuple[SampledReleases, ...] = field(converter=_parts)

    def __attrs_post_init__(self) -> None:
        if not self.parts:
            raise InvalidValue("parts", "none", "at least one run of releases")
        known: NormBall | None = None
        for number, part in enumerate(self.parts):
            if not isinstance(part, SampledReleases):
                raise InvalidType(
                    f"parts[{number}]",
                    part,
                    "SampledReleases",
                    "An adaptive run composes by its filter alone: its guarantee says what all of it costs",
                )
            if part.relation != self.relation:
                raise InvalidValue(f"parts[{number}]", part.relation, f"{self.relation!r}, as in the first part")
            known = known or part.domain
            if part.domain is not None and known is not None and part.domain != known:
                raise InvalidValue(
                    f"parts[{number}].domain",
                    _stated_domain(part.domain),
                    f"{_stated_domain(known)}, as before",
                    "One plan is about the records of one public domain: declare one that holds for all parts",
                )
        for payment in self.payments:
            if payment.cost.derivation.theorem == CHOSEN:
                raise InvalidValue(
                    "parts",
                    "a parameter chosen from earlier releases",
                    "parameters fixed beforehand",
                    "Account for adaptive runs by a filter: AdaptiveRun(filter)",
                )

    @property
    def precision(self) -> int:  # type: ignore[override]
        """Working precision of proofs, in bits."""
        return max(part.precision for part in self.parts)

    @cached_property
    def relation(self) -> AddRemove | Replace:
        """The change of the data that the guarantees protect against."""
        return self.parts[0].relation

    @property
    def domain(self) -> NormBall | None:
        """The public domain of all records, where one matters."""
        return next((part.domain for part in self.parts if part.domain is not None), None)

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole plan."""
        return composed([part.pairs for part in self.parts], self._of_one_record)

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        parts = [Assumption(f"part {number}", " · ".join(row)) for number, *row in self._rows()]
        return _FIXED.conclude([part.derivation for part in self.parts], parts)

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What released parameters cost, each release once."""
        return tuple(dict.fromkeys(payment for part in self.parts for payment in part.payments))

    @property
    def named(self) -> tuple[str, str]:
        """The mechanisms."""
        return "plan", " then ".join(part.mechanism.about.name for part in self.parts)

    def release(
        self, records: ArrayLike, outside: Outside = Outside.CLIP, *, coins: Coins | None = None
    ) -> list[list[Release]]:
        """Draw and release, as planned.

        Args:
            records: matrix (n, d) of finite numbers.
            outside: what happens to records outside the domain.
            coins: the operating system's unless given; releases with seeded coins are not private.

        Returns:
            For each part, one release per step.
        """
        used = coins or Coins()
        return [part.release(records, outside, coins=used) for part in self.parts]

    def certificate(self, answer: Answer) -> Certified:
        """A publishable certificate of an answer's (ε, δ), accepted by the independent checker.

        The checker proves them anew by a method of its own: the ε or δ certified may be above the answer's.

        Raises:
            InvalidValue: for a loss that no certificate states, and where the checker has no method that proves it.
        """
        from .run_certificates import certified

        return certified(self, self.parts, self.domain, answer)

    def __str__(self) -> str:
        return "\n".join(" · ".join(cell for cell in row if cell) for row in self._rows())

    def __rich__(self) -> Table:
        """The parts as a table."""
        from rich.table import Table

        table = Table("part", "mechanism", "sampler", "releases", title="Plan, fixed beforehand", title_justify="left")
        for row in self._rows():
            table.add_row(*row)
        if self.domain is not None:
            table.caption = f"for every record with {_stated_domain(self.domain)}"
        return table

    # Shared steps

    def _rows(self) -> Iterable[tuple[str, str, str, str]]:
        for number, part in enumerate(self.parts, 1):
            steps = part.releases.steps
            way = "on one sample" if isinstance(part.releases, SampleOnce) else "each on a fresh sample"
            count = "1 release" if steps == 1 else f"{steps:,} releases, {way}"
            yield str(number), _with_options(part.mechanism), _with_options(part.sampler), count

    @property
    def _of_one_record(self) -> tuple[Pair, ...]:
        """The pair of all parts about the record that reaches the domain's radius on an axis, where it is known."""
        size = Fraction(0) if self.domain is None else self.domain.radius.value
        pairs = []
        for part in self.parts:
            rate = declared_rate(part.sampler)
            case = case_on_axis(declared_loss(part.mechanism), rate, size, precision=part.precision)
            if case is None:
                return ()
            pairs.append(part.releases.pair(case.pair, case.rate))
        return (compose_pairs(pairs),)


def _with_options(plugin: Any) -> str:
    options = ", ".join(f"{name}={value}" for name, value in stated(plugin).items())
    return f"{plugin.about.name} ({options})" if options else str(plugin.about.name)


def _stated_domain(domain: NormBall) -> str:
    return ", ".join(map(str, domain.assumptions))
