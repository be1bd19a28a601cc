"""What a run of releases is composed of, at the worst of the records that one cell of each part's cover holds."""

from fractions import Fraction
from typing import Final, NamedTuple

from ..verdict import Refused

GAUSSIAN: Final = "gaussian"
LAPLACE: Final = "laplace"
PURE: Final = "pure"
ZERO_CONCENTRATED: Final = "zero-concentrated"
DISCRETE_GAUSSIAN: Final = "discrete-gaussian"
RENYI: Final = "renyi"
MIXTURE: Final = "mixture"
EXCHANGED: Final = "exchanged"
FAMILIES: Final = (GAUSSIAN, LAPLACE, PURE, ZERO_CONCENTRATED)
"""N(s, 1) and N(0, 1); Laplace(s, 1) and Laplace(0, 1); randomised response with epsilon; tau(a) <= rho*a.

Beside them, on a lattice, discrete Gaussian noise about vectors as long as s standard deviations, and about 0; and any
pair whose Renyi divergences are bounded at some orders. But for the fourth and this one all are symmetric: an
involution of the outputs swaps the laws with and without the record.
No certificate states the families `mixture` and `exchanged`, which follow from a change of the data (`changes`): normal
noise about a sum of several records, and a pure loss of a record that another one replaces.
"""
SYMMETRIC: Final = (GAUSSIAN, LAPLACE, PURE, DISCRETE_GAUSSIAN)

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


class Change(NamedTuple):
    """How many records change at once, and whether others take their place; they are added or removed otherwise."""

    records: int = 1
    replaced: bool = False

    @property
    def reach(self) -> int:
        """How many times as far as one record they move an output."""
        return 2 * self.records if self.replaced else self.records


class Factor(NamedTuple):
    """Releases of one kind: `together` on each of `samples` fresh samples, each holding the record with this rate.

    The parameter of a curve is the largest of its bounds, which are in the order of their orders.
    What other families lose about a change is that of one record; `change` is that of a mixture.
    """

    family: str
    parameter: Fraction
    rate: Fraction
    together: int
    samples: int
    lattice: Lattice | None = None
    curve: tuple[Bound, ...] = ()
    change: Change = Change()

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
