"""Laws of samplers of records: with what probability each is drawn, and with what weight it then enters."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...accounting.enclosures import Enclosure, binomial_interval, norm_enclosure
from ...accounting.errors import CertdpError, OutsideDomain
from ...accounting.expressions import Expression, Symbol, Variable, enclose, evaluate, variables
from ...accounting.norms import Norm
from ...accounting.sampling.drawing import StatedRate
from ...accounting.sampling.records import NEGLIGIBLE, Features, Realisation
from ..contract import Case, Coins, Finding, draw_from
from .divergences import PRECISION, Row, formatted, point, reading
from .law import Law, broken, kept, once
from .subjects import Drawing, Rows, SamplerSubject

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_CLOSE = 1e-9
_CONFIDENCE = 1 - Fraction(1, 10**9)
_DRAWS_AT_ONCE = 4096
_LARGER_DRAWS_MORE = ("rate", "m", "batch", "floor")
_NOTHING = "nothing is drawn as declared: the sampler refuses such records"


def _draws(subject: SamplerSubject) -> str | None:
    if subject.drawings:
        return None
    return f"it draws for none of the losses and records tried ({subject.refusal})"


def _draws_at_all(subject: SamplerSubject, _: Case) -> Finding:
    refusal = _draws(subject)
    return kept() if refusal is None else broken(refusal, "a draw; state constants with which it can: options=…")


def _each_by_itself(subject: SamplerSubject) -> str | None:
    together = any(drawing.size is not None for drawing in subject.drawings)
    return "it draws records together" if together else _draws(subject)


def _together(subject: SamplerSubject) -> str | None:
    apart = any(drawing.size is None for drawing in subject.drawings)
    return "it draws each record by itself" if apart else _draws(subject)


def _cases(subject: SamplerSubject, least: int = 1) -> SearchStrategy[Case]:
    """Return a strategy for a sampler with constants, and a few records."""
    from hypothesis import strategies

    def case(drawing: Drawing) -> SearchStrategy[Case]:
        return strategies.fixed_dictionaries(
            {
                "constants": strategies.just(drawing),
                "records": strategies.lists(
                    drawing.record(), min_size=drawing.size or least, max_size=drawing.size or 4
                ).map(tuple),
            }
        )

    return strategies.sampled_from(subject.drawings).flatmap(case)


def _matrix(records: Rows) -> NDArray[np.float64]:
    return np.asarray(records, dtype=np.float64).reshape(len(records), 2)


def _realised(drawing: Drawing, records: Rows) -> Realisation | None:
    """What is done with the records; None where the sampler refuses them."""
    rate = drawing.rate()
    try:
        return rate.realise(Features(_matrix(records)))
    except CertdpError:
        return None


def _rows(found: Realisation) -> list[tuple[float, float]]:
    """Return probability and weight of each record."""
    return list(zip(found.probability.tolist(), found.weight.tolist(), strict=True))


def _states_probabilities(_: SamplerSubject, case: Case) -> Finding:
    """Probabilities lie in [0, 1], and a drawn record enters with weight 1 or 1/q."""
    found = _realised(case["constants"], case["records"])
    return kept(_NOTHING) if found is None else _admissible(found, len(case["records"]))


def _admissible(found: Realisation, size: int) -> Finding:
    if found.probability.shape != (size,) or found.weight.shape != (size,):
        return broken(f"shapes {found.probability.shape} and {found.weight.shape}", f"({size},), one per record")
    for probability, weight in _rows(found):
        if not 0 <= probability <= 1:
            return broken(f"probability {probability!r}", "a number in [0, 1]")
        if probability == 0:
            if weight != np.inf:
                return broken(f"weight {weight!r} where the probability is 0", "inf")
        elif weight != 1 and not abs(probability * weight - 1) <= _CLOSE:
            return broken(f"weight {weight!r} where the probability is {probability!r}", "1, or 1/q")
    return kept()


def _arithmetics_agree(_: SamplerSubject, case: Case) -> Finding:
    """The probability drawn, the estimate in floats and the stated expression are the same number."""
    drawing: Drawing = case["constants"]
    rate, found = drawing.rate(), _realised(drawing, case["records"])
    if not isinstance(rate, StatedRate) or found is None:
        return kept("no rate is stated")
    root, features = rate.stated.probability, Features(_matrix(case["records"]))
    norms = {variable: known.values for variable, known in features.rounded(root).items()}
    estimates = np.broadcast_to(evaluate(root, norms), (len(features),))
    for record, estimate, (probability, weight) in zip(case["records"], estimates, _rows(found), strict=True):
        truth = reading(record, point(1))(root)
        if not abs(estimate - truth.lower_float) <= _CLOSE:
            return broken(f"q{record} = {float(estimate)!r} in floats", f"{formatted(truth)} by enclosures")
        if truth.upper_float < NEGLIGIBLE and probability == 0:
            continue
        within = truth.widen(rate.rounding)
        if not within.lower <= Fraction(probability) <= max(within.upper, truth.upper):
            return broken(f"q{record} = {probability!r} as drawn", f"{formatted(truth)} by enclosures")
        if weight != 1 and not (1 / truth).widen(rate.rounding).contains(weight):
            return broken(f"weight {weight!r} of {record}", f"{formatted(1 / truth)} by enclosures")
    return kept()


def _independent(_: SamplerSubject, case: Case) -> Finding:
    """What is done with a record is the same whatever other records there are, and wherever it stands."""
    drawing, records = case["constants"], case["records"]
    together, reverse = _realised(drawing, records), _realised(drawing, records[::-1])
    alone = [_realised(drawing, (record,)) for record in records]
    if together is None or reverse is None or None in alone:
        every = together is None and reverse is None and None in alone
        return kept(_NOTHING) if every else broken("a refusal among other records alone", "one for the record's sake")
    for record, one, among, backwards in zip(records, alone, _rows(together), _rows(reverse)[::-1], strict=True):
        (single,) = _rows(one) if one is not None else [among]
        if not single == among == backwards:
            details = f"probability and weight {among} among {records}, {backwards} in reverse"
            return broken(f"{record}: {details}", f"{single}, as alone")
    return kept()


def _repeats(_: SamplerSubject, case: Case) -> Finding:
    """The same records are drawn with the same probabilities each time."""
    drawing, records = case["constants"], case["records"]
    rate = drawing.rate()
    try:
        first = _rows(rate.realise(Features(_matrix(records))))
        again = [_rows(asked.realise(Features(_matrix(records)))) for asked in (rate, drawing.rate())]
    except CertdpError:
        return kept(_NOTHING)
    for second in again:
        if second != first:
            return broken(f"{second} later", f"{first}, as before")
    return kept()


def _keeps_inputs(_: SamplerSubject, case: Case) -> Finding:
    """Neither the records nor the sampler change when rates are asked for."""
    drawing: Drawing = case["constants"]
    matrix, plugin = _matrix(case["records"]), drawing.setup.build()
    before, text, rate = matrix.copy(), repr(plugin), drawing.rate()
    try:
        rate.realise(Features(matrix))
    except CertdpError:
        return kept(_NOTHING)
    if not np.array_equal(before, matrix):
        return broken(f"records {matrix.tolist()} afterwards", before.tolist())
    return kept() if repr(plugin) == text else broken(f"{plugin!r} afterwards", text)


def _frequency_cases(subject: SamplerSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    def case(drawing: Drawing) -> SearchStrategy[Case]:
        return strategies.fixed_dictionaries(
            {
                "constants": strategies.just(drawing),
                "record": drawing.record(),
                "seed": strategies.integers(0, 9),
            }
        )

    return strategies.sampled_from(subject.drawings).flatmap(case)


def _drawn_as_stated(subject: SamplerSubject, case: Case) -> Finding:
    """Many copies of a record are drawn about as often as its probability says."""
    drawing, record = case["constants"], case["record"]
    alone = _realised(drawing, (record,) * (drawing.size or 1))
    if alone is None:
        return kept(_NOTHING)
    (stated, _), *_ = _rows(alone)
    rate, coins, hits, done = drawing.rate(), Coins.seeded(case["seed"]), 0, 0
    while done < subject.draws:
        features = Features(_matrix((record,) * (drawing.size or min(subject.draws - done, _DRAWS_AT_ONCE))))
        hits += len(draw_from(features, rate.realise(features), coins))
        done += len(features)
    likely = binomial_interval(hits, done, _CONFIDENCE)  # of batches the frequency spreads no more than that
    if likely.contains(stated):
        return kept()
    return broken(f"{hits} of {done} copies of {record} drawn", f"a rate in {formatted(likely)}; stated is {stated!r}")


def _draws_batches(_: SamplerSubject, case: Case) -> Finding:
    """What is drawn together are places of the records, each once; equal coins draw the same."""
    drawing, records = case["constants"], case["records"]
    found = _realised(drawing, records)
    if found is None:
        return kept(_NOTHING)
    if found.batches is None:
        return broken("no rule by which records are drawn together", "one, because the rate states a size")
    for seed in range(4):
        members = found.batches.members(len(records), Coins.seeded(seed)).tolist()
        if sorted(members) != sorted(set(members) & set(range(len(records)))):
            return broken(f"places {members}", f"places from 0 to {len(records) - 1}, each once")
        if members != found.batches.members(len(records), Coins.seeded(seed)).tolist():
            return broken("other places with the same coins", members)
    return kept()


def _amplifies(_: SamplerSubject, case: Case) -> Finding:
    """ψ is at least what the probability drawn and the weight applied cost (IS Theorem 6)."""
    drawing: Drawing = case["constants"]
    loss, found = drawing.loss.pure, _realised(drawing, case["records"])
    if loss is None or found is None:
        return kept("no pure loss")
    profile = drawing.rate().profile(loss)
    for record, (probability, weight) in zip(case["records"], _rows(found), strict=True):
        if probability == 0:
            continue
        lost = reading(record, point(weight))(loss.epsilon)
        rate = point(probability)
        for name, root, least in (
            ("ψ on removing", profile.remove, (lost.expm1() * rate).log1p()),
            ("ψ on adding", profile.add, -((-lost).expm1() * rate).log1p()),
        ):
            try:
                stated = enclose(root, _box(root, record), precision=PRECISION)
            except OutsideDomain:  # a probability that is 0 within its rounding: ψ says nothing
                continue
            if stated.upper < least.lower:
                return broken(
                    f"{name} {record} = {formatted(stated)}", f"at least {formatted(least)}, for {probability!r}"
                )
    return kept()


def _box(root: Expression, record: Row) -> dict[Variable, Enclosure]:
    every = Enclosure.between(-1, 1, precision=PRECISION)
    return {
        variable: every
        if variable.symbol is Symbol.ROUNDING
        else norm_enclosure(record, Norm(variable.index), precision=PRECISION)
        for variable in variables(root)
    }


def _size_options(subject: SamplerSubject) -> tuple[str, ...]:
    names = dict.fromkeys(name for drawing in subject.drawings for name in drawing.setup.options)
    return tuple(name for name in names if name in _LARGER_DRAWS_MORE)


def _no_size(subject: SamplerSubject) -> str | None:
    if not _size_options(subject):
        return f"no option has one of the names {', '.join(_LARGER_DRAWS_MORE)}"
    return _each_by_itself(subject)


def _size_cases(subject: SamplerSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    def case(drawing: Drawing) -> SearchStrategy[Case]:
        return strategies.fixed_dictionaries(
            {
                "constants": strategies.just(drawing),
                "record": drawing.record(),
                "option": strategies.sampled_from(_size_options(subject)),
            }
        )

    return strategies.sampled_from(subject.drawings).flatmap(case)


def _rises_with_size(_: SamplerSubject, case: Case) -> Finding:
    """Half of the rate draws no record more often."""
    drawing, option, record = case["constants"], case["option"], case["record"]
    stated = drawing.setup.options.get(option)
    less = None if stated is None else drawing.setup.changed(option, str(Fraction(stated) / 2))
    if less is None:
        return kept("half of it is not admissible")
    halved = StatedRate(less.rate) if hasattr(less, "rate") else less.rate_for(drawing.loss)
    one, other = _realised(drawing, (record,)), halved.realise(Features(_matrix((record,))))
    if one is None or other.probability[0] <= one.probability[0]:
        return kept()
    half = f"{option}={Fraction(str(stated)) / 2}"
    return broken(f"q{record} = {float(other.probability[0])!r} at {half}", f"at most {float(one.probability[0])!r}")


def _extremes(subject: SamplerSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    size = strategies.sampled_from([0.0, 5e-324, 1e-300, 1e-150, 1e150, 1.7e308])
    return strategies.fixed_dictionaries(
        {
            "constants": strategies.sampled_from(subject.drawings),
            "records": strategies.lists(strategies.tuples(size, size), max_size=3).map(tuple),
        }
    )


def _stands_extremes(_: SamplerSubject, case: Case) -> Finding:
    """No records, zeros and norms beyond every bound: a probability and a weight, or a refusal with its reason."""
    rate = case["constants"].rate()
    try:
        with np.errstate(all="ignore"):
            found = rate.realise(Features(_matrix(case["records"])))
    except CertdpError:
        return kept("a refusal with a reason")
    return _admissible(found, len(case["records"]))


LAWS: tuple[Law[SamplerSubject], ...] = (
    Law(
        name="draws",
        says="it draws records for some loss and constants",
        cases=once,
        examine=_draws_at_all,
        most=1,
    ),
    Law(
        name="probabilities",
        says="each probability lies in [0, 1]; a drawn record enters with weight 1 or 1/q",
        absence=_draws,
        cases=_cases,
        examine=_states_probabilities,
    ),
    Law(
        name="arithmetic",
        says="the probability drawn, its estimate in floats and the stated expression are the same number",
        absence=_each_by_itself,
        cases=_cases,
        examine=_arithmetics_agree,
    ),
    Law(
        name="independence",
        says="probability and weight of a record depend on no other record, nor on where it stands",
        absence=_each_by_itself,
        cases=_cases,
        examine=_independent,
    ),
    Law(
        name="repeats",
        says="the same records have the same probabilities each time",
        absence=_draws,
        cases=_cases,
        examine=_repeats,
    ),
    Law(
        name="inputs",
        says="asking for rates changes neither the records nor the sampler",
        absence=_draws,
        cases=_cases,
        examine=_keeps_inputs,
    ),
    Law(
        name="frequencies",
        says="copies of a record are drawn as often as its probability says",
        absence=_draws,
        cases=_frequency_cases,
        examine=_drawn_as_stated,
        most=10,
    ),
    Law(
        name="batches",
        says="records drawn together are places of the data, each once; equal coins draw the same",
        absence=_together,
        cases=_cases,
        examine=_draws_batches,
    ),
    Law(
        name="amplification",
        says="ψ is at least what the probability drawn and the weight applied cost",
        absence=_each_by_itself,
        cases=_cases,
        examine=_amplifies,
    ),
    Law(
        name="size",
        says="a larger rate draws no record less often",
        absence=_no_size,
        cases=_size_cases,
        examine=_rises_with_size,
    ),
    Law(
        name="extreme-records",
        says="no records, zeros and norms beyond every bound: a probability and a weight, or a refusal with its reason",
        absence=_draws,
        cases=_extremes,
        examine=_stands_extremes,
    ),
)
