"""What certificates of composed releases claim, each kind in its notion, and how that is held against a run's factors.

Groups. What is claimed of groups of at most k records follows from what is proven of one: (eps, delta) gives
(k·eps, delta·(e^(k·eps) - 1)/(e^eps - 1)); rho gives k²·rho (Bun, Steinke 2016, Proposition 1.9); mu gives k·mu (Dong,
Roth, Su 2022, Theorem 2.14); tau at an order 2^c·a gives 3^c·tau at a >= 2 for k <= 2^c (Mironov 2017, Proposition 2).

Rates. Let a test tell a data set from its neighbour, with true positives t and false positives f. By (eps, delta),
t <= e^eps·f + delta and 1 - f <= e^eps·(1 - t) + delta (Dong, Roth, Su 2022, Proposition 2.12). Added up they give the
membership advantage t - f <= 1 - 2·(1 - delta)/(1 + e^eps), which is delta at eps = 0. Whoever holds the neighbour for
true with probability p, m being the smaller of p and 1 - p, errs with m·fn + (1 - m)·fp or the same with both
exchanged: at least (1 - delta) times the smaller of m and 1/(1 + e^eps), the least of such a sum at the corners of what
both admit. The pure cost c of released constants adds to eps: each eps is at least c, and delta that of the run at
eps - c.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Final

from .. import shapes
from ..budget import Budget
from ..intervals import NOTHING, ONE, Arithmetic, Interval, Mpf, at_most, magnitude, upper_end
from ..statement import exactly, in_decimals
from ..verdict import NotProven, Refused
from .factors import PURE, Factor
from .methods import Method
from .moments import LARGEST_ORDER, Moments
from .notions import concentration, gaussian_square, price_of_square
from .selection import PROOFS

_ARITHMETIC: Final = Arithmetic(192)
_UNIT: Final = Interval(ONE, ONE)
_LARGEST_GROUP: Final = 2**20
_MOST_RATES: Final = 8
_LAW: Final = 400_000
_PURE_MOST: Final = Fraction(2**20)
_LONGEST: Final = 4096


class Composed(ABC):
    """A claim about composed releases, read from a certificate; each kind has one class.

    `theorem` is the one that its certificate names, `assumed` what has to be stated beside the rest.
    """

    kind: ClassVar[str]
    notion: ClassVar[str]
    fields: ClassVar[Mapping[str, shapes.Shape]]
    group: int = 1
    theorem: str
    assumed: Mapping[str, str]

    @abstractmethod
    def __init__(self, claim: Mapping[str, Any], method: Any, cost: Fraction, budget: Budget) -> None:
        """Read the claim and its methods, or refuse them; `cost` is the pure one of released constants."""

    @abstractmethod
    def prove(self, factors: Sequence[Factor], direction: str) -> None:
        """Prove it of the records that these factors dominate, or refuse."""

    @property
    @abstractmethod
    def words(self) -> str:
        """Say it in words."""

    @property
    @abstractmethod
    def parameters(self) -> tuple[tuple[str, Fraction], ...]:
        """The numbers claimed, by name."""

    @property
    def method(self) -> str:
        """Say how it is proven."""
        return self.theorem

    def _take_group(self, claim: Mapping[str, Any], theorem: str) -> None:
        """Read of how many records it speaks."""
        self.theorem, self.assumed = theorem, {}
        if "group" in claim:
            self.group = claim["group"]
            self.theorem, self.assumed = f"{theorem} and group privacy", {"group size": str(self.group)}


def _method(stated: Any, budget: Budget) -> Method:
    """Read a method that proves (epsilon, delta)."""
    if type(stated) is not dict or type(stated.get("name")) is not str or stated["name"] not in PROOFS:
        raise Refused(f"the method must be one of {', '.join(PROOFS)}")
    return PROOFS[stated["name"]](stated, budget)


def _as_rational(number: Mpf) -> Fraction | None:
    """Give what was proven, or a little more where it is tiny; None where it is too large to say anything."""
    size = magnitude(number)  # of neither end a rational number may be made: it can have any number of digits
    if size > _LONGEST:
        return None
    return Fraction(1, 2**_LONGEST) if size < -_LONGEST else upper_end(Interval(number, number))


def _one(method: Any) -> None:
    """Accept no parameters: the notion is its own method."""
    if method is not None:
        raise Refused("the method must be null: the losses of this notion add up")


class Approximate(Composed):
    """A claim of (epsilon, delta)."""

    kind = "composed-approximate"
    notion = "approximate"
    fields: ClassVar = {"epsilon": shapes.not_negative, "delta": shapes.not_negative}

    def __init__(self, claim: Mapping[str, Any], method: Any, cost: Fraction, budget: Budget) -> None:
        """Read it; the cost of constants is part of epsilon."""
        self._method, self._budget = _method(method, budget), budget
        self._take_group(claim, self._method.theorem)
        self.assumed = {**self.assumed, **self._method.assumed}
        self._claimed = Fraction(claim["epsilon"]), Fraction(claim["delta"])
        epsilon, delta = self._claimed[0] / self.group, _ARITHMETIC.rational(self._claimed[1])
        self._epsilon = epsilon - cost
        if self._claimed[1] > 1:
            raise Refused("claim.delta is no probability")
        if self._epsilon < 0:
            raise Refused("epsilon is below the cost of the released constants")
        if self.group > 1:
            delta = _ARITHMETIC.divide(delta, _times(epsilon, self.group))
        self._delta = delta.lo

    def prove(self, factors: Sequence[Factor], direction: str) -> None:
        """Prove it by the method named."""
        found = self._method.bound(factors, self._epsilon, direction)
        if not at_most(found, self._delta):
            told = _as_rational(found) if at_most(found, ONE) else Fraction(1)
            raise NotProven(f"(epsilon, delta) was not proven by {self._method.name} ({direction})", told)

    @property
    def words(self) -> str:
        """Give the pair."""
        return f"({', '.join(map(in_decimals, self._claimed))})-differential privacy"

    @property
    def parameters(self) -> tuple[tuple[str, Fraction], ...]:
        """Epsilon and delta."""
        epsilon, delta = self._claimed
        return ("epsilon", epsilon), ("delta", delta)

    @property
    def method(self) -> str:
        """Name the method."""
        return str(self._method)


def _times(epsilon: Fraction, group: int) -> Interval:
    """Enclose 1 + e^eps + … + e^((k-1)·eps)."""
    if not epsilon:
        return _ARITHMETIC.rational(Fraction(group))
    whole, step = (_ARITHMETIC.expm1(_ARITHMETIC.rational(epsilon * times)) for times in (group, 1))
    return _ARITHMETIC.divide(whole, step)


class _Summed(Composed):
    """A notion whose losses add up; the cost of constants is one more loss, that of randomised response."""

    law: ClassVar[str]
    """By what they add up."""
    _most: Mpf
    """To how much they may add up for one record."""

    def __init__(self, claim: Mapping[str, Any], method: Any, cost: Fraction, budget: Budget) -> None:
        """Read it."""
        _one(method)
        self._budget = budget
        self._take_group(claim, self.law)
        self._paid = [Factor(PURE, cost, Fraction(1), together=1, samples=1)] if cost else []
        self._read(claim)

    @abstractmethod
    def _read(self, claim: Mapping[str, Any]) -> None:
        """Read its numbers, and what they ask of one record."""

    @abstractmethod
    def _sum(self, factors: Sequence[Factor], direction: str) -> Interval:
        """Enclose what the losses of these factors add up to."""

    @abstractmethod
    def _number(self, total: Interval) -> Interval:
        """Enclose the number of this notion that is claimed of one record where losses add up to so much."""

    def prove(self, factors: Sequence[Factor], direction: str) -> None:
        """Prove it of the factors and the cost."""
        total = self._sum([*factors, *self._paid], direction)
        if not at_most(total.hi, self._most):
            reason = f"{self.parameters[-1][0]} was not proven ({direction})"
            raise NotProven(reason, _as_rational(self._number(total).hi))


class Renyi(_Summed):
    """A Rényi divergence tau of an order."""

    kind = "composed-renyi"
    notion = "renyi"
    fields: ClassVar = {"order": shapes.positive, "tau": shapes.not_negative}
    law = "Mironov 2017, Proposition 1"

    def _read(self, claim: Mapping[str, Any]) -> None:
        self._claimed = Fraction(claim["order"]), Fraction(claim["tau"])
        doublings = (self.group - 1).bit_length()
        order, tau = self._claimed[0] * 2**doublings, self._claimed[1] / 3**doublings
        if not 1 < order <= LARGEST_ORDER or (doublings and self._claimed[0] < 2):
            raise Refused(f"claim.order must be above 1 and at most {LARGEST_ORDER}, and at least 2 for groups")
        self._order, self._moments = order, Moments(_ARITHMETIC, self._budget)
        self._most = _ARITHMETIC.rational((order - 1) * tau).lo

    def _sum(self, factors: Sequence[Factor], direction: str) -> Interval:
        return self._moments.total(factors, self._order, direction)

    def _number(self, total: Interval) -> Interval:
        return _ARITHMETIC.divide(total, _ARITHMETIC.rational(self._order - 1))

    @property
    def words(self) -> str:
        """Give order and tau."""
        order, tau = self._claimed
        return f"({exactly(order)}, {in_decimals(tau)})-Renyi differential privacy"

    @property
    def parameters(self) -> tuple[tuple[str, Fraction], ...]:
        """Order and tau."""
        order, tau = self._claimed
        return ("order", order), ("tau", tau)


class ZeroConcentrated(_Summed):
    """rho, with tau(a) <= rho·a at every order."""

    kind = "composed-zero-concentrated"
    notion = "zero-concentrated"
    fields: ClassVar = {"rho": shapes.not_negative}
    law = "Bun, Steinke 2016, Lemma 2.3"

    def _read(self, claim: Mapping[str, Any]) -> None:
        self._rho = Fraction(claim["rho"])
        self._most = _ARITHMETIC.rational(self._rho / self.group**2).lo

    def _sum(self, factors: Sequence[Factor], direction: str) -> Interval:
        total = NOTHING
        for factor in factors:
            self._budget.spend(_LAW)
            total = _ARITHMETIC.add(total, concentration(factor, _ARITHMETIC))
        return total

    def _number(self, total: Interval) -> Interval:
        return total

    @property
    def words(self) -> str:
        """Give rho by its name."""
        return f"{in_decimals(self._rho)}-zero-concentrated differential privacy"

    @property
    def parameters(self) -> tuple[tuple[str, Fraction], ...]:
        """Give rho by its name."""
        return (("rho", self._rho),)


class Gaussian(_Summed):
    """mu: no test does better than one between N(mu, 1) and N(0, 1)."""

    kind = "composed-gaussian"
    notion = "Gaussian"
    fields: ClassVar = {"mu": shapes.not_negative}
    law = "Dong, Roth, Su 2022, Corollary 3.3"

    def _read(self, claim: Mapping[str, Any]) -> None:
        self._mu = Fraction(claim["mu"])
        self._most = _ARITHMETIC.rational((self._mu / self.group) ** 2).lo

    def _sum(self, factors: Sequence[Factor], direction: str) -> Interval:
        total = NOTHING
        for factor in factors:
            self._budget.spend(_LAW + price_of_square(factor))
            total = _ARITHMETIC.add(total, gaussian_square(factor, _ARITHMETIC))
        return total

    def _number(self, total: Interval) -> Interval:
        return _ARITHMETIC.sqrt(total)

    @property
    def words(self) -> str:
        """Give mu by its name."""
        return f"{in_decimals(self._mu)}-Gaussian differential privacy"

    @property
    def parameters(self) -> tuple[tuple[str, Fraction], ...]:
        """Give mu by its name."""
        return (("mu", self._mu),)


_ADVANTAGE: Final = "membership-advantage"
_TRUE_POSITIVES: Final = "true-positive-rate"
_BAYES_RISK: Final = "bayes-risk"
_RATE: Final = shapes.record(
    rate=shapes.one_of(_ADVANTAGE, _TRUE_POSITIVES, _BAYES_RISK),
    at=shapes.optional(shapes.not_negative),
    bound=shapes.not_negative,
    epsilon=shapes.not_negative,
    delta=shapes.not_negative,
)


class Risk(Composed):
    """Rates of attackers, each of which follows from an (epsilon, delta) that has a method of its own."""

    kind = "composed-risk"
    notion = "trade-off"
    fields: ClassVar = {"rates": shapes.sequence(_RATE)}

    def __init__(self, claim: Mapping[str, Any], method: Any, cost: Fraction, budget: Budget) -> None:
        """Read the rates, and prove that they follow."""
        rates = claim["rates"]
        if type(method) is not list or not 1 <= len(rates) == len(method) <= _MOST_RATES:
            raise Refused(f"there must be from 1 to {_MOST_RATES} rates, and a method for each")
        self._methods, self._budget = [_method(one, budget) for one in method], budget
        if any(one.assumed for one in self._methods):
            raise Refused("rates are of runs that are fixed beforehand, and told whole")
        if any(Fraction(rate["epsilon"]) < cost for rate in rates):
            raise Refused("the epsilon of a rate is below the cost of the released constants")
        theorems = dict.fromkeys(one.theorem for one in self._methods)
        self.theorem = "; ".join(["Dong, Roth, Su 2022, Proposition 2.12", *theorems])
        self.assumed = {}
        self._rates, self._cost = rates, cost
        for rate in rates:
            budget.spend(_LAW)
            _prove_rate(rate)

    def prove(self, factors: Sequence[Factor], direction: str) -> None:
        """Prove each (epsilon, delta) by its method."""
        for rate, method in zip(self._rates, self._methods, strict=True):
            found = method.bound(factors, Fraction(rate["epsilon"]) - self._cost, direction)
            if not at_most(found, _ARITHMETIC.rational(Fraction(rate["delta"])).lo):
                raise NotProven(f"a {rate['rate']} was not proven by {method.name} ({direction})", _as_rational(found))

    @property
    def words(self) -> str:
        """Give the rates."""
        return ", ".join(self._words())

    def _words(self) -> Iterator[str]:
        for rate in self._rates:
            bound = in_decimals(Fraction(rate["bound"]), up=rate["rate"] != _BAYES_RISK)
            at = "" if rate["at"] is None else f" at {_AT[rate['rate']]} {exactly(Fraction(rate['at']))}"
            yield f"{rate['rate']} at {'least' if rate['rate'] == _BAYES_RISK else 'most'} {bound}{at}"

    @property
    def parameters(self) -> tuple[tuple[str, Fraction], ...]:
        """Give the bounds by name."""
        return tuple((rate["rate"], Fraction(rate["bound"])) for rate in self._rates)

    @property
    def method(self) -> str:
        """Name the methods."""
        return " and ".join(dict.fromkeys(map(str, self._methods)))


_AT: Final = {_TRUE_POSITIVES: "false-positive rate", _BAYES_RISK: "prior"}


def _prove_rate(stated: Mapping[str, Any]) -> None:
    """Prove that a rate follows from its (epsilon, delta)."""
    bound, epsilon, delta = (Fraction(stated[key]) for key in ("bound", "epsilon", "delta"))
    if bound > 1 or delta > 1:
        raise Refused("a rate and its delta are probabilities")
    if (stated["at"] is None) != (stated["rate"] == _ADVANTAGE):
        raise Refused("a membership advantage is at nothing, and the other rates are at a probability")
    if epsilon > _PURE_MOST:
        raise Refused("the epsilon of a rate is too large to say anything")
    growth = _ARITHMETIC.exp(_ARITHMETIC.rational(epsilon))
    corner = _ARITHMETIC.divide(_ARITHMETIC.rational(1 - delta), _ARITHMETIC.add(_UNIT, growth))
    if stated["rate"] == _ADVANTAGE:
        most = _ARITHMETIC.subtract(_UNIT, _ARITHMETIC.add(corner, corner))
        follows = at_most(most.hi, _ARITHMETIC.rational(bound).lo) or (not epsilon and delta <= bound)
    elif (at := Fraction(stated["at"])) > 1:
        raise Refused("a rate is at a probability")
    elif stated["rate"] == _TRUE_POSITIVES:
        spread = _ARITHMETIC.add(_ARITHMETIC.multiply(growth, _ARITHMETIC.rational(at)), _ARITHMETIC.rational(delta))
        kept = _ARITHMETIC.divide(_ARITHMETIC.rational(1 - delta - at), growth)
        most = _ARITHMETIC.minimum(spread, _ARITHMETIC.subtract(_UNIT, kept))
        follows = bound == 1 or at_most(most.hi, _ARITHMETIC.rational(bound).lo)
    else:
        less = min(at, 1 - at)
        likely = at_most(_ARITHMETIC.multiply(growth, _ARITHMETIC.rational(less)).hi, _ARITHMETIC.rational(1 - less).lo)
        likely = likely or at_most(_ARITHMETIC.rational(bound).hi, corner.lo)
        follows = likely and bound <= less * (1 - delta)
    if not follows:
        raise Refused(f"a {stated['rate']} does not follow from its (epsilon, delta)")


CLAIMS: Final[dict[str, type[Composed]]] = {
    claim.kind: claim for claim in (Approximate, Renyi, ZeroConcentrated, Gaussian, Risk)
}
"""By kind."""
GROUPS: Final = shapes.integer(2, _LARGEST_GROUP)
