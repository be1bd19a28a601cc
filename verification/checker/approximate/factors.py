"""What a run of releases is composed of, at the worst of the records that one cell of each part's cover holds."""

from fractions import Fraction
from typing import Final, NamedTuple

from ..verdict import Refused

GAUSSIAN: Final = "gaussian"
LAPLACE: Final = "laplace"
PURE: Final = "pure"
BOUNDED_RANGE: Final = "bounded-range"
ZERO_CONCENTRATED: Final = "zero-concentrated"
DISCRETE_GAUSSIAN: Final = "discrete-gaussian"
RENYI: Final = "renyi"
DISCRETE_LAPLACE: Final = "discrete-laplace"
RESPONSE_OF_MANY: Final = "response-of-many"
MIXTURE: Final = "mixture"
EXCHANGED: Final = "exchanged"
SYMMETRISED: Final = "symmetrised"
TRUNCATED: Final = "truncated"
TWO_RECORDS: Final = "two-records"
ALLOCATED: Final = "allocated"
SHUFFLED: Final = "shuffled"
FAMILIES: Final = (GAUSSIAN, LAPLACE, PURE, BOUNDED_RANGE, ZERO_CONCENTRATED)
"""N(s, 1) and N(0, 1); Laplace(s, 1) and Laplace(0, 1); randomised response with epsilon; all pairs of which log P/Q
lies in some interval of length epsilon (`finite`); tau(a) <= rho*a.

Beside them, on a lattice, discrete Gaussian noise about vectors as long as s standard deviations, and about 0; discrete
Laplace noise some steps apart; randomised response over many categories, about two of these; and any pair whose Renyi
divergences are bounded at some orders. But for the last two of these and this one all are
symmetric: an involution of the outputs swaps the laws with and without the record.
No certificate states the families from `mixture` on, which follow from a change of the data (`changes`): normal noise
about a sum of several records, and a pure loss of a record that another one replaces; and from how batches are drawn
(`batches`): one place of a batch that changes hands, and Poisson samples that are cut down to a largest size; a pure
loss about two records, each of which is compared with neither; an epoch of batches, one of which a record enters; and
the answers of all records in an order that is drawn (`shuffled`).
"""
SYMMETRIC: Final = (GAUSSIAN, LAPLACE, PURE, DISCRETE_GAUSSIAN)
WITH_PURE_LOSS: Final = (LAPLACE, PURE, BOUNDED_RANGE, RESPONSE_OF_MANY, DISCRETE_LAPLACE)
"""Families of which a parameter of epsilon is a pure loss of epsilon too."""
FINITE: Final = (EXCHANGED, TWO_RECORDS, RESPONSE_OF_MANY, DISCRETE_LAPLACE)
"""Families whose laws are the sums over the outcomes of one release."""

REMOVE: Final = "remove"
ADD: Final = "add"
DIRECTIONS: Final = (REMOVE, ADD)


class Lattice(NamedTuple):
    """Where noise is discrete: its variance in squared steps, the coordinates of a release, and how far it is compared.

    The dimension is None where it is not stated. The squares of all noise are compared up to `spread` times their mean.
    """

    variance: Fraction
    dimension: int | None
    spread: Fraction


class Bound(NamedTuple):
    """A Renyi divergence of an order is at most tau."""

    order: Fraction
    tau: Fraction


class Batches(NamedTuple):
    """How batches are drawn as a whole: of a fixed size, or Poisson samples of which so many are kept at most.

    `most` is that largest size, None for a fixed one; `size` is the number of records, or where it is `bounded` no less
    than that. `kept` says that the change leaves this number as it is. `number` counts the batches of an epoch, so many
    of which a record enters as there are `participations`, and is None for others.
    """

    most: int | None = None
    size: int | None = None
    bounded: bool = False
    kept: bool = False
    number: int | None = None
    participations: int = 1

    @property
    def one_step(self) -> bool:
        """Whether it is known of one record less than that number, and not of one more that is missing."""
        return self.size is not None and not self.kept and not self.bounded


class Change(NamedTuple):
    """How many records change at once, and whether others take their place; they are added or removed otherwise.

    Where batches are drawn as a whole, it is known how.
    """

    records: int = 1
    replaced: bool = False
    batches: Batches | None = None

    @property
    def reach(self) -> int:
        """How many times as far as one record they move an output."""
        return 2 * self.records if self.replaced else self.records


class Crowd(NamedTuple):
    """How many records answer at least, and with at least which chance another one's answer is a clone."""

    users: int
    clones: Fraction


class Factor(NamedTuple):
    """Releases of one kind: `together` on each of `samples` fresh samples, each holding the record with this rate.

    The parameter of a curve is the largest of its bounds, which are in the order of their orders.
    Of responses the number of categories is stated, of discrete Laplace noise that of steps, which lose it together.
    What other families lose about a change is that of one record; `change` is that of a mixture, or of batches, where
    `base` is the family of one release. A crowd is that of answers that are shuffled.
    """

    family: str
    parameter: Fraction
    rate: Fraction
    together: int
    samples: int
    lattice: Lattice | None = None
    curve: tuple[Bound, ...] = ()
    change: Change = Change()
    base: str = ""
    categories: int = 0
    steps: int = 0
    crowd: Crowd | None = None

    @property
    def null(self) -> bool:
        """Whether nothing is lost: the record is never drawn, or does not matter."""
        return not self.parameter or not self.rate

    @property
    def sampled(self) -> bool:
        """Whether sampling changes the releases: the rate is below 1."""
        return self.rate < 1

    def tau(self, order: Fraction) -> Fraction:
        """Bound the Renyi divergence of a curve at an order by that of the next one stated, as it grows with the order.

        Raises:
            Refused: beyond the last one.
        """
        for bound in self.curve:
            if order <= bound.order:
                return bound.tau
        raise Refused(f"the loss states no Renyi divergence of an order from {order} on")
