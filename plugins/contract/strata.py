"""Public strata: parts of the data that are drawn at rates of their own, and which part each record belongs to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeAlias, final, runtime_checkable

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ...accounting.bulk import arrays as bulk
from ...accounting.errors import InvalidType, InvalidValue
from ...accounting.exact import Floats, float_at_most
from ...accounting.norms import Norm
from ...accounting.provenance import Public
from ...accounting.sampling.domains import NormBall
from .about import About
from .parameters import require_public
from .sampler import Sampler

Places: TypeAlias = NDArray[np.int64]
"""Per record, the number of its stratum: from 0, in the order of `Strata.samplers`."""


def _samplers(given: Mapping[str, Sampler]) -> dict[str, Sampler]:
    if not isinstance(given, Mapping):
        raise InvalidType("strata", given, "a mapping of labels to samplers")
    if not given:
        raise InvalidValue("strata", "none", "at least one stratum", "State the rate of each")
    for label, sampler in given.items():
        if not isinstance(label, str) or not label:
            raise InvalidType("strata", label, "labels that are text of at least one character")
        if not isinstance(sampler, Sampler):
            remedy = "Within a stratum every record is drawn by itself, as by Poisson"
            raise InvalidType(f"strata[{label!r}]", sampler, "a sampler that states its rate", remedy)
    return dict(given)


class Strata(ABC):
    """Which sampler draws the records of each stratum, and which stratum a record belongs to; base class.

    Attributes:
        samplers: by label, each of them a sampler that states its rate.

    Guarantees:
        The stratum of a record depends on that record, its own label and public constants alone.
    """

    samplers: Mapping[str, Sampler]

    @abstractmethod
    def within(self, label: str, domain: NormBall | None) -> NormBall | None:
        """A public domain that every record of a stratum lies in, of those in `domain`; None where none is known.

        Raises:
            InvalidValue: where the stratum has no place in the domain.
        """

    @abstractmethod
    def largest(self, label: str) -> Fraction | None:
        """The largest norm of a record of a stratum, in the norm of the public domain; None where it has no bound."""

    @abstractmethod
    def places(self, records: Floats, labels: ArrayLike | None) -> Places:
        """The stratum of each record.

        Args:
            records: float64 matrix (n, d) of finite numbers, before any is clipped.
            labels: (n,) public labels, where the strata have some.

        Raises:
            InvalidType, InvalidValue: for labels that are none of the strata's.
        """


@final
@frozen
class LabelledStrata(Strata):
    """Strata by a public label that comes with each record.

    Attributes:
        samplers: by label.
    """

    samplers: Mapping[str, Sampler] = field(converter=_samplers)

    def within(self, label: str, domain: NormBall | None) -> NormBall | None:
        """The domain itself: a label says nothing about norms."""
        return domain

    def largest(self, label: str) -> None:
        """Return None: a label says nothing about norms."""

    def places(self, records: Floats, labels: ArrayLike | None) -> Places:
        """The place of each label among the strata; labels are text, or whole numbers, which are read as text.

        Raises:
            InvalidType, InvalidValue: for no labels, for another number of them than of records, for one that has no
                stratum, and for a stratum without a record.
        """
        read = _read(labels, len(records))
        occurring, place = np.unique(read, return_inverse=True)
        names = [str(label) for label in occurring.tolist()]
        known = list(self.samplers)
        if unknown := [name for name in names if name not in self.samplers]:
            raise InvalidValue(
                "labels",
                ", ".join(unknown[:4]),
                f"labels of the strata declared: {', '.join(known)}",
                "State a rate for each label that occurs: 0 where its records are never drawn",
            )
        if empty := [name for name in known if name not in names]:
            raise InvalidValue(
                "labels",
                f"no record of {', '.join(empty[:4])}",
                "a record or more in each stratum",
                "Leave that stratum out, or correct how its label is written",
            )
        return np.array([known.index(name) for name in names], dtype=np.int64)[place.reshape(-1)]


def _read(labels: ArrayLike | None, count: int) -> NDArray[Any]:
    if labels is None:
        raise InvalidType("labels", labels, "the public label of each record", "These strata are told apart by labels")
    read = np.asarray(labels)
    whole = read.dtype.kind == "O" and all(type(label) in (str, int) for label in read.flat)
    if whole:
        read = np.array([str(label) for label in read.flat], dtype=np.str_).reshape(read.shape)
    if read.dtype.kind not in "Uiu":
        raise InvalidType("labels", labels, "text or whole numbers", "Write out the label of each record")
    if read.shape != (count,):
        raise InvalidValue("labels", f"shape {read.shape}", f"({count},): one for each record")
    return read


def _bounds(given: Mapping[str, Fraction | None]) -> dict[str, Fraction | None]:
    *most, last = given.values() if given else [None]
    steps = [bound for bound in most if bound is not None]
    rising = len(steps) == len(most) and all(a < b for a, b in zip([Fraction(0), *steps], steps, strict=False))
    if last is not None or not rising:
        written = ", ".join("none" if bound is None else str(bound) for bound in given.values())
        raise InvalidValue("bounds", written, "numbers above 0 that rise, and none for the last stratum")
    return dict(given)


@final
@frozen(kw_only=True)
class NormStrata(Strata):
    """Strata by a norm of the record: the rate is a step function of it.

    Attributes:
        samplers: by label, in rising order of the norm.
        norm: which norm.
        bounds: by label, the largest norm in the stratum; None for the last, which has no bound.

    Guarantees:
        A record belongs to the first stratum whose bound is at least its norm, rounded up as `hold` does: no record of
        a stratum has a norm above its bound.
    """

    samplers: Mapping[str, Sampler] = field(converter=_samplers)
    norm: Norm
    bounds: Mapping[str, Fraction | None] = field(converter=_bounds)

    def __attrs_post_init__(self) -> None:
        if list(self.bounds) != list(self.samplers):
            raise InvalidValue("bounds", ", ".join(self.bounds), f"one for each of {', '.join(self.samplers)}")

    def largest(self, label: str) -> Fraction | None:
        """The stratum's bound."""
        return self.bounds[label]

    def within(self, label: str, domain: NormBall | None) -> NormBall | None:
        """The ball of the stratum's bound; the domain, where that is no larger.

        Raises:
            InvalidValue: for a domain in another norm or with a released radius, and for a stratum that starts at the
                radius or beyond: no record would be in it.
        """
        bound = self.bounds[label]
        if domain is None:
            return None
        if domain.norm != self.norm:
            raise InvalidValue(
                "norm", self.norm.value, f"{domain.norm.value}, the norm of the public domain", "State both in one norm"
            )
        require_public(radius=domain.radius)
        radius = domain.radius.value
        below = [b for b in self.bounds.values() if b is not None and (bound is None or b < bound)]
        if below and below[-1] >= radius:
            remedy = f"No record of the domain is in stratum {label!r}: leave it out"
            raise InvalidValue("bounds", str(below[-1]), f"bounds below {radius}, the radius", remedy)
        if bound is None or radius <= bound:
            return domain
        return NormBall(norm=self.norm, radius=Public(bound), dimension=domain.dimension)

    def places(self, records: Floats, labels: ArrayLike | None) -> Places:
        """The first stratum whose bound is at least the norm, rounded up.

        Raises:
            InvalidType: for labels, which these strata have none of.
        """
        if labels is not None:
            raise InvalidType("labels", labels, "nothing: these strata are told apart by a norm", "Leave them out")
        ends = [float_at_most(bound) for bound in self.bounds.values() if bound is not None]
        return np.searchsorted(np.array(ends), bulk.norms(records, self.norm), side="left").astype(np.int64)


@runtime_checkable
class StratifyingSampler(Protocol):
    """What a sampler declares that draws the records of public strata at rates of their own. The library draws.

    Attributes:
        about: identity and standing.
    """

    about: ClassVar[About]

    @property
    def strata(self) -> Strata:
        """The strata, and the sampler of each."""
        ...
