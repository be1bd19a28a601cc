"""Poisson sampling at a rate that is a step function of a norm."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.norms import Norm
from ..accounting.provenance import Declared, Public
from ..accounting.relations import ADD_REMOVE, ZERO_OUT
from ..accounting.units import Probability
from ..plugins.contract import CONTRACT_VERSION, About, flag, named, norm_order
from ..plugins.contract import NormStrata as Strata
from ..plugins.contract.parameters import require_public
from .listings import Listing, listing
from .poisson import Poisson


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class NormStrata:
    """Every record is drawn independently, with a probability that depends on which bounds its norm lies between.

    Args:
        bounds: b_1 < b_2 < …, above 0.
        rates: q_1, q_2, …, one more than bounds: q_i where b_(i − 1) < ‖x‖ ≤ b_i, the last one beyond all bounds.
        norm: which norm: a number ≥ 1, or inf; by default 2. A public domain is stated in the same one.
        weighted: whether drawn records enter with weight 1/rate; by default they enter with weight 1.

    Guarantees:
        A norm is rounded up before it is compared, so that a record within a rounding of a bound may count as above
        it. A `StratifiedRun` accounts for each stratum as a ball of its own and states the worst. Nothing is stated of
        replaced records, whose norms, and so whose strata, may differ.

    Raises:
        InvalidValue: for bounds that do not rise, for rates outside [0, 1] or of another number, and for released ones.
    """

    about: ClassVar[About] = About(
        name="norm-strata",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Proposition 3, for each stratum; docs/soundness_strata.md",
        relations=(ADD_REMOVE, ZERO_OUT),
    )

    bounds: Declared[Listing] = field(converter=listing, metadata={"help": "b_1,b_2,… rising, above 0"})
    rates: Declared[Listing] = field(converter=listing, metadata={"help": "q_1,q_2,… one more than bounds"})
    norm: Declared[Norm] = field(
        default=Public(Norm.L2), converter=norm_order, metadata={"help": "which norm: a number ≥ 1, or inf"}
    )
    weighted: Declared[bool] = field(
        default=Public(False), converter=flag, metadata={"help": "whether drawn records get weight 1/rate"}
    )

    def __attrs_post_init__(self) -> None:
        require_public(bounds=self.bounds, rates=self.rates, norm=self.norm, weighted=self.weighted)
        _ = self.strata

    @property
    def strata(self) -> Strata:
        """The strata, named by what their records' norms lie between."""
        bounds, rates = self.bounds.value.numbers, self.rates.value.numbers
        if len(rates) != len(bounds) + 1:
            raise InvalidValue("rates", self.rates.value, f"{len(bounds) + 1} rates, one more than bounds")
        steps = list(pairwise([0, *bounds, None]))
        names = [f"above {low}" if high is None else f"{low} to {high}" for low, high in steps]
        drawn = [Poisson(rate=Public(Probability.of(rate).value), weighted=self.weighted) for rate in rates]
        return Strata(
            samplers=dict(zip(names, drawn, strict=True)),
            norm=self.norm.value,
            bounds=dict(zip(names, [*bounds, None], strict=True)),
        )
