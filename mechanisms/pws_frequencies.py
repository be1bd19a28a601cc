"""The sanitiser of sampled keys and their frequencies (PWS Algorithms 2, 4 and 5)."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.exact import Number
from ..accounting.keyed.reporting import EveryKey, FrequencyNoise, FrequencyTable, Inclusion, Reporting
from ..accounting.provenance import Declared, Public, declared_number
from ..accounting.relations import ELEMENT
from ..accounting.units import Delta, Epsilon
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, non_negative, probability
from ..plugins.contract.optional import NOT_GIVEN, Choice, whole_if_given

_FINEST = 64


def _subdivision(value: Declared[Number]) -> Real:
    return declared_number(
        value,
        lambda number: number.denominator == 1 and 0 <= number <= _FINEST,
        "a whole number from 0 to 64",
        parameter="subdivision",
    )


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class PwsFrequencies:
    """Reports sampled keys with a token each, whose law separates frequencies as far as (ε, δ) for one element admits.

    Args:
        epsilon: ε ≥ 0.
        delta: δ in (0, 1]; at 0 no key could ever be reported.
        subdivision: r from 0 to 64; a frequency brings 2^r tokens. By default 32. 0 is PWS Algorithm 4, more is
            Algorithm 5 with its breakpoints rounded to 2^−r.
        largest: a public largest frequency M, or None: a key that occurs more often counts as M, which never takes
            neighbouring frequencies apart.

    Guarantees:
        The probabilities drawn are whole units and satisfy (ε, δ) exactly between every two neighbouring frequencies.
    """

    about: ClassVar[About] = About(
        name="pws-frequencies",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="PWS Algorithms 2, 4 and 5, Theorem 5.1",
        unit=ELEMENT,
    )

    epsilon: Real = field(converter=non_negative, metadata={"help": "ε ≥ 0 for one element"})
    delta: Real = field(converter=probability, metadata={"help": "δ in (0, 1] for one element"})
    subdivision: Real = field(
        default=Public(Fraction(32)), converter=_subdivision, metadata={"help": "r: 2^r tokens for each frequency"}
    )
    largest: Choice = field(
        default=NOT_GIVEN,
        converter=whole_if_given,
        metadata={"help": "public largest frequency M: keys that occur more often count as M"},
    )

    def reporting(self, inclusion: Inclusion) -> Reporting:
        """With how many units a key of each frequency is reported with each token.

        Raises:
            InvalidValue: at δ = 0, and for a largest frequency beyond the last that has a rate.
        """
        epsilon, delta, pieces = Epsilon(self.epsilon.value), Delta(self.delta.value), int(self.subdivision.value)
        largest = None if self.largest.value is None else int(self.largest.value)
        match inclusion:
            case EveryKey():
                return FrequencyNoise(epsilon=epsilon, delta=delta, subdivision=pieces, largest=largest)
        return FrequencyTable(epsilon=epsilon, delta=delta, inclusion=inclusion, subdivision=pieces, largest=largest)
