"""What a reader demands of a certificate beside that it holds, such as the policy of a machine.

A demand is compared with what the checker has proven, exactly: with the upper ends of epsilon and delta, and with what
the claim says of itself. Nothing is met by a certificate that is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from .statement import exactly, in_decimals
from .verdict import Claim, Outcome, Verdict

UNITS: Final = ("record", "element", "user")
RELATIONS: Final = ("add-remove", "replace", "zero-out")
PROVED: Final = "proved"


@dataclass(frozen=True, kw_only=True)
class Demand:
    """One demand: what is wanted, what the certificate has (None where it has none), and whether that will do."""

    name: str
    wanted: str
    found: str | None
    met: bool

    def __str__(self) -> str:
        """Give it in one line of ASCII."""
        found = "nothing" if self.found is None else ascii(self.found)[1:-1]
        return f"{'met' if self.met else 'not met'}: {self.name}: wanted {ascii(self.wanted)[1:-1]}, found {found}"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Demands on certificates; what is None or empty is not demanded.

    An epsilon without a delta is one of pure differential privacy: a largest delta that is not stated beside a largest
    epsilon is 0. A proof of an owner's certificate is one of its figures too.
    """

    proved: bool = False
    """Whether all must be proven: nothing about a mechanism or sampler may be taken from its author."""
    max_epsilon: Fraction | None = None
    max_delta: Fraction | None = None
    unit: str | None = None
    min_contributions: int | None = None
    """How many records or elements of one user, at least, the claim must cover; for records also those of a group."""
    relation: str | None = None
    distributions: tuple[str, ...] = ()
    """Of which every mechanism and sampler must come."""
    artefacts: tuple[tuple[str, str], ...] = ()
    """Files, by name and digest, each of which must be one that was released with the certificate."""

    def demands(self, verdict: Verdict) -> tuple[Demand, ...]:
        """Hold a verdict against each demand."""
        return tuple(self._held(verdict))

    def _held(self, verdict: Verdict) -> Iterator[Demand]:
        claim = verdict.claim
        if self.proved:
            yield _proved(verdict)
        bounds = ("max-epsilon", self.max_epsilon), ("max-delta", self._largest_delta)
        for place, (name, largest) in enumerate(bounds):
            if largest is not None:
                end = None if claim is None or claim.bound is None else claim.bound[place]
                found = None if end is None else in_decimals(end)
                met = end is not None and end <= largest
                yield Demand(name=name, wanted=f"at most {exactly(largest)}", found=found, met=met)
        if self.unit is not None:
            yield _same("unit", self.unit, None if claim is None else claim.unit)
        if self.min_contributions is not None:
            together = None if claim is None else claim.together
            found = None if together is None else str(together)
            met = together is not None and together >= self.min_contributions
            yield Demand(name="min-contributions", wanted=f"at least {self.min_contributions}", found=found, met=met)
        if self.relation is not None:
            yield _same("relation", self.relation, None if claim is None else claim.relation)
        if self.distributions:
            yield self._distribution(claim)
        stated = () if verdict.artefacts is None else verdict.artefacts.files
        for name, digest in self.artefacts:
            digests = [one for _, one in stated]
            found = ", ".join(digests) or None
            yield Demand(name=f"artefact {name}", wanted=digest, found=found, met=digest in digests)

    @property
    def _largest_delta(self) -> Fraction | None:
        pure = self.max_delta is None and self.max_epsilon is not None
        return Fraction(0) if pure else self.max_delta

    def _distribution(self, claim: Claim | None) -> Demand:
        found = None if claim is None else ", ".join(claim.distributions)
        met = claim is not None and set(claim.distributions) <= set(self.distributions)
        return Demand(name="distribution", wanted=", ".join(self.distributions), found=found, met=met)


def _same(name: str, wanted: str, found: str | None) -> Demand:
    return Demand(name=name, wanted=wanted, found=found, met=found == wanted)


def _proved(verdict: Verdict) -> Demand:
    bare = verdict.claim is not None and verdict.claim.audience == "owner" and not verdict.data_compared
    found = verdict.outcome.value + (", without the data of the owner's figures" if bare else "")
    return Demand(name="require", wanted=PROVED, found=found, met=verdict.outcome is Outcome.HOLDS and not bare)


def exit_status(verdict: Verdict, demands: tuple[Demand, ...] = ()) -> int:
    """0 it holds, 3 it holds assuming the profile, 1 it is refused or a demand is not met."""
    if not verdict.accepted or not all(demand.met for demand in demands):
        return 1
    return 0 if verdict.outcome is Outcome.HOLDS else 3
