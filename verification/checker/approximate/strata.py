"""Public strata: parts of the data that are drawn at rates of their own.

A record is drawn by itself at the rate of its stratum, whatever the others are. Given the others that are drawn, the
outputs are those of a sample at that rate, and divergences are jointly convex: the pair of its stratum dominates what
it loses. It stays in its stratum, in each release and where another record takes its place, so that strata compose
apart, and the worst counts. A stratum with a largest norm is a domain of its own, and holds all its records. Records of
one user may lie in several strata, of which together nothing is known.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, NamedTuple

from .. import shapes
from ..domain import Domain
from ..verdict import Refused

STRATA: Final = shapes.sequence(
    shapes.record(
        label=shapes.text,
        largest=shapes.optional(shapes.positive),
        rate=shapes.anything,
        rounding=shapes.not_negative,
        cover=shapes.anything,
    )
)
OF_EACH: Final = ("rate", "rounding", "cover")
"""What is stated of each stratum, and where there are none of the part."""
BY_STRATA: Final = " and the worst of the public strata"
_MOST: Final = 64
_STAYS: Final = (
    "labels and bounds are public and fixed beforehand; a record replaced or zeroed out stays in its stratum"
)


class Layer(NamedTuple):
    """A part as it is about the records of one stratum, where it is stated, and the domain that these are in."""

    part: dict[str, Any]
    where: str
    domain: Domain | None


def layers(part: dict[str, Any], where: str, domain: Domain | None) -> Iterator[Layer]:
    """Give a part stratum by stratum, and as it is where there are none."""
    if "strata" not in part:
        yield Layer(part, where, domain)
        return
    for number, stratum in enumerate(part["strata"]):
        within = domain
        if domain is not None and stratum["largest"] is not None:
            within = domain._replace(radius=min(domain.radius, Fraction(stratum["largest"])))
        yield Layer({**part, **{key: stratum[key] for key in OF_EACH}}, f"{where}.strata[{number}]", within)


def hold_strata(part: Mapping[str, Any], where: str, domain: Domain | None, claim: Mapping[str, Any]) -> None:
    """Hold that strata have names, that they hold all records of the domain, and what they say about the change.

    Raises:
        Refused: otherwise, and for a noise multiplier beside several weights.
    """
    if "strata" not in part:
        return
    strata = part["strata"]
    names = [stratum["label"] for stratum in strata]
    if not 1 <= len(names) <= _MOST or not all(names) or len(set(names)) < len(names):
        raise Refused(f"{where}.strata must be from 1 to {_MOST}, each with a label of its own")
    *bounds, last = [stratum["largest"] for stratum in strata]
    if any(bound is not None for bound in (*bounds, last)):
        _hold_bounds(bounds, last, where, domain)
        if claim["relation"] == "replace":
            raise Refused(f"{where}: a record that is replaced by one of another norm is in another stratum")
    if claim["unit"] == "user":
        raise Refused(f"{where}: of records of one user that lie in several strata nothing is proven")
    several = part["weighted"] and any(stratum["rate"] != strata[0]["rate"] for stratum in strata)
    if several and part["mechanism"]["name"] == "gaussian-sum" and "noise_multiplier" in part["mechanism"]["options"]:
        raise Refused(f"{where}: a noise multiplier is one number for all strata where their weights are one")


def _hold_bounds(bounds: list[Any], last: Any, where: str, domain: Domain | None) -> None:
    """Hold that largest norms rise up to all norms of the domain."""
    if last is not None or any(bound is None for bound in bounds):
        raise Refused(f"{where}.strata have a largest norm each, but for the last")
    rising = list(map(Fraction, bounds))
    if any(low >= high for low, high in pairwise(rising)):
        raise Refused(f"{where}.strata must be in the order of their largest norms")
    if domain is not None and rising[-1] >= domain.radius:
        raise Refused(f"{where}.strata: no record of the domain is in the last one")


def strata_assumed(part: Mapping[str, Any], place: str) -> dict[str, str]:
    """Give what strata need stated."""
    return {f"{place}strata": _STAYS} if "strata" in part else {}
