"""What every option of certdp's mechanisms and samplers may be: by itself, beside the others, and on a public domain.

Written out anew, and held by a test against the plugins themselves: options are admitted here exactly where a plugin
can be built that states them, within the numbers of 700 digits that a certificate writes. An option of no influence on
the loss or the rate is checked like any other, because what nobody could have run is no evidence of anything.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from typing import Final, NamedTuple

from .domain import Domain
from .intervals import Arithmetic
from .norms import is_order
from .shapes import rational
from .verdict import Refused

Options = Mapping[str, str]

_ARITHMETIC: Final = Arithmetic(256)
_MOST_BATCHES: Final = 2**20


class Value(NamedTuple):
    """The values of an option, as a certificate writes them."""

    admissible: str
    admits: Callable[[str], bool]
    required: bool = True
    """Whether it has a value in every certificate; defaults are written out."""

    @property
    def optional(self) -> "Value":
        """Give the rule of the same value for an option that may be left out."""
        return self._replace(required=False)


class Plugin(NamedTuple):
    """The options of a mechanism or sampler, and what holds between them, and between them and a domain."""

    values: Mapping[str, Value]
    together: Callable[[Options], None] = lambda options: None
    within: Callable[[Options, Domain], None] = lambda options, domain: None
    versions: tuple[str, ...] = ("1",)
    """Those that there were, all with these options and one loss or rate."""


def exact(options: Options, key: str) -> Fraction:
    """Give the number that an option is."""
    return rational(options.get(key), f"the option {key}")


def _number(admissible: str, admits: Callable[[Fraction], bool]) -> Value:
    return Value(admissible, lambda text: admits(rational(text, "it")))


def _whole(lowest: int, highest: int | None = None) -> Value:
    most = "" if highest is None else f" to {highest}"
    return _number(f"a whole number from {lowest}{most}", partial(_is_whole, lowest, highest))


def _is_whole(lowest: int, highest: int | None, number: Fraction) -> bool:
    return number.denominator == 1 and lowest <= number and (highest is None or number <= highest)


def _listing(admissible: str, admits: Callable[[Fraction], bool]) -> Value:
    """Numbers with commas between them, none below the one before."""

    def listed(text: str) -> bool:
        @cache  # a file may repeat one number millions of times
        def read(item: str) -> Fraction:
            number = rational(item, "it")
            if not admits(number):
                raise Refused(f"it must be {admissible}")
            return number

        numbers = map(read, text.split(","))
        return all(one is other or one <= other for one, other in pairwise(numbers))

    return Value(f"{admissible} with commas between them, none below the one before", listed)


def _each(admissible: str, value: Value) -> Value:
    return Value(f"{admissible} with commas between them", lambda text: all(map(value.admits, text.split(","))))


def _labelled(text: str) -> bool:
    """Whether these are labels, each once, with a probability each."""
    pairs = [pair.split(":") for pair in text.split(",")]
    if any(len(pair) != 2 or not pair[0] or pair[0] != pair[0].strip() for pair in pairs):
        return False
    return len({label for label, _ in pairs}) == len(pairs) and all(
        map(_PROBABILITY.admits, (rate for _, rate in pairs))
    )


def _one_of(*words: str) -> Value:
    return Value(" or ".join(words), words.__contains__)


_FLAG: Final = _one_of("true", "false")
_POSITIVE: Final = _number("a number above 0", lambda number: number > 0)
_NUMBER: Final = _number("a number", lambda _: True)
_NOT_NEGATIVE: Final = _number("a number of at least 0", lambda number: number >= 0)
_PROBABILITY: Final = _number("a number in [0, 1]", lambda number: 0 <= number <= 1)
_SHARE: Final = _number("a number in (0, 1]", lambda number: 0 < number <= 1)
_FROM_ONE: Final = _number("a number of at least 1", lambda number: number >= 1)
_FROM_ONE_WHOLE: Final = _whole(1)
_ORDER: Final = Value('the order of a norm, at least 1, or "inf"', is_order)
_SPACING: Final = _number(
    "a number in [2^-500, 2^500]", lambda number: Fraction(1, 2**500) <= number <= Fraction(2**500)
)


def _exactly_one(one: str, other: str) -> Callable[[Options], None]:
    def hold(options: Options) -> None:
        if (one in options) == (other in options):
            raise Refused(f"there is either the option {one} or the option {other}")

    return hold


def _hold_lattice(options: Options) -> None:
    """Of one column the loss is that of discrete Gaussian laws, which have a range of variances."""
    if options.get("dimension") == "1":
        variance = (exact(options, "scale") / exact(options, "granularity")) ** 2
        if not Fraction(1, 2**32) <= variance <= 2**128:
            raise Refused("the option scale, for dimension 1, has a square within 2^-32 to 2^128 squared granularities")


def _hold_split(options: Options) -> None:
    _exactly_one("scale_count", "split")(options)
    if "split" in options and "dimension" not in options:
        raise Refused("the option split needs the option dimension")


def _hold_size(options: Options) -> None:
    """No record of the stated radius is drawn with a probability above 1."""
    mixing, radius = exact(options, "mixing"), exact(options, "radius")
    largest = exact(options, "n") / (mixing + (1 - mixing) * radius**2 / exact(options, "mean_squared_norm"))
    if exact(options, "m") > largest:
        raise Refused("the option m exceeds n/(mixing + (1 - mixing)*radius^2/mean_squared_norm)")


def _hold_norm_sum(options: Options) -> None:
    if exact(options, "norm_sum") < exact(options, "batch") * exact(options, "clip"):
        raise Refused("the option norm_sum is below batch*clip: rates would exceed 1")


def _hold_sizes(options: Options) -> None:
    if "sizes" in options and options["power"] != "1":
        raise Refused("the option sizes stands in place of a power: the option power is then 1")


def _hold_target(options: Options) -> None:
    if {"delta", "order"} <= options.keys():
        raise Refused("a target has the option delta or the option order, not both")


def _hold_batch(options: Options) -> None:
    if exact(options, "batch_size") > exact(options, "data_size"):
        raise Refused("the option batch_size is at most the option data_size")


def _hold_fixed(options: Options) -> None:
    """A share of a number of records that is stated has to be a whole number of them."""
    _exactly_one("batch_size", "rate")(options)
    if "batch_size" in options:
        if "data_size" not in options:
            raise Refused("the option batch_size needs the option data_size")
        _hold_batch(options)
    elif "data_size" in options and (exact(options, "rate") * exact(options, "data_size")).denominator != 1:
        raise Refused("the option rate is a share of the option data_size that is a whole number")


def _hold_participations(options: Options) -> None:
    if "participations" in options and exact(options, "participations") > exact(options, "batches"):
        raise Refused("the option participations is at most the option batches")


def _hold_epoch(options: Options) -> None:
    """Shuffled records are cut into whole batches, of which an epoch has at most so many."""
    batches = exact(options, "data_size") / exact(options, "batch_size")
    if batches.denominator != 1 or batches > _MOST_BATCHES:
        raise Refused(f"the option data_size is a whole multiple of batch_size, of at most {_MOST_BATCHES} batches")


def _hold_bounds(options: Options) -> None:
    bounds = [rational(text, "a bound") for text in options["bounds"].split(",")]
    if any(low >= high for low, high in pairwise(bounds)) or len(options["rates"].split(",")) != len(bounds) + 1:
        raise Refused("the option bounds grows, and the option rates has one number more")


def _in_the_norm(options: Options, domain: Domain) -> None:
    if options["norm"] != domain.p:
        raise Refused("the option norm is that of the domain")


def _same_dimension(options: Options, domain: Domain) -> None:
    if "dimension" in options and domain.dimension not in (None, int(options["dimension"])):
        raise Refused("the option dimension is not the domain's")


def _centres_reach(options: Options, domain: Domain) -> None:
    _same_dimension(options, domain)
    _reaches(exact(options, "radius"), options["norm"], domain)


def _reaches(radius: Fraction, norm: str, domain: Domain) -> None:
    """Hold an option `radius` against the largest norm of a record of the domain."""
    if domain.largest_ratio(norm).order(radius / domain.radius, _ARITHMETIC) < 0:
        raise Refused("the option radius is smaller than the norm of some record of the domain")


_SCALE: Final = {"scale": _POSITIVE}
_TWO: Final = ("1", "2")
_BUDGET: Final = {"epsilon": _NOT_NEGATIVE, "delta": _PROBABILITY, "largest": _whole(1).optional}
_THRESHOLD: Final = Plugin(
    {
        "threshold": _POSITIVE,
        "power": _NOT_NEGATIVE,
        "sizes": _listing("numbers of at least 0", lambda n: n >= 0).optional,
    },
    together=_hold_sizes,
)

MECHANISMS: Final[dict[str, Plugin]] = {
    "laplace-sum": Plugin(_SCALE, versions=_TWO),
    "count": Plugin(_SCALE, versions=_TWO),
    "lp-sum": Plugin(_SCALE | {"norm": _ORDER}, versions=_TWO),
    "gaussian-sum": Plugin(
        {"scale": _POSITIVE.optional, "noise_multiplier": _POSITIVE.optional},
        together=_exactly_one("scale", "noise_multiplier"),
        versions=_TWO,
    ),
    "discrete-laplace": Plugin(_SCALE | {"granularity": _SPACING}),
    "discrete-gaussian": Plugin(
        _SCALE | {"granularity": _SPACING, "dimension": _whole(1).optional},
        together=_hold_lattice,
        within=_same_dimension,
    ),
    "lloyd": Plugin(
        {
            "clusters": _whole(1, 2**20),
            "scale_sum": _POSITIVE,
            "scale_count": _POSITIVE.optional,
            "split": _one_of("derived", "published").optional,
            "radius": _POSITIVE,
            "norm": _ORDER,
            "iterations": _whole(1, 2**20),
            "dimension": _whole(1, 2**20).optional,
        },
        together=_hold_split,
        within=_centres_reach,
        versions=_TWO,
    ),
    "randomised-response": Plugin(
        {
            "categories": _whole(2, 2**53),
            "noise": _SHARE.optional,
            "epsilon": _number("a number in (0, 512]", lambda number: 0 < number <= 512).optional,
        },
        together=_exactly_one("noise", "epsilon"),
    ),
    "quantile-choice": Plugin(_SCALE | {"quantile": _PROBABILITY, "shift": _NUMBER}),
    "report-noisy-max": Plugin(
        _SCALE | {"granularity": _SPACING, "noise": _one_of("exponential", "gumbel", "laplace"), "signed": _FLAG}
    ),
    "above-threshold": Plugin(
        _SCALE
        | {"threshold": _NUMBER, "threshold_scale": _POSITIVE, "answers": _whole(1, 2**20)}
        | {"granularity": _SPACING, "signed": _FLAG}
    ),
    "dpis-step": Plugin(
        dict.fromkeys(("noise_multiplier", "clip", "size", "batch"), _POSITIVE) | {"norm_sum": _POSITIVE.optional},
        versions=_TWO,
    ),
    "pws-keys": Plugin(_BUDGET),
    "pws-frequencies": Plugin(_BUDGET | {"subdivision": _whole(0, 64)}),
}

SAMPLERS: Final[dict[str, Plugin]] = {
    "full": Plugin({}),
    "poisson": Plugin({"rate": _PROBABILITY, "weighted": _FLAG}),
    "importance": Plugin({"rate": _POSITIVE, "norm": _ORDER, "floor": _PROBABILITY}),
    "privacy-constrained": Plugin(
        {
            "target": _POSITIVE,
            "delta": _SHARE.optional,
            "order": _number("a number above 1", lambda number: number > 1).optional,
            "largest_weight": _FROM_ONE.optional,
            "digits": _whole(4, 52).optional,
        },
        together=_hold_target,
        versions=_TWO,
    ),
    "coreset": Plugin(
        dict.fromkeys(("m", "n", "mean_squared_norm", "radius"), _POSITIVE) | {"mixing": _SHARE},
        together=_hold_size,
        within=lambda options, domain: _reaches(exact(options, "radius"), "2", domain),
    ),
    "fixed-batches": Plugin(
        {"batch_size": _FROM_ONE_WHOLE.optional, "data_size": _FROM_ONE_WHOLE.optional, "rate": _SHARE.optional},
        together=_hold_fixed,
    ),
    "truncated-poisson": Plugin(
        {
            "rate": _number("a number in (0, 1] that is above 0 in binary64", lambda q: 0 < q <= 1 and float(q) > 0),
            "batch_size": _FROM_ONE_WHOLE,
            "data_size": _FROM_ONE_WHOLE,
            "at_most": _FLAG,
        },
        together=_hold_batch,
    ),
    "random-allocation": Plugin(
        {"batches": _whole(1, _MOST_BATCHES), "participations": _FROM_ONE_WHOLE.optional}, together=_hold_participations
    ),
    "shuffled-batches": Plugin({"batch_size": _FROM_ONE_WHOLE, "data_size": _FROM_ONE_WHOLE}, together=_hold_epoch),
    "strata": Plugin({"rates": Value("label:rate pairs with commas between them", _labelled), "weighted": _FLAG}),
    "norm-strata": Plugin(
        {
            "bounds": _listing("numbers above 0", lambda bound: bound > 0),
            "rates": _each("numbers in [0, 1]", _PROBABILITY),
            "norm": _ORDER,
            "weighted": _FLAG,
        },
        together=_hold_bounds,
        within=_in_the_norm,
    ),
    "shuffled": Plugin({"users": _whole(1, 1 << 40)}),
    "dpis": Plugin(dict.fromkeys(("batch", "norm_sum", "clip"), _POSITIVE), together=_hold_norm_sum),
    "every-key": Plugin({}),
    "listed-rates": Plugin({"rates": _listing("numbers in [0, 1]", lambda number: 0 <= number <= 1)}),
    "ppswor": _THRESHOLD,
    "pps": _THRESHOLD,
}

PLUGINS: Final = {"mechanism": MECHANISMS, "sampler": SAMPLERS}
"""By role and name."""


def hold_options(role: str, name: str, options: Options) -> None:
    """Refuse options from which no plugin of certdp can be built that states them."""
    plugin = PLUGINS[role][name]
    for key, text in options.items():
        if key not in plugin.values:
            raise Refused(f"the options of {name} are {', '.join(plugin.values) or 'none'}, not {key[:40]!a}")
        if not _admits(plugin.values[key], text):
            raise Refused(f"the option {key} of {name} must be {plugin.values[key].admissible}, not {text[:40]!a}")
    for key, value in plugin.values.items():
        if value.required and key not in options:
            raise Refused(f"the option {key} of {name} is missing")
    plugin.together(options)


def _admits(value: Value, text: str) -> bool:
    try:
        return value.admits(text)
    except Refused:  # of a text that is no number
        return False


def hold_domain(role: str, name: str, options: Options, domain: Domain | None, columns: int | None = None) -> None:
    """Refuse options that do not go with the public domain, or with the number of columns of an owner's data."""
    if columns is not None and options.get("dimension", str(columns)) != str(columns):
        raise Refused(f"the option dimension of {name} is not the number of columns")
    if domain is not None:
        PLUGINS[role][name].within(options, domain)
