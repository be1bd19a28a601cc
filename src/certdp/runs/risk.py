"""What the outputs of a run tell an attacker who guesses whether one record is in the data, and limits on that.

Three rates of the best attacker, who may know everything else: the membership advantage, the true-positive rate at a
false-positive rate, and the probability that a guess is wrong (Bayes risk) at a prior. Each is enclosed from both
sides. No attacker does better than the end that protects; some attacker on some two neighbouring data sets does as well
as the other end, where that one of them counts as the member with which he does better.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, final

from attrs import Attribute, field, frozen

from ..accounting.accountants import BEST, LOSS_DISTRIBUTION, Accountant
from ..accounting.accountants.trade_off import DeltaLaw, TradeOff, advantage, bayes_risk, curve_of, true_positive_rate
from ..accounting.derivation import EX_POST, Derivation, Theorem
from ..accounting.display import Displayed, rounded_down, rounded_up
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.exact import Number, exact, naming_rationals, rational, short_text
from ..accounting.guarantees import conditions, require
from ..accounting.loss_distribution.profile import ANSWER
from .calibration import Limit, nats
from .run import NotionAbsent, Run, U

FALSE_POSITIVE_RATE = Fraction(1, 100)
"""At which a risk that prints states its true-positive rate."""
PRIOR = Fraction(1, 2)
"""At which a risk that prints states its Bayes risk."""

_F_DP = Theorem("Dong, Roth, Su 2022", "Propositions 2.12 and 2.13: trade-off curve and δ(ε) determine each other")
_DIGITS = 6
_GAP, _NARROW = Fraction(1, 2**20), Fraction(1, 2**30)


def _share(_: object, attribute: Attribute[Any], value: Fraction) -> None:
    if not 0 <= value <= 1:
        raise InvalidValue(attribute.name, short_text(value), "a probability in [0, 1]")


@final
@frozen(kw_only=True, repr=False, eq=False)
class Risk(Displayed, Generic[U]):
    """What the best attacker on one record learns from all outputs of a run.

    Every method gives an enclosure, and both of its ends are proven. Where an accountant proves δ from above alone, or
    released parameters cost something, the other end is that of a blind guess.

    Attributes:
        run: fixed beforehand.
        accountant: who proves δ(ε), from which the rates follow.
    """

    run: Run[U]
    accountant: Accountant
    _delta: DeltaLaw = field(alias="delta")
    _reached: tuple[TradeOff, ...] = field(default=(), alias="reached")

    @property
    def delta_law(self) -> DeltaLaw:
        """δ(ε) of the run, from which all rates follow."""
        return self._delta

    def limits_at(
        self, false_positive_rate: Fraction = FALSE_POSITIVE_RATE, prior: Fraction = PRIOR
    ) -> tuple[RiskLimit, ...]:
        """Limits on the three rates that any run keeps, at these; by default those of the risk when it prints.

        At a false-positive rate of 1, or a prior of 0 or 1, every attacker has the same rate, and it is left out.
        """
        found: list[RiskLimit] = [AdvantageLimit(advantage=1)]
        if false_positive_rate < 1:
            found.append(TruePositiveRateLimit(true_positive_rate=1, false_positive_rate=false_positive_rate))
        if 0 < prior < 1:
            found.append(BayesRiskLimit(risk=0, prior=prior))
        return tuple(found)

    @cached_property
    def advantage(self) -> Enclosure:
        """The membership advantage: the most by which true positives exceed false ones, in [0, 1]; it is δ(0)."""
        return advantage(self._delta)

    def true_positive_rate(self, false_positive_rate: Number, *, relative_gap: Fraction = _GAP) -> Enclosure:
        """The share of members that the best test finds, where it accuses so many of those who are none.

        Either of two neighbouring data sets counts as the one with the member. The ends lie apart where no test of any
        two of them reaches the trade-off curve.

        Args:
            false_positive_rate: in [0, 1]; read exactly.
            relative_gap: how near the ends are brought, relatively, where δ is known as well.

        Raises:
            InvalidValue: for a rate outside [0, 1].
        """
        rate = exact(false_positive_rate, parameter="false_positive_rate")
        if not 0 <= rate <= 1:
            raise InvalidValue("false_positive_rate", false_positive_rate, "a probability in [0, 1]")
        return true_positive_rate(self.trade_off, self._reached, rate, relative_gap=relative_gap)

    def bayes_risk(self, prior: Number) -> Enclosure:
        """The probability that the best guess is wrong: min over α of πα + (1 − π)f(α), read off one δ.

        Args:
            prior: π, the probability of membership before the outputs are seen, in [0, 1]; read exactly. 1 − π gives
                the same: of the two neighbours, that counts as the member with which the guess is the better one.

        Raises:
            InvalidValue: for a prior outside [0, 1].
        """
        return bayes_risk(self._delta, prior)

    @cached_property
    def trade_off(self) -> TradeOff:
        """The trade-off curve that bounds the two errors of every test; it may be that none reaches it."""
        return curve_of(self._delta, ex_post=self.run.derivation.rests_on(EX_POST))

    @property
    def derivation(self) -> Derivation:
        """What the rates rest on."""
        return _F_DP.conclude([self.accountant.theorems[0].conclude([self.run.derivation])])

    @property
    def statement(self) -> str:
        """The ends that protect, at the usual rates, in a sentence."""
        return self._statement

    @cached_property
    def _statement(self) -> str:
        found = self.true_positive_rate(FALSE_POSITIVE_RATE).upper_float
        blind = rounded_down(self.bayes_risk(PRIOR).lower_float, _DIGITS)
        told = (
            f"membership advantage ≤ {rounded_up(self.advantage.upper_float, _DIGITS)}; "
            f"true-positive rate ≤ {rounded_up(found, _DIGITS)} at false-positive rate {float(FALSE_POSITIVE_RATE)}; "
            f"Bayes risk ≥ {blind} at prior {float(PRIOR)}"
        )
        return f"{told}; read ex post: no guarantee" if self.derivation.rests_on(EX_POST) else told

    def __str__(self) -> str:
        return self.statement

    def cells(self) -> Iterator[tuple[str, str]]:
        """The rates from both sides, who proves them, and for whom."""
        yield "membership advantage", _both(self.advantage)
        yield (
            f"true-positive rate at false-positive rate {float(FALSE_POSITIVE_RATE)}",
            _both(self.true_positive_rate(FALSE_POSITIVE_RATE)),
        )
        yield f"Bayes risk at prior {float(PRIOR)}", _both(self.bayes_risk(PRIOR))
        yield "accountant", str(self.accountant)
        yield from conditions(self.run.unit, self.run.relation, self.derivation)


def _both(found: Enclosure) -> str:
    return f"[{rounded_down(found.lower_float, _DIGITS)}, {rounded_up(found.upper_float, _DIGITS)}]"


@known_keywords
def risk(run: Run[U], *, accountant: Accountant | None = None) -> Risk[U]:
    """What the outputs of a run tell about whether one record is in the data.

    Args:
        run: SampledRun, KeyedRun or Plan.
        accountant: who proves δ(ε); unless given, the loss distribution where there is one, else the best of all.

    Guarantees:
        For every record of the run's public domain and every attacker, whatever else is known to him. What released
        parameters cost is contained.

    Raises:
        NotionAbsent: where no δ(ε) follows from what the run declares.
        InvalidType: for anything else than such a run.

    >>> from certdp import Full, GaussianSum, Public, SampledRun, risk
    >>> found = risk(SampledRun(mechanism=GaussianSum(noise_multiplier=Public(1)), sampler=Full()))
    >>> found.true_positive_rate("0.1").upper_float < 0.38915
    True
    """
    require("run", run, Run, "State what is released beforehand: SampledRun, KeyedRun or Plan")
    if accountant is not None:
        require("accountant", accountant, Accountant, "Ask one of certdp.accountants, or leave it out")
        return _by(run, accountant)
    try:
        return _by(run, LOSS_DISTRIBUTION)
    except NotionAbsent:
        return _by(run, BEST)


def _by(run: Run[U], accountant: Accountant) -> Risk[U]:
    along = accountant.along(ANSWER)
    found = Risk(run=run, accountant=accountant, delta=run.delta_law(along), reached=run.reached_curves(along))
    _ = found.advantage  # who proves nothing is known now
    return found


class RiskLimit(Limit[Risk[Any]]):
    """A limit on one rate; base class."""

    def cost_of(self, run: Any) -> Risk[Any]:
        """What a run tells."""
        return risk(run)

    @abstractmethod
    def __str__(self) -> str: ...


@final
@known_keywords
@frozen(kw_only=True, field_transformer=naming_rationals)
class AdvantageLimit(RiskLimit):
    """The membership advantage is at most so much.

    Attributes:
        advantage: in (0, 1].

    Raises:
        InvalidValue: outside this range.
    """

    advantage: Fraction = field(converter=rational, validator=_share)

    def __attrs_post_init__(self) -> None:
        if not self.advantage:
            raise InvalidValue("advantage", 0, "an advantage above 0", "0 is that of a run that releases nothing")

    def excess(self, answer: Risk[Any]) -> float:
        """By how many nats it is exceeded."""
        return nats(answer.advantage.upper, self.advantage)

    def refuted(self, answer: Risk[Any]) -> bool:
        """Whether it is proven to be exceeded."""
        return answer.advantage.lower > self.advantage

    def times(self, proven: Mapping[str, Fraction]) -> Fraction:
        """Return how many times the limit is what a certificate proves."""
        return proven["membership-advantage"] / self.advantage

    def tightened(self, times: Fraction) -> AdvantageLimit:
        """Return the limit on so many times less."""
        return AdvantageLimit(advantage=self.advantage / times)

    def __str__(self) -> str:
        return f"membership advantage ≤ {short_text(self.advantage)}"


@final
@known_keywords
@frozen(kw_only=True, field_transformer=naming_rationals)
class TruePositiveRateLimit(RiskLimit):
    """The true-positive rate of every test is at most so much where its false-positive rate is that.

    Attributes:
        true_positive_rate: above the false-positive rate, at most 1.
        false_positive_rate: in [0, 1).

    Raises:
        InvalidValue: outside these ranges.
    """

    true_positive_rate: Fraction = field(converter=rational, validator=_share)
    false_positive_rate: Fraction = field(converter=rational, validator=_share)

    def __attrs_post_init__(self) -> None:
        if self.true_positive_rate <= self.false_positive_rate:
            raise InvalidValue(
                "true_positive_rate",
                short_text(self.true_positive_rate),
                f"a rate above the false-positive rate, {short_text(self.false_positive_rate)}",
                "Equal rates are those of a blind guess",
            )

    def excess(self, answer: Risk[Any]) -> float:
        """By how many nats it is exceeded."""
        return nats(self._of(answer).upper, self.true_positive_rate)

    def refuted(self, answer: Risk[Any]) -> bool:
        """Whether it is proven to be exceeded."""
        return self._of(answer).lower > self.true_positive_rate

    def times(self, proven: Mapping[str, Fraction]) -> Fraction:
        """Return how many times the limit is what a certificate proves."""
        return proven["true-positive-rate"] / self.true_positive_rate

    def tightened(self, times: Fraction) -> TruePositiveRateLimit:
        """Return the limit on so many times less, at the same false-positive rate."""
        rate = self.true_positive_rate / times
        return TruePositiveRateLimit(true_positive_rate=rate, false_positive_rate=self.false_positive_rate)

    def _of(self, answer: Risk[Any]) -> Enclosure:
        return answer.true_positive_rate(self.false_positive_rate, relative_gap=_NARROW)

    def __str__(self) -> str:
        at = f"false-positive rate {short_text(self.false_positive_rate)}"
        return f"true-positive rate ≤ {short_text(self.true_positive_rate)} at {at}"


@final
@known_keywords
@frozen(kw_only=True, field_transformer=naming_rationals)
class BayesRiskLimit(RiskLimit):
    """Every guess is wrong with at least so much probability.

    Attributes:
        risk: in [0, min(prior, 1 − prior)), which a blind guess has.
        prior: the probability of membership before anything is released, in (0, 1).

    Raises:
        InvalidValue: outside these ranges.
    """

    risk: Fraction = field(converter=rational, validator=_share)
    prior: Fraction = field(converter=rational, validator=_share)

    def __attrs_post_init__(self) -> None:
        blind = min(self.prior, 1 - self.prior)
        if not self.risk < blind:
            admissible = f"a probability below that of a blind guess, {short_text(blind)}"
            raise InvalidValue("risk", short_text(self.risk), admissible, "Ask for less, or state another prior")

    def excess(self, answer: Risk[Any]) -> float:
        """By how many nats it is missed: of what a guess is right beyond a blind one, which is what grows with loss."""
        return nats(*self._gains(answer.bayes_risk(self.prior).lower))

    def refuted(self, answer: Risk[Any]) -> bool:
        """Whether it is proven to be missed."""
        return answer.bayes_risk(self.prior).upper < self.risk

    def times(self, proven: Mapping[str, Fraction]) -> Fraction:
        """Return how many times what is gained on a blind guess at the limit is gained by a certificate."""
        gained, allowed = self._gains(proven["bayes-risk"])
        return gained / allowed

    def tightened(self, times: Fraction) -> BayesRiskLimit:
        """Return the limit with so many times less gained on a blind guess."""
        blind = min(self.prior, 1 - self.prior)
        return BayesRiskLimit(risk=blind - (blind - self.risk) / times, prior=self.prior)

    def _gains(self, proven: Fraction) -> tuple[Fraction, Fraction]:
        blind = min(self.prior, 1 - self.prior)
        return blind - proven, blind - self.risk

    def __str__(self) -> str:
        return f"Bayes risk ≥ {short_text(self.risk)} at prior {short_text(self.prior)}"
