"""The optimal sanitiser of sampled keys (PWS Algorithms 2 and 3)."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.keyed.reporting import Inclusion, KeyTable
from ..accounting.relations import ELEMENT
from ..accounting.units import Delta, Epsilon
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, non_negative, probability
from ..plugins.contract.optional import NOT_GIVEN, Choice, whole_if_given


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class PwsKeys:
    """Reports sampled keys, without their frequencies, as often as (ε, δ) for one element admits.

    Args:
        epsilon: ε ≥ 0.
        delta: δ in (0, 1]; at 0 no key could ever be reported.
        largest: a public largest frequency M, or None: a key that occurs more often counts as M, which never takes
            neighbouring frequencies apart.

    Guarantees:
        The probabilities drawn are whole units of 2^−K, K = 52 + ⌈log₂(1/δ)⌉, and satisfy (ε, δ) exactly between every
        two neighbouring frequencies.
    """

    about: ClassVar[About] = About(
        name="pws-keys",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="PWS Algorithms 2 and 3, Lemma 4.1",
        unit=ELEMENT,
    )

    epsilon: Real = field(converter=non_negative, metadata={"help": "ε ≥ 0 for one element"})
    delta: Real = field(converter=probability, metadata={"help": "δ in (0, 1] for one element"})
    largest: Choice = field(
        default=NOT_GIVEN,
        converter=whole_if_given,
        metadata={"help": "public largest frequency M: keys that occur more often count as M"},
    )

    def reporting(self, inclusion: Inclusion) -> KeyTable:
        """With how many units a key of each frequency is reported.

        Raises:
            InvalidValue: at δ = 0, and for a largest frequency beyond the last that has a rate.
        """
        largest = self.largest.value
        return KeyTable(
            epsilon=Epsilon(self.epsilon.value),
            delta=Delta(self.delta.value),
            inclusion=inclusion,
            largest=None if largest is None else int(largest),
        )
