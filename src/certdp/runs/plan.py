"""Plans: releases of several mechanisms on samples of several kinds, all fixed before the data are seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Self, final

from attrs import frozen
from numpy.typing import ArrayLike

from ..accounting.accountants import WorstPairs
from ..accounting.accountants.composed_runs import composed
from ..accounting.derivation import Assumption, Derivation, RecordCount, Theorem
from ..accounting.display import EXACT_UP_TO, shorten
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.pairs import Pair, compose_pairs
from ..accounting.provenance import Payment
from ..accounting.relations import Change, require_same
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.domains import NormBall
from ..plugins.contract import Coins, Release
from .keyed import MOST_CASES, KeyedRun, joint_cases, lower_bound_pair
from .run import Run, RunPart, U, refuse_chosen
from .sampled import SampledRun

if TYPE_CHECKING:
    from rich.table import Table

_KINDS = "SampledRun or KeyedRun"

_FIXED = Theorem("law", "releases fixed beforehand, one after the other")


def _parts(value: Iterable[RunPart[U]]) -> tuple[RunPart[U], ...]:
    if not isinstance(value, Iterable):
        raise InvalidType("parts", value, f"{_KINDS}, in order", "Write Plan([first, second])")
    return tuple(value)


@final
@frozen(init=False, repr=False)
class Plan(Run[U]):
    """Several runs of releases, one after the other.

    What is released may be chosen by earlier outputs; mechanisms, samplers, their parameters and the number of
    releases may not: those are fixed here. Every accountant applies.

    Args:
        parts: at least one run of releases; over one public domain, or none; for one unit of privacy.

    Guarantees:
        Every bound holds for all records of the domain: each part's pairs dominate it there, and any choice of one
        pair per part is accounted for. A lower end is proven where one record has exactly known pairs in every part.
        What a release of parameters cost counts once, in however many parts its values are used.

    Raises:
        InvalidValue: for no parts, parts with different domains, relations or units, and parameters that an adaptive
            run chose. InvalidType: for anything but SampledRun and KeyedRun.
    """

    parts: tuple[RunPart[U], ...]

    def __init__(self, parts: Iterable[RunPart[U]]) -> None:
        # written out, because type checkers do not infer the unit through a converter
        object.__setattr__(self, "parts", _parts(parts))
        self._check()

    def _check(self) -> None:
        if not self.parts:
            raise InvalidValue("parts", "none", "at least one run of releases")
        known: NormBall | None = None
        for number, part in enumerate(self.parts):
            if not isinstance(part, RunPart):
                raise InvalidType(
                    f"parts[{number}]",
                    part,
                    _KINDS,
                    "An adaptive run composes by its filter alone: its guarantee says what all of it costs",
                )
            mine, theirs = (self.relation, self.unit), (part.relation, part.unit)
            remedy = (
                "All parts protect alike: state one relation for all, such as --relation zero-out; beside releases of "
                "keyed data each record is one element, unit=ELEMENT"
            )
            require_same(f"parts[{number}]", theirs, mine, "in the first part", remedy)
            known = known or part.domain
            if part.domain is not None and known is not None and part.domain != known:
                raise InvalidValue(
                    f"parts[{number}].domain",
                    str(part.domain),
                    f"{known}, as before",
                    "One plan is about the records of one public domain: declare one that holds for all parts",
                )
        RecordCount.common(part.derivation.records for part in self.parts)
        refuse_chosen("parts", self.payments)

    @property
    def precision(self) -> int:  # type: ignore[override]
        """Working precision of proofs, in bits."""
        return max(part.precision for part in self.parts)

    @property
    def unit(self) -> U:  # type: ignore[override]
        """Whom the guarantees protect."""
        return self.parts[0].unit

    @cached_property
    def relation(self) -> Change:  # type: ignore[override]
        """The change of the data that the guarantees protect against."""
        return self.parts[0].relation

    @property
    def domain(self) -> NormBall | None:
        """The public domain of all records, where one matters."""
        return next((part.domain for part in self.parts if part.domain is not None), None)

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole plan."""
        if len(self.parts) == 1:
            return self.parts[0].pairs
        keyed, others = self._by_kind
        runs = [part.pairs for part in others]
        if keyed:
            few = prod(len(run.bounding) for run in runs) == 1
            runs.append(WorstPairs(joint_cases(keyed, MOST_CASES if few else 1), self._of_one_record))
        return composed(runs, self._of_one_record)

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        parts = [Assumption(f"part {number}", " · ".join(row)) for number, *row in self._rows()]
        return _FIXED.conclude([part.derivation for part in self.parts], parts)

    @property
    def released_values(self) -> Mapping[str, str]:
        """The released parameters of all parts and the values that they came out as."""
        return {
            f"part {number}: {name}": value
            for number, part in enumerate(self.parts, 1)
            for name, value in part.released_values.items()
        }

    @property
    def as_it_came_out(self) -> Self:
        """The plan at its released values, as filters and ex-post readings take it; itself where it has none."""
        return self._at_released_values

    @cached_property
    def _at_released_values(self) -> Self:
        parts = tuple(part.as_it_came_out for part in self.parts)
        same = all(mine is theirs for mine, theirs in zip(parts, self.parts, strict=True))
        return self if same else type(self)(parts)

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What released parameters cost, each release once."""
        return tuple(dict.fromkeys(payment for part in self.parts for payment in part.payments))

    @property
    def named(self) -> tuple[str, str]:
        """What a refusal calls the plan: its mechanisms."""
        return "plan", " then ".join(part.plugins[0].about.name for part in self.parts)

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

        Raises:
            InvalidType, InvalidValue: for a plan with parts that do not release from records, and for records, options
                and coins that a part does not admit; nothing is released.
        """
        ready = [part.prepared(records, outside, coins=coins) for part in self.sampled_parts]
        return [part.draw() for part in ready]

    @property
    def sampled_parts(self) -> tuple[SampledRun[U], ...]:
        """The parts, all of which release from a matrix of records.

        Raises:
            InvalidValue: where one does not.
        """
        return tuple(_sampled(number, part) for number, part in enumerate(self.parts))

    @property
    def contents(self) -> Iterator[tuple[str, str]]:
        """What is released by each part, and the domain, for a table."""
        for number, *described in self._rows():
            yield f"part {number}", shorten(" · ".join(described), EXACT_UP_TO)
        if self.domain is not None:
            yield "domain", str(self.domain)

    def __str__(self) -> str:
        return shorten("\n".join(" · ".join(row) for row in self._rows()), EXACT_UP_TO)

    def __rich__(self) -> Table:
        """The parts as a table."""
        from rich.table import Table

        table = Table("part", "mechanism", "sampler", "releases", title="Plan, fixed beforehand", title_justify="left")
        for row in self._rows():
            table.add_row(*(shorten(cell, EXACT_UP_TO) for cell in row))
        if self.domain is not None:
            table.caption = f"for every record with {self.domain}"
        return table

    # Shared steps

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for number, part in enumerate(self.parts, 1):
            yield str(number), *part.described

    @property
    def _by_kind(self) -> tuple[list[KeyedRun], list[RunPart[U]]]:
        """The parts on keyed data, which see a key's one frequency, and the others."""
        keyed, others = list[KeyedRun](), list[RunPart[U]]()
        for part in self.parts:
            match part:
                case KeyedRun():
                    keyed.append(part)
                case _:
                    others.append(part)
        return keyed, others

    @cached_property
    def _of_one_record(self) -> tuple[Pair, ...]:
        """The pair of all parts about the record that reaches the domain's radius on an axis, where it is known.

        An element has such a record and a key, whose frequency is free.
        """
        size = Fraction(0) if self.domain is None else self.domain.radius.value
        keyed, others = self._by_kind
        if any(run.for_every_value for run in keyed):
            return ()
        pairs = [lower_bound_pair(keyed)] if keyed else []
        for part in others:
            pair = part.pair_of_one(size)
            if pair is None:
                return ()
            pairs.append(pair)
        return (compose_pairs(pairs),)


def _sampled(number: int, part: RunPart[U]) -> SampledRun[U]:
    match part:
        case SampledRun():
            return part
    raise InvalidValue(
        f"parts[{number}]",
        part.plugins[0].about.name,
        "a part that releases from a matrix of records",
        "Release keyed data, and batches of epochs, by themselves; the plan says what all of it costs together",
    )
