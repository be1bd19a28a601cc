"""What the mechanisms and samplers of certdp declare: the loss and the rate that follow from the options stated.

A certificate that names one of them must state exactly that, so that no option can be altered without the proof. Of
plugins of other distributions nothing is known here: their loss and rate are taken as stated, and the verdict says so.
None of them passes for one of certdp, under a distribution's name that reads like certdp or under a plugin's name.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, NamedTuple

from .domain import Domain
from .intervals import Arithmetic, at_most
from .likeness import reduced, within_a_slip
from .options import PLUGINS, Options, hold_domain, hold_options
from .options import exact as _exact
from .shapes import rational
from .verdict import Refused
from .vocabulary import CLIPPED_RECORDS, REAL_VALUED_NOISE

DISTRIBUTION: Final = "certdp"

Statement = Mapping[str, Any]
Tree = Any
"""An expression as a certificate writes it."""

_PLUGIN: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PACKAGE: Final = re.compile(r"_*[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?_*")
"""A distribution's name by PEP 508, or that of the module of a plugin that none brings, such as __main__."""
_WEIGHT: Final = ["weight"]
_ONE: Final = ["constant", "1"]
_SPREAD: Final = 4 * Fraction(9, 40) ** 2
_ARITHMETIC: Final = Arithmetic(256)


Stratum = tuple[str, str | None, Tree]
"""The label, the largest norm and the rate of a stratum, as a certificate states them."""

Batches = Mapping[str, Any]
"""How batches are drawn as a whole, as a certificate states it."""

Beside = tuple[str | int | None, ...]
"""What a family states beside its parameter: of discrete Gaussian noise the variance in squared steps, and the number
of coordinates where it is stated; of discrete Laplace noise what one step costs; of responses the categories."""


class Stated(NamedTuple):
    """A family of pairs, their parameter from the options, and what is stated beside."""

    family: str
    parameter: Callable[[Options, Tree], Tree]
    beside: Callable[[Options], Beside] = lambda options: ()


class Mechanism(NamedTuple):
    """A mechanism: the family of its pairs, their parameter from its options, and what it takes for granted.

    `parameter` is also given the parameter stated, for constants that a rule only encloses. `exact` are the versions of
    the mechanism whose noise and sums are exact, or exactly rounded; None for all. `also` are other families that hold.
    """

    family: str
    parameter: Callable[[Options, Tree], Tree]
    relation: str = "add-remove"
    exact: tuple[str, ...] | None = ()
    also: tuple[Stated, ...] = ()

    def states(self, families: tuple[str, ...], options: Options, loss: Tree, beside: Beside) -> bool:
        """Whether a loss of one of these families is what the mechanism declares."""
        return any(
            known.family in families and known.beside(options) == beside and known.parameter(options, loss) == loss
            for known in (Stated(self.family, self.parameter), *self.also)
        )


def _constant(value: Fraction) -> Tree:
    return ["constant", str(value)]


def _size(options: Options, key: str = "norm") -> Tree:
    return ["norm", options[key]]


def _weighted(size: Tree) -> Tree:
    return ["multiply", _WEIGHT, size]


def _over(numerator: Tree, options: Options, key: str) -> Tree:
    return ["divide", numerator, ["constant", options[key]]]


def _gaussian_sum(options: Options, stated: Tree) -> Tree:
    if "scale" in options:
        return _over(_weighted(["norm", "2"]), options, "scale")
    return _over(_ONE, options, "noise_multiplier")


def _whole_steps(options: Options, stated: Tree) -> Tree:
    return _over(_weighted(["norm", "1"]), options, "granularity")


def _step(options: Options) -> Fraction:
    return _exact(options, "granularity") / _exact(options, "scale")


def _discrete_laplace(options: Options, stated: Tree) -> Tree:
    return ["multiply", _whole_steps(options, stated), _constant(_step(options))]


def _laplace_on_lattice(options: Options, stated: Tree) -> Tree:
    """Give the shift of a Laplace pair that dominates: with k steps of unit u, ku + 2·log cosh(u/2) <= ku + u²/4."""
    return ["add", _discrete_laplace(options, stated), _constant(_step(options) ** 2 / 4)]


def _steps(options: Options, stated: Tree) -> Tree:
    return _over(_weighted(["norm", "2"]), options, "granularity")


def _squared_steps(options: Options) -> Beside:
    variance = (_exact(options, "scale") / _exact(options, "granularity")) ** 2
    return str(variance), int(options["dimension"]) if "dimension" in options else None


def _discrete_gaussian(options: Options, stated: Tree) -> Tree:
    shift = _weighted(["norm", "2"])
    if options.get("dimension") == "1":
        steps = _over(shift, options, "granularity")
        variance = (_exact(options, "scale") / _exact(options, "granularity")) ** 2
        return ["multiply", ["multiply", steps, steps], _constant(1 / (2 * variance))]
    return ["divide", ["power", _over(shift, options, "scale"), "2"], ["constant", "2"]]


def _lloyd(options: Options, stated: Tree) -> Tree:
    if "scale_count" in options:
        per_count = _constant(1 / _exact(options, "scale_count"))
    else:
        match stated:
            case ["multiply", _, ["add", ["constant", str(text)], _]]:
                _hold_split(rational(text, "the loss of a count"), options)
                per_count = ["constant", text]
            case _:
                raise Refused("the loss stated is not that of lloyd")
    each = ["add", per_count, _over(_size(options), options, "scale_sum")]
    return ["multiply", ["multiply", ["constant", options["iterations"]], _WEIGHT], each]


def _hold_split(per_count: Fraction, options: Options) -> None:
    """Hold the scale of counts, 1/per_count, against the split, whose rule it may exceed by 2^-79, relatively."""
    if per_count <= 0:
        raise Refused("the loss of a count is above 0")
    cube = _SPREAD * _exact(options, "dimension")
    quotient = 1 / (per_count * _exact(options, "scale_sum"))
    match options["split"]:
        case "derived":
            ratio = (quotient * _exact(options, "radius")) ** 3 * cube
        case _:
            ratio = quotient**3 / cube
    if not 1 <= ratio <= (1 + Fraction(1, 2**79)) ** 3:
        raise Refused("the loss of a count is not that of the split")


def _randomised_response(options: Options, stated: Tree) -> Tree:
    categories = _exact(options, "categories")
    if "noise" in options:
        noise = _exact(options, "noise")
        return ["log1p", _constant(categories * (1 - noise) / noise)]
    match stated:
        case ["log1p", ["constant", str(text)]]:
            odds = rational(text, "the odds of the true category")
            if odds < 0:
                raise Refused("the odds of the true category are at least 0")
        case _:
            raise Refused("the loss stated is not that of randomised-response")
    # of a uniform answer: the probability that epsilon admits, rounded up by 2^-60, relatively, and at most 1
    noise = categories / (odds + categories)
    grown = _ARITHMETIC.exp(_ARITHMETIC.rational(_exact(options, "epsilon")))
    least = _ARITHMETIC.divide(
        _ARITHMETIC.rational(categories), _ARITHMETIC.add(grown, _ARITHMETIC.rational(categories - 1))
    )
    rounded = _ARITHMETIC.multiply(least, _ARITHMETIC.rational(1 + Fraction(1, 2**60)))
    above = _ARITHMETIC.multiply(rounded, _ARITHMETIC.rational(1 + Fraction(1, 2**100)))
    at_least = at_most(rounded.hi, _ARITHMETIC.rational(noise).lo) or noise == 1
    if not (at_least and at_most(_ARITHMETIC.rational(noise).hi, above.lo)):
        raise Refused("the loss stated is not that of randomised-response at its epsilon")
    return stated


def _quantile_choice(options: Options, stated: Tree) -> Tree:
    """Twice what a value moves a gap by, max(q, 1 - q), over the scale; where the rank lies is of no influence."""
    share = _exact(options, "quantile")
    per_value = 2 * max(share, 1 - share) / _exact(options, "scale")
    return ["multiply", _weighted(["norm", "1"]), _constant(per_value)]


def _noisy_max(options: Options, stated: Tree) -> Tree:
    """The largest vote over the scale; votes of both signs may raise one score and lower another."""
    signs = 2 if options["signed"] == "true" else 1
    return ["multiply", _weighted(["norm", "inf"]), _constant(signs / _exact(options, "scale"))]


def _with_gumbel_noise(options: Options, stated: Tree) -> Tree:
    """Give the length of the interval in which the losses of all columns lie; with other noise there is none."""
    return _noisy_max(options, stated) if options["noise"] == "gumbel" else None


def _above_threshold(options: Options, stated: Tree) -> Tree:
    """The largest vote over the threshold's scale and, for each answer, over the scale of scores, as `_noisy_max`."""
    signs = 2 if options["signed"] == "true" else 1
    told = signs * _exact(options, "answers") / _exact(options, "scale")
    return ["multiply", _weighted(["norm", "inf"]), _constant(1 / _exact(options, "threshold_scale") + told)]


def _dpis_step(options: Options, stated: Tree) -> Tree:
    spread = _exact(options, "size") * _exact(options, "noise_multiplier") * _exact(options, "clip")
    if "norm_sum" in options:
        return ["multiply", _ONE, _constant(_exact(options, "norm_sum") / spread)]
    clipped = ["minimum", ["constant", options["clip"]], ["norm", "2"]]
    return ["multiply", _weighted(clipped), _constant(_exact(options, "batch") / spread)]


def _lp_sum(options: Options, stated: Tree) -> Tree:
    return _over(["multiply", _weighted(_size(options)), _ONE], options, "scale")


_ROUNDED: Final = ("2",)
"""Version 1 added noise in binary64."""

MECHANISMS: Final = {
    "laplace-sum": Mechanism("laplace", lambda o, s: _over(_weighted(["norm", "1"]), o, "scale"), exact=_ROUNDED),
    "count": Mechanism("laplace", lambda o, s: _over(_WEIGHT, o, "scale"), exact=_ROUNDED),
    "lp-sum": Mechanism("pure", _lp_sum, exact=_ROUNDED),
    "gaussian-sum": Mechanism("gaussian", _gaussian_sum, exact=_ROUNDED),
    "discrete-laplace": Mechanism(
        "pure",
        _discrete_laplace,
        exact=None,
        also=(
            Stated("laplace", _laplace_on_lattice),
            Stated("discrete-laplace", _whole_steps, lambda options: (str(_step(options)),)),
        ),
    ),
    "discrete-gaussian": Mechanism(
        "zero-concentrated",
        _discrete_gaussian,
        exact=None,
        also=(Stated("discrete-gaussian", _steps, _squared_steps),),
    ),
    "lloyd": Mechanism("pure", _lloyd, exact=_ROUNDED),
    "randomised-response": Mechanism(
        "pure",
        _randomised_response,
        relation="replace",
        exact=None,
        also=(Stated("response-of-many", _randomised_response, lambda options: (int(_exact(options, "categories")),)),),
    ),
    "quantile-choice": Mechanism("pure", _quantile_choice, exact=None),
    "report-noisy-max": Mechanism("pure", _noisy_max, exact=None, also=(Stated("bounded-range", _with_gumbel_noise),)),
    "above-threshold": Mechanism("pure", _above_threshold, exact=None),
    "dpis-step": Mechanism("gaussian", _dpis_step, exact=_ROUNDED),
}


def _poisson(options: Options) -> tuple[Tree, bool]:
    return ["constant", options["rate"]], options["weighted"] == "true"


def _importance(options: Options) -> tuple[Tree, bool]:
    proportional = ["multiply", ["constant", options["rate"]], _size(options)]
    return ["minimum", _ONE, ["maximum", ["constant", options["floor"]], proportional]], True


def _coreset(options: Options) -> tuple[Tree, bool]:
    share, mixing = _exact(options, "m") / _exact(options, "n"), _exact(options, "mixing")
    slope = _constant((1 - mixing) * share / _exact(options, "mean_squared_norm"))
    square = ["multiply", slope, ["power", ["norm", "2"], "2"]]
    return ["minimum", _ONE, ["add", _constant(mixing * share), square]], True


def _dpis(options: Options) -> tuple[Tree, bool]:
    per_unit = _constant(_exact(options, "batch") / _exact(options, "norm_sum"))
    return ["multiply", per_unit, ["minimum", ["constant", options["clip"]], ["norm", "2"]]], True


SAMPLERS: Final[dict[str, Callable[[Options], tuple[Tree, bool]]]] = {
    "full": lambda options: (_ONE, False),
    "poisson": _poisson,
    "importance": _importance,
    "coreset": _coreset,
    "dpis": _dpis,
}
"""The rate, and whether drawn records are weighted."""
_ADD_REMOVE_ALONE: Final = ("dpis",)
"""Samplers whose constants may follow from the records, so that replacing one is another matter."""
CONSTRAINED: Final = "privacy-constrained"
ANSWERS: Final[dict[str, Callable[[Options], int]]] = {"shuffled": lambda options: int(options["users"])}
"""Samplers that put all answers in an order that is drawn: how many records there are at least."""
_NAMES: Final = {role: sorted(table) for role, table in PLUGINS.items()}
SANITISERS: Final = ("pws-keys", "pws-frequencies")
KEY_SAMPLERS: Final = ("every-key", "listed-rates", "ppswor", "pps")


def _is_own(role: str, statement: Statement) -> bool:
    """Whether a plugin is one of certdp; one that only seems to be is refused."""
    name, distribution = statement["name"], statement["distribution"]
    if not _PLUGIN.fullmatch(name):
        raise Refused(f"the name of {role} {name!a} is not made of lower-case words joined by hyphens")
    if not _PACKAGE.fullmatch(distribution):
        raise Refused(f"{distribution!a}, the distribution of {role} {name!a}, is no name of a package")
    if distribution == DISTRIBUTION:
        if name not in _NAMES[role]:
            raise Refused(f"{DISTRIBUTION} has no {role} {name!a}")
        if statement["version"] not in PLUGINS[role][name].versions:
            raise Refused(f"{DISTRIBUTION} has no {role} {name!a} of version {statement['version'][:40]!a}")
        return True
    if _reads_like_certdp(distribution):
        raise Refused(f"{distribution[:80]!a}, the distribution of {role} {name!a}, reads like {DISTRIBUTION}")
    if name in _NAMES[role]:
        raise Refused(f"{role} {name!a} is of {DISTRIBUTION}, not of distribution {distribution!a}")
    for own in _NAMES[role]:
        if within_a_slip(reduced(name), reduced(own)):
            raise Refused(f"{role} {name!a} of distribution {distribution!a} reads like {own!a} of {DISTRIBUTION}")
    return False


def _reads_like_certdp(distribution: str) -> bool:
    """Whether a distribution's name begins or ends like certdp's, or is within a slip of it, or its outer words are."""
    words = [reduced(word) for word in re.split("[-_.]+", distribution.strip("-_."))]
    whole = "".join(words)
    slips = any(within_a_slip(part, DISTRIBUTION) for part in (whole, words[0], words[-1]))
    return slips or whole.startswith(DISTRIBUTION) or whole.endswith(DISTRIBUTION)


def _take(role: str, statement: Statement) -> Options:
    """Give the options of a plugin of certdp, whose evidence is a proof."""
    name, options = statement["name"], statement["options"]
    if statement["evidence"] != "proved":
        raise Refused(f"the evidence of {name} is a proof")
    hold_options(role, name, options)
    return dict(options)


def hold_mechanism(
    statement: Statement,
    loss: Tree,
    rate: Tree,
    *,
    families: tuple[str, ...],
    relation: str,
    domain: Domain | None,
    columns: int | None = None,
    beside: Beside = (),
) -> dict[str, str]:
    """Hold a loss stated against what the mechanism named declares; what it needs assumed.

    `columns` are those of an owner's data; `beside` is what the family states beside its parameter.
    """
    if not _is_own("mechanism", statement):
        return {}
    if statement["name"] not in MECHANISMS:
        raise Refused(f"certificates of mechanism {statement['name']} are of another kind")
    known = MECHANISMS[statement["name"]]
    options = _take("mechanism", statement)
    hold_domain("mechanism", statement["name"], options, domain, columns)
    if known.relation != relation or not known.states(families, options, loss, beside):
        raise Refused(f"the loss stated is not that of mechanism {statement['name']} with these options")
    constant = type(rate) is list and rate[:1] == ["constant"]
    if "noise_multiplier" in options and statement["name"] == "gaussian-sum" and not constant:
        raise Refused("a noise multiplier is one number for all records where the rate is constant alone")
    assumed = [] if known.exact is None or statement["version"] in known.exact else [REAL_VALUED_NOISE]
    return dict([*assumed, CLIPPED_RECORDS] if "noise_multiplier" in options else assumed)


def _fixed_batches(options: Options) -> tuple[Tree, Batches]:
    size = int(options["data_size"]) if "data_size" in options else None
    if "rate" in options:
        return _constant(_exact(options, "rate")), {"most": None, "data_size": size, "bounded": False}
    share = _exact(options, "batch_size") / _exact(options, "data_size")
    return _constant(share), {"most": None, "data_size": size, "bounded": False}


def _truncated_poisson(options: Options) -> tuple[Tree, Batches]:
    most, size = int(options["batch_size"]), int(options["data_size"])
    batches = {"most": most, "data_size": size, "bounded": options["at_most"] == "true"}
    return _constant(Fraction(float(_exact(options, "rate")))), batches  # which is what is drawn


def _random_allocation(options: Options) -> tuple[Tree, Batches]:
    number, entered = int(options["batches"]), int(options.get("participations", "1"))
    batches = {"number": number, "data_size": None}
    return _constant(Fraction(entered, number)), batches if entered == 1 else batches | {"participations": entered}


def _shuffled_batches(options: Options) -> tuple[Tree, Batches]:
    size = int(options["data_size"])
    number = size // int(options["batch_size"])
    return _constant(Fraction(1, number)), {"number": number, "data_size": size}


BATCHES: Final[dict[str, Callable[[Options], tuple[Tree, Batches]]]] = {
    "fixed-batches": _fixed_batches,
    "random-allocation": _random_allocation,
    "shuffled-batches": _shuffled_batches,
    "truncated-poisson": _truncated_poisson,
}
"""The rate, and how batches are drawn as a whole."""


def hold_clones(statement: Statement, loss: Tree, clones: Fraction) -> None:
    """Hold a share of clones against what the mechanism named declares; that its loss is its own is held before.

    Randomised response never answers with less than 2/(1 + e^epsilon) times the mean of two laws of `shuffled`: among k
    categories these have (e^epsilon + 1) times the chance of a lie at one of both values, and that chance elsewhere.
    """
    if not _is_own("mechanism", statement):
        return
    match statement["name"], loss:
        case "randomised-response", ["log1p", ["constant", str(odds)]]:
            if clones * (2 + rational(odds, "the odds of the true category")) <= 2:
                return
    raise Refused(f"answers of {statement['name']} have no such share of clones")


def hold_sampler(
    statement: Statement,
    rate: Tree,
    weighted: bool,
    domain: Domain | None,
    *,
    relation: str,
    batches: Batches | None = None,
    users: int | None = None,
) -> None:
    """Hold a rate stated against what the sampler named declares, and the change of the data against what it covers.

    `batches` say how they are drawn as a whole, where they are, and `users` how many records are shuffled at least.
    """
    if not _is_own("sampler", statement):
        return
    if relation != "add-remove" and statement["name"] in _ADD_REMOVE_ALONE:
        raise Refused(f"of {statement['name']} sampling nothing but adding and removing records is proven")
    known = BATCHES if batches is not None else SAMPLERS if users is None else ANSWERS
    if statement["name"] not in known:
        raise Refused(f"certificates of {statement['name']} sampling are of another kind")
    options = _take("sampler", statement)
    hold_domain("sampler", statement["name"], options, domain)
    if users is not None:
        held = (rate, weighted) == (_ONE, False) and ANSWERS[statement["name"]](options) == users
    elif batches is None:
        held = SAMPLERS[statement["name"]](options) == (rate, weighted)
    else:
        held = BATCHES[statement["name"]](options) == (rate, batches)
    if not held:
        raise Refused(f"rate and weighted are not those of sampler {statement['name']} with these options")


def _labelled(options: Options) -> list[Stratum]:
    pairs = (pair.split(":") for pair in options["rates"].split(","))
    return [(label, None, ["constant", rate]) for label, rate in pairs]


def _by_norm(options: Options) -> list[Stratum]:
    bounds, rates = options["bounds"].split(","), options["rates"].split(",")
    names = [f"{low} to {high}" for low, high in pairwise(["0", *bounds])] + [f"above {bounds[-1]}"]
    return [(name, bound, ["constant", rate]) for name, bound, rate in zip(names, [*bounds, None], rates, strict=True)]


STRATA: Final[dict[str, Callable[[Options], list[Stratum]]]] = {"norm-strata": _by_norm, "strata": _labelled}
"""Samplers of public strata: the label, the largest norm and the rate of each."""


def hold_sampler_of_strata(statement: Statement, strata: Sequence[Tree], weighted: bool, domain: Domain | None) -> None:
    """Hold strata stated against those that the sampler named declares."""
    if not _is_own("sampler", statement):
        return
    if statement["name"] not in STRATA:
        raise Refused(f"{statement['name']} sampling has no strata")
    options = _take("sampler", statement)
    hold_domain("sampler", statement["name"], options, domain)
    found = [(stratum["label"], stratum["largest"], stratum["rate"]) for stratum in strata]
    if found != STRATA[statement["name"]](options) or weighted != (options["weighted"] == "true"):
        raise Refused(f"the strata are not those of sampler {statement['name']} with these options")


def hold_rule(statement: Statement, target: Mapping[str, str], largest: Fraction | None) -> None:
    """Hold cap and target of a constrained run, with its delta or order, against what the sampler named declares."""
    if not _is_own("sampler", statement):
        return
    if statement["name"] != CONSTRAINED:
        raise Refused(f"sampler {statement['name']} has a rate of its own, and no target")
    options = _take("sampler", statement)
    if any(options.get(key) != target.get(key) for key in ("target", "delta", "order")):
        raise Refused("the target, or the delta or order at which it is one, is not the sampler's option")
    cap = _exact(options, "largest_weight") if "largest_weight" in options else None
    match cap, largest:
        case None, None:
            return
        case Fraction() as most, Fraction() as drawn if drawn <= most <= drawn * (1 + Fraction(1, 2**52)):
            return  # it is rounded down to binary64
    raise Refused("the largest weight is not the sampler's option")


def hold_keyed(mechanism: Statement, sampler: Statement, reports: str, scheme: Statement) -> bool:
    """Hold what is reported, and the scheme, against what the sanitiser and the sampler of keys named declare.

    Whether the sanitiser is one of certdp.
    """
    known = _is_own("mechanism", mechanism)
    if known:
        if mechanism["name"] not in SANITISERS:
            raise Refused(f"mechanism {mechanism['name']} is of records, not of keys")
        _take("mechanism", mechanism)
        if (reports == "keys") != (mechanism["name"] == "pws-keys"):
            raise Refused(f"mechanism {mechanism['name']} does not report {reports}")
    if _is_own("sampler", sampler):
        if sampler["name"] not in KEY_SAMPLERS:
            raise Refused(f"sampler {sampler['name']} is of records, not of keys")
        options = _take("sampler", sampler)
        if scheme.get("name") != sampler["name"] or ("sizes" in scheme) != ("sizes" in options):
            raise Refused(f"the scheme is not that of sampler {sampler['name']} with these options")
    return known
