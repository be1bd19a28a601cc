"""How much noise, how many releases or how high a rate a privacy budget allows: always the safe end, proven.

The search goes as if the value moved the loss of a run one way: more noise is safer, a higher rate or more releases
are not. That is used to look, not to prove: the run at the value returned is itself proven to be within the budget.
It is the best value only where the loss moves so, as with Laplace and Gaussian noise, unweighted Poisson rates and
numbers of releases. With discrete Gaussian noise, or weights that fall as a rate grows, it need not: a value far off
may do as well.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Generic, Protocol, final

from attrs import field, frozen, mutable
from typing_extensions import TypeVar

from ..accounting.accountants import BEST, LOSS_DISTRIBUTION, Accountant
from ..accounting.errors import InvalidValue, OutsideDomain, known_keywords
from ..accounting.exact import Number, above_zero
from ..accounting.guarantees import require
from ..accounting.units import Delta, Epsilon
from .ex_post import refuse_reading
from .run import Answer, NotionAbsent

_MOST_QUESTIONS = 200
_UNPROVEN = 700.0  # a margin, in nats, for what no bound was found for
_LEAST_NATS = 1e-18
_LARGEST_STEPS = 2**53
_MOST_OCTAVES = 64
_HALF = 0.5


class Accountable(Protocol):
    """A run fixed beforehand that can be asked what it costs."""

    def epsilon(self, delta: Delta, *, accountant: Accountant = ...) -> Answer[Any]:
        """The smallest proven ε at δ."""
        ...

    def delta(self, epsilon: Epsilon, *, accountant: Accountant = ...) -> Answer[Any]:
        """The smallest proven δ at ε."""
        ...


class Stated(Protocol):
    """What a run is found to cost."""

    @property
    def statement(self) -> str:
        """It in words."""
        ...


R = TypeVar("R", bound=Accountable)
A = TypeVar("A", bound=Stated, default=Answer[Any])
"""What answers whether a run keeps a limit: an ε and a δ, unless another limit is stated."""


class Limit(ABC, Generic[A]):
    """What a run may cost."""

    @abstractmethod
    def cost_of(self, run: Any) -> A:
        """What a run costs.

        Raises:
            NotionAbsent: where no finite bound follows.
        """

    @abstractmethod
    def excess(self, answer: A) -> float:
        """By how many nats, about, the proven cost exceeds the limit; at most 0 exactly where it is kept."""

    @abstractmethod
    def refuted(self, answer: A) -> bool:
        """Whether the cost is proven to exceed the limit."""

    @abstractmethod
    def times(self, proven: Mapping[str, Fraction]) -> Fraction:
        """How many times the limit is what a certificate proves, by its numbers; at most 1 where it keeps the limit."""

    @abstractmethod
    def tightened(self, times: Fraction) -> Limit[A]:
        """The limit on so many times less.

        Raises:
            InvalidValue: where nothing is left to allow.
        """


def _epsilon(value: Epsilon | Number) -> Epsilon:
    return Epsilon.of(value)


def _delta(value: Delta | Number) -> Delta:
    return Delta.of(value)


@final
@known_keywords
@frozen(kw_only=True)
class Budget(Limit[Answer[Any]]):
    """What a run may cost: (ε, δ)-DP.

    Attributes:
        epsilon: ε.
        delta: δ; 0 asks for the pure loss.
    """

    epsilon: Epsilon = field(converter=_epsilon)
    delta: Delta = field(converter=_delta)

    def cost_of(self, run: Any) -> Answer[Any]:
        """What a run costs, by `spent`."""
        return spent(run, self)

    def excess(self, answer: Answer[Any]) -> float:
        """By what was not asked about: the budget's other number is the run's own."""
        bound = answer.guarantee.bound
        if self.delta.value:
            return nats(bound.delta.upper, self.delta.value)
        return nats(bound.epsilon.upper, self.epsilon.value)

    def refuted(self, answer: Answer[Any]) -> bool:
        """Whether the lower end exceeds the budget."""
        least, allowed = (answer.delta, self.delta) if self.delta.value else (answer.epsilon, self.epsilon)
        return least.lower is not None and Fraction(least.lower) > allowed.value

    def times(self, proven: Mapping[str, Fraction]) -> Fraction:
        """Return the larger share, of ε or of δ."""
        return max(_share(proven["epsilon"], self.epsilon.value), _share(proven["delta"], self.delta.value))

    def tightened(self, times: Fraction) -> Budget:
        """Return the budget with that number divided which the search compares."""
        if self.delta.value:
            return Budget(epsilon=self.epsilon, delta=Delta(self.delta.value / times))
        return Budget(epsilon=Epsilon(self.epsilon.value / times), delta=self.delta)

    def __str__(self) -> str:
        return f"({self.epsilon}, {self.delta})-DP" if self.delta.value else f"{self.epsilon}-DP"


def _share(spent: Fraction, allowed: Fraction) -> Fraction:
    return spent / allowed if allowed else Fraction(0)


@final
@frozen(kw_only=True)
class Calibration(Generic[R, A]):
    """The value found, and the nearest one that was not proven to do.

    Attributes:
        value: the safe end, exactly.
        run: the run at that value.
        answer: what it is proven to cost; within the limit.
        refused: the nearest value that was not proven to be within the budget; None at the end of the range.
        refuted: whether the run at `refused` is proven to exceed the budget.
    """

    value: Fraction
    run: R
    answer: A
    refused: Fraction | None
    refuted: bool

    @property
    def gap(self) -> float:
        """|refused − value| / value; 0 at the end of the range.

        Where the loss is monotone in the value, no value farther than this is within the budget, if `refuted`.
        """
        return 0.0 if self.refused is None else float(abs(self.refused - self.value) / self.value)


class Scale(ABC):
    """The values to search, in the order of growing safety."""

    @abstractmethod
    def first(self) -> Fraction:
        """The value at which the search starts."""

    @abstractmethod
    def further(self, value: Fraction, octaves: int, *, safer: bool) -> Fraction | None:
        """A value about 2^octaves times beyond, on the safer or the other side; None at the end of the range."""

    @abstractmethod
    def between(self, unsafe: Fraction, safe: Fraction, share: float) -> Fraction | None:
        """A value strictly between two, about `share` in (0, 1) of the way to the safe one; None where near enough."""


@final
@known_keywords
@frozen(kw_only=True)
class Continuous(Scale):
    """A scale of binary64 numbers.

    Attributes:
        near: where to start; finite, above 0.
        lowest: the least value admitted.
        highest: the largest.
        more_is_safer: as for noise; False as for a sampling rate.
        relative_gap: how near to the best value the search ends.
    """

    near: float = field(default=1.0, validator=above_zero)
    lowest: float = field(default=2.0**-200, validator=above_zero)
    highest: float = field(default=2.0**200, validator=above_zero)
    more_is_safer: bool = True
    relative_gap: float = field(default=2.0**-20, validator=above_zero)

    def __attrs_post_init__(self) -> None:
        if not self.lowest <= self.near <= self.highest:
            raise InvalidValue("near", self.near, f"a number in [{self.lowest!r}, {self.highest!r}]")
        if not 2.0**-50 <= self.relative_gap < 1:
            raise InvalidValue("relative_gap", self.relative_gap, "a number in [2^-50, 1)", "Leave it out")

    def first(self) -> Fraction:
        """The value at which the search starts: `near`."""
        return Fraction(self.near)

    def further(self, value: Fraction, octaves: int, *, safer: bool) -> Fraction | None:
        """2^octaves times, or that part, as far as the range goes."""
        end = Fraction(self.highest if safer is self.more_is_safer else self.lowest)
        if value == end:
            return None
        factor = Fraction(2) ** octaves
        return min(value * factor, end) if end > value else max(value / factor, end)

    def between(self, unsafe: Fraction, safe: Fraction, share: float) -> Fraction | None:
        """Return a value between two, on a logarithmic scale; from a quarter of the gap off the ends."""
        ratio = math.log(safe / unsafe)
        if abs(ratio) <= self.relative_gap:
            return None
        edge = min(self.relative_gap / abs(ratio) / 4, 0.25)
        moved = Fraction(float(unsafe) * math.exp(ratio * min(max(share, edge), 1 - edge)))
        return moved if min(unsafe, safe) < moved < max(unsafe, safe) else None


@final
@known_keywords
@frozen(kw_only=True)
class Whole(Scale):
    """Numbers of releases: fewer are safer.

    Attributes:
        near: where to start.
        highest: the largest number admitted.
    """

    near: int = field(default=1, validator=above_zero)
    highest: int = field(default=_LARGEST_STEPS, validator=above_zero)

    def first(self) -> Fraction:
        """The value at which the search starts: `near`."""
        return Fraction(self.near)

    def further(self, value: Fraction, octaves: int, *, safer: bool) -> Fraction | None:
        """2^octaves times, or that part, rounded down, as far as the range goes."""
        moved = max(value // 2**octaves, 1) if safer else min(value * 2**octaves, self.highest)
        return None if moved == value else Fraction(moved)

    def between(self, unsafe: Fraction, safe: Fraction, share: float) -> Fraction | None:
        """Return a whole number between two."""
        inside = unsafe - safe - 1
        if inside < 1:
            return None
        moved = unsafe - 1 - Fraction(math.floor(min(max(share, 0.0), 1.0) * float(inside - 1)))
        return min(max(moved, safe + 1), unsafe - 1)


@known_keywords
def calibrate(
    run: Callable[[Fraction], R],
    budget: Limit[A],
    over: Scale,
    *,
    ask: Callable[[R, Any], A] | None = None,
) -> Calibration[R, A]:
    """A value with which a run is proven to stay within a budget: the best one, where the loss is monotone in it.

    Args:
        run: the run at a value, such as `lambda scale: SampledRun(mechanism=GaussianSum(scale=Public(scale)), …)`.
        budget: what it may cost: `Budget(epsilon=…, delta=…)`, or a limit on what an attacker
            learns, one of `certdp.risks`.
        over: the values: `Continuous()` for noise, `Continuous(more_is_safer=False, highest=1)` for a rate, `Whole()`
            for a number of releases.
        ask: how a run is asked, with the limit; by `spent` or `risk`, as the limit says, unless given.

    Guarantees:
        `answer` proves the run at `value` to be within the budget, and `refuted` that the one at `refused` is not.
        Where the loss is monotone in the value, as the scale says, no value farther from it than `gap` is better
        then. Laplace and Gaussian noise, unweighted Poisson rates and numbers of releases are monotone: the worse run
        tells what the other one does, processed further. Discrete Gaussian noise is not.

    Raises:
        InvalidValue: where no value is proven to be within the budget; it says what the safest one costs.
        ExPost: for a run whose bounds move with a released value, also where it is taken as it came out.

    >>> from certdp import Full, LaplaceSum, Norm, NormBall, Public, SampledRun
    >>> ball = NormBall(norm=Norm.L1, radius=Public(1))
    >>> def release(scale):
    ...     return SampledRun(mechanism=LaplaceSum(scale=Public(scale)), sampler=Full(), domain=ball)
    >>> budget = Budget(epsilon="0.5", delta=0)
    >>> float(calibrate(release, budget, Continuous()).value)
    2.0
    """
    require("budget", budget, Limit, "Write Budget(epsilon=…, delta=…), or a limit on a risk")
    require("over", over, Scale, "Write Continuous() for noise or a rate, Whole() for a number of releases")
    search = _Search(run, budget, over, ask or _by_limit)
    search.bracket()
    search.narrow()
    return search.result()


def spent(run: Accountable, budget: Budget, accountant: Accountant | None = None) -> Answer[Any]:
    """What a run costs in the terms of a budget: its δ at the budget's ε, or its pure ε where the budget has no δ.

    Args:
        run: fixed beforehand.
        budget: tells what is asked.
        accountant: who answers; unless given, the loss distribution where there is one, else the best of all.

    Raises:
        NotionAbsent: where no finite bound follows.
    """
    if accountant is None:
        try:
            return spent(run, budget, LOSS_DISTRIBUTION)
        except NotionAbsent:
            return spent(run, budget, BEST)
    if budget.delta.value:
        return run.delta(budget.epsilon, accountant=accountant)
    return run.epsilon(budget.delta, accountant=accountant)


def _by_limit(run: Any, limit: Limit[A]) -> A:
    return limit.cost_of(run)


@final
@frozen
class _Tried(Generic[R, A]):
    """A value, the run there, and by how many nats it exceeds the budget; at most 0 where it is proven not to."""

    value: Fraction
    run: R
    answer: A | None
    excess: float
    refuted: bool


@final
@mutable
class _Search(Generic[R, A]):
    run: Callable[[Fraction], R]
    budget: Limit[A]
    over: Scale
    ask: Callable[[R, Limit[A]], A]
    safe: _Tried[R, A] | None = None
    unsafe: _Tried[R, A] | None = None
    questions: int = 0

    def bracket(self) -> None:
        """Go from the start outwards, ever faster, until a safe and an unsafe value are known or the range ends."""
        tried, octaves = self.at(self.over.first()), 1
        while self.safe is None or self.unsafe is None:
            value = self.over.further(tried.value, octaves, safer=self.safe is None)
            if value is None:
                break
            tried, octaves = self.at(value), min(2 * octaves, _MOST_OCTAVES)
        if self.safe is None:
            raise self._infeasible(tried)

    def narrow(self) -> None:
        """Regula falsi on the excess; an end that stays while the other moves twice counts for half (Illinois)."""
        part = {True: 1.0, False: 1.0}  # by whether an end is the safe one
        last: bool | None = None
        while self.safe is not None and self.unsafe is not None:
            above, below = self.unsafe.excess * part[False], -self.safe.excess * part[True]
            informed = max(above, below) < _UNPROVEN and above + below > 0
            share = above / (above + below) if informed else _HALF
            value = self.over.between(self.unsafe.value, self.safe.value, share)
            if value is None:
                return
            moved = self.at(value).excess <= 0
            part = {moved: 1.0, not moved: part[not moved] / 2 if moved is last else part[not moved]}
            last = moved

    def result(self) -> Calibration[R, A]:
        """Return the safe end of the bracket."""
        safe, unsafe = self.safe, self.unsafe
        assert safe is not None
        assert safe.answer is not None
        return Calibration(
            value=safe.value,
            run=safe.run,
            answer=safe.answer,
            refused=None if unsafe is None else unsafe.value,
            refuted=unsafe is not None and unsafe.refuted,
        )

    def at(self, value: Fraction) -> _Tried[R, A]:
        """Ask about one value, and keep what it says."""
        self.questions += 1
        if self.questions > _MOST_QUESTIONS:
            raise InvalidValue(
                "budget", str(self.budget), "a budget that the search settles", "Widen the gap asked for"
            )
        run = self.run(value)
        refuse_reading(run)
        try:
            answer = self.ask(run, self.budget)
        except (NotionAbsent, OutsideDomain):
            tried: _Tried[R, A] = _Tried(value, run, None, _UNPROVEN, refuted=False)
        else:
            tried = _Tried(value, run, answer, self.budget.excess(answer), self.budget.refuted(answer))
        if tried.excess <= 0:
            self.safe = tried
        else:
            self.unsafe = tried
        return tried

    def _infeasible(self, tried: _Tried[R, A]) -> InvalidValue:
        least = "no finite bound follows there" if tried.answer is None else f"it is {tried.answer.statement} there"
        return InvalidValue(
            "budget",
            str(self.budget),
            f"a budget that the safest value, {float(tried.value):.6g}, keeps: {least}",
            "Allow more, or change another parameter of the run",
        )


def nats(spent: Fraction, allowed: Fraction) -> float:
    """log(spent/allowed), within ±700 nats; its sign is that of the exact difference, and it is 0 where that is."""
    if not spent or not allowed:
        return _UNPROVEN if spent else (-_UNPROVEN if allowed else 0.0)
    near = min(max(_log(spent) - _log(allowed), -_UNPROVEN), _UNPROVEN)
    return max(near, _LEAST_NATS) if spent > allowed else min(near, 0.0)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
