"""Coreset sampling: half uniform, half in proportion to the squared ℓ2 norm (IS Section 4).

Legend: m is the expected size of the sample, n the number of records, x̃ the mean of ‖x‖₂² over them, λ the share of
the uniform part, r a bound of ‖x‖₂. Definition 5 of IS needs q to be independent of the data: n, x̃ and r are
declared before the data or paid for (the paper takes them from the records, erratum IS-q_core).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.exact import Number
from ..accounting.expressions import minimum, norm
from ..accounting.norms import Norm
from ..accounting.provenance import Declared, Public, declared_number
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.rate import SamplingRate
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, positive


def _share(value: Declared[Number]) -> Real:
    # at λ = 0 a record of norm 0 is never drawn and one next to it weighs without bound: ψ has no finite supremum
    return declared_number(value, lambda share: 0 < share <= 1, "a number with 0 < λ ≤ 1", parameter="mixing")


def largest_size(n: Fraction, mean_squared_norm: Fraction, radius: Fraction, mixing: Fraction) -> Fraction:
    """The largest expected size for which q ≤ 1 wherever ‖x‖₂ ≤ r: n / (λ + (1 − λ)·r²/x̃).

    The paper states n·x̃/r², which is the limit at λ = 0 (erratum IS-m-limit).
    """
    return n / (mixing + (1 - mixing) * radius**2 / mean_squared_norm)


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class Coreset:
    """Poisson importance sampling with q(x) = λ·m/n + (1 − λ)·m·‖x‖₂²/(n·x̃) and weight 1/q(x).

    The sample has expected size m, and the sampled k-means cost is unbiased, where n and x̃ are those of the data. As
    a coreset it also wants the data centred at 0 (IS Definition 14); the privacy of the sample needs neither.

    Args:
        m: expected size; above 0 and at most n/(λ + (1 − λ)·r²/x̃), so that q ≤ 1 on ‖x‖₂ ≤ r. Records beyond
            that ball are drawn with min(1, q).
        n: number of records; above 0.
        mean_squared_norm: x̃, in squared units of the data; above 0.
        radius: r, the largest ℓ2 norm of a record, in units of the data; above 0.
        mixing: λ, the share of uniform sampling, 0 < λ ≤ 1; by default 1/2. λ = 1 is uniform sampling.

    A released constant costs what its release cost. One release may give several of them, and the radius of the domain
    too: parts of one released value are charged once.

    Raises:
        InvalidValue: for a size beyond the limit, which the message names.
    """

    about: ClassVar[About] = About(
        name="coreset",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Section 4; Bachem, Lucic, Krause 2018",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    m: Real = field(converter=positive, metadata={"help": "expected size of the sample, above 0"})
    n: Real = field(converter=positive, metadata={"help": "number of records, above 0"})
    mean_squared_norm: Real = field(
        converter=positive, metadata={"help": "mean of the squared ℓ2 norms of the records, above 0"}
    )
    radius: Real = field(converter=positive, metadata={"help": "largest ℓ2 norm of a record, above 0"})
    mixing: Real = field(
        default=Public(Fraction(1, 2)),
        converter=_share,
        metadata={"help": "share λ of uniform sampling, 0 < λ ≤ 1"},
    )

    def __attrs_post_init__(self) -> None:
        limit = largest_size(self.n.value, self.mean_squared_norm.value, self.radius.value, self.mixing.value)
        if self.m.value > limit:
            raise InvalidValue(
                "m",
                str(self.m.value),
                f"at most {_below(limit)}, that is n/(λ + (1 − λ)·r²/x̃)",
                "Records of norm r would be drawn with a probability above 1: ask for a smaller sample",
            )

    @property
    def rate(self) -> SamplingRate:
        """q(x) = min(1, λ·m/n + (1 − λ)·m·‖x‖₂²/(n·x̃))."""
        share = self.m.value / self.n.value
        slope = (1 - self.mixing.value) * share / self.mean_squared_norm.value
        return SamplingRate(minimum(1, self.mixing.value * share + slope * norm(Norm.L2) ** 2), weighted=True)


def _below(limit: Fraction) -> str:
    """The limit as the nearest number of binary64 that is not above it."""
    number = float(limit)
    return repr(number if number <= limit else math.nextafter(number, 0.0))
