"""Randomised response over a fixed set of categories."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.exact import Number
from ..accounting.expressions import Constant, log1p
from ..accounting.pairs.response_of_many import ResponseOfMany
from ..accounting.provenance import Declared, declared_number
from ..accounting.relations import REPLACE
from ..accounting.sampling.losses import Attained, FamilyLoss, PureLoss
from ..plugins.contract import (
    CONTRACT_VERSION,
    About,
    Coins,
    Neighbours,
    Real,
    Release,
    WeightedSample,
    Worst,
    named,
    worst_at,
)
from ..plugins.contract.optional import NOT_GIVEN, Choice, positive_if_given, require_one

_MOST_CATEGORIES = 2**53
_LARGEST_EPSILON = 512
_PRECISION = 160


def _categories(value: Declared[Number]) -> Real:
    return declared_number(
        value,
        lambda number: number.denominator == 1 and 2 <= number <= _MOST_CATEGORIES,
        "a whole number from 2 to 2^53",
        parameter="categories",
    )


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class RandomisedResponse:
    """Each record's category, or with probability γ one chosen uniformly from all k.

    The data are one column of category codes 0, …, k − 1. A record keeps its category with probability 1 − γ + γ/k,
    and each other one is released with probability γ/k.

    Args:
        categories: k, a whole number ≥ 2.
        noise: γ, in (0, 1].
        epsilon: instead of γ, the pure ε to stay within, in (0, 512]: γ is then the exact k/(e^ε + k − 1) or a
            rational number above it by less than 2^-59, relatively, so that the loss is below ε.

    Guarantees:
        Replacing one record's category changes no output's probability by more than the factor (1 − γ + γ/k)/(γ/k),
        whose logarithm is the pure loss; every record counts with weight 1. Draws are exact for rational γ.

    Raises:
        InvalidValue: unless exactly one of noise and epsilon is given.
    """

    about: ClassVar[About] = About(
        name="randomised-response",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Warner 1965; Kairouz, Oh, Viswanath 2016, k-ary randomised response",
        relations=(REPLACE,),
    )

    categories: Real = field(converter=_categories, metadata={"help": "number of categories, at least 2"})
    noise: Choice = field(
        default=NOT_GIVEN,
        converter=positive_if_given,
        metadata={"help": "probability of a uniform answer, in (0, 1]; or else epsilon"} | worst_at(Worst.LOWEST),
    )
    epsilon: Choice = field(
        default=NOT_GIVEN,
        converter=positive_if_given,
        metadata={"help": "pure loss to stay within, in (0, 512]"} | worst_at(Worst.HIGHEST),
    )

    def __attrs_post_init__(self) -> None:
        require_one(noise=self.noise, epsilon=self.epsilon)
        for name, given, largest in (("noise", self.noise, 1), ("epsilon", self.epsilon, _LARGEST_EPSILON)):
            if given.value is not None and given.value > largest:
                raise InvalidValue(name, str(given.value), f"a number in (0, {largest}]")

    @property
    def uniform_probability(self) -> Fraction:
        """γ, the probability of an answer that says nothing."""
        if self.noise.value is not None:
            return self.noise.value
        assert self.epsilon.value is not None
        others = self.categories.value - 1
        exact = (others + 1) / (Enclosure.of(self.epsilon.value, precision=_PRECISION).exp() + others)
        return min(Fraction(1), exact.upper * (1 + Fraction(1, 2**60)))

    @property
    def loss(self) -> FamilyLoss:
        """The laws of an answer about two categories: that one, the other one, any of the rest.

        Its pure part is log((1 − γ + γ/k)/(γ/k)) = log(1 + k(1 − γ)/γ), for every record.
        """
        uniform = self.uniform_probability
        above_one = self.categories.value * (1 - uniform) / uniform
        epsilon, clones = log1p(Constant(above_one)), Enclosure.of(2 / (2 + above_one))
        pair = ResponseOfMany(int(self.categories.value), uniform)
        return FamilyLoss(epsilon, pair, PureLoss(epsilon), Attained.BY_ALL, clones)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """Release one category code per record.

        Raises:
            InvalidValue: for weights other than 1, more or less than one column, and what is no category code.
        """
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent answers for all records: a matrix with one row per release; raises as `release`."""
        codes, categories = self._codes(sample), int(self.categories.value)
        shape = count, len(codes)
        answers = np.asarray(coins.integers(categories, count * len(codes)), dtype=np.float64).reshape(shape)
        return np.where(coins.exactly(self.uniform_probability, count * len(codes)).reshape(shape), answers, codes)

    def require(self, sample: WeightedSample) -> None:
        """Refuse the samples that `release` would refuse."""
        self._codes(sample)

    def _codes(self, sample: WeightedSample) -> Release:
        if not np.all(sample.weights == 1):
            raise InvalidValue(
                "weights", "a weight above 1", "weights 1: an answer counts once", "Use a sampler without weights"
            )
        if sample.records.shape[1] != 1:
            raise InvalidValue("records", f"{sample.records.shape[1]} columns", "one column of category codes")
        codes, categories = sample.records[:, 0], int(self.categories.value)
        if not np.all((codes >= 0) & (codes < categories) & (np.floor(codes) == codes)):
            admissible = f"whole numbers from 0 to {categories - 1}"
            raise InvalidValue("records", "a value that is no category code", admissible)
        return codes

    @property
    def neighbours(self) -> Neighbours:
        """Return neighbouring data sets for an audit: one record, of category 0 and of category 1."""
        return Neighbours([[0.0]], [[1.0]], "the category of a record, 0 and 1")
