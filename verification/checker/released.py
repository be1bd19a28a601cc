"""Parameters that were released privately: a bound holds for every value that could have come out, or is refused.

A certificate names such a parameter and the values that it may take, in a public range or any. What is proven is
proven at the value stated. It covers the others where the value stated is the end of the range that costs most, or
where the bound looks at that parameter nowhere. Laplace, normal and discrete Laplace noise of a larger scale is the
smaller one processed further. Discrete Gaussian noise is not, and may lose more: δ(2) of one step is 0.105 at scale
1/2 and 0.153 at 0.65. But no proof here is by its law: it is bounded by ρ = k²/2σ², or by normal noise as much apart
and margins that are sums of powers of 1/σ (`approximate/lattice.py`). All of these fall with the scale, so that the
bound at the lower end is one at every larger scale. Who adds a proof by the law itself is to take the row out.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from .shapes import rational
from .verdict import Refused
from .vocabulary import is_of_releases

_SUFFIX: Final = " was released"
_ANY: Final = "any value"
_WITHIN: Final = re.compile(r"within (\S+) to (\S+)")
_RADIUS: Final = "domain.radius"


def is_of_release(name: str) -> bool:
    """Whether an assumption says that a parameter was released."""
    return name.endswith(_SUFFIX) and not is_of_releases(name)


class Worst(Enum):
    """The value of a released parameter that costs most, whatever the others are."""

    LOWEST = "the lower end"
    HIGHEST = "the upper end"
    NONE = "any value inside"


_OF_MECHANISMS: Final[Mapping[str, Mapping[str, Worst]]] = {
    "laplace-sum": {"scale": Worst.LOWEST},
    "count": {"scale": Worst.LOWEST},
    "lp-sum": {"scale": Worst.LOWEST},
    "discrete-laplace": {"scale": Worst.LOWEST},
    "discrete-gaussian": {"scale": Worst.LOWEST},
    "randomised-response": {"noise": Worst.LOWEST, "epsilon": Worst.HIGHEST},
    "quantile-choice": {"scale": Worst.LOWEST, "shift": Worst.NONE},
    "report-noisy-max": {"scale": Worst.LOWEST},
    "above-threshold": {
        "threshold": Worst.NONE,
        "threshold_scale": Worst.LOWEST,
        "scale": Worst.LOWEST,
        "answers": Worst.HIGHEST,
    },
    "gaussian-sum": {"scale": Worst.LOWEST, "noise_multiplier": Worst.LOWEST},
    "lloyd": {
        "clusters": Worst.NONE,
        "scale_sum": Worst.LOWEST,
        "scale_count": Worst.LOWEST,
        "iterations": Worst.HIGHEST,
    },
    "dpis-step": {"noise_multiplier": Worst.LOWEST, "size": Worst.LOWEST, "norm_sum": Worst.HIGHEST},
}
_OF_SAMPLERS: Final[Mapping[str, Mapping[str, Worst]]] = {"coreset": {"radius": Worst.NONE}}
_UNWEIGHTED: Final[Mapping[str, Mapping[str, Worst]]] = {"poisson": {"rate": Worst.HIGHEST}}
"""A higher rate costs more where no weight falls with it."""


def released_assumed(
    assumptions: list[dict[str, str]],
    holders: Mapping[str, Mapping[str, Any]],
    *,
    indifferent: frozenset[str] = frozenset(),
    domain: Mapping[str, Any] | None,
    norms_matter: bool,
    cost: bool,
) -> dict[str, str]:
    """Hold what is said of released parameters against what the proof covers; what is assumed of them.

    Args:
        assumptions: as stated.
        holders: what states a mechanism and a sampler, by the prefix of its assumptions.
        indifferent: the roles whose parameters the bound does not depend on.
        domain: the public domain, or None.
        norms_matter: whether the bound depends on the domain.
        cost: whether releases of parameters cost anything.
    """
    stated = {item["name"]: item["value"] for item in assumptions if is_of_release(item["name"])}
    assumed: dict[str, str] = {}
    for prefix, holder in holders.items():
        for role in ("mechanism", "sampler"):
            worst = _table(role, holder[role])
            for option, value in holder[role]["options"].items():
                name = f"{prefix}{role}.{option}{_SUFFIX}"
                if name in stated:
                    _hold(name, stated[name], value, Worst.NONE if role in indifferent else worst.get(option))
                    assumed[name] = stated[name]
    name = f"{_RADIUS}{_SUFFIX}"
    if name in stated and domain is not None:
        _hold(name, stated[name], domain["radius"], Worst.HIGHEST if norms_matter else Worst.NONE)
        assumed[name] = stated[name]
    if unknown := sorted(stated.keys() - assumed.keys()):
        raise Refused(f"the assumption {unknown[0]!a} is about no parameter of this certificate")
    if cost and not assumed:
        raise Refused("releases of parameters cost something, and no assumption says which were released")
    return assumed


def _table(role: str, part: Mapping[str, Any]) -> Mapping[str, Worst]:
    """Give the values that cost most, for a plugin of certdp; of others nothing is known."""
    if part["distribution"] != "certdp":
        return {}
    if role == "mechanism":
        ball = {"radius": Worst.NONE} if part["name"] == "lloyd" and "scale_count" in part["options"] else {}
        return {**_OF_MECHANISMS.get(part["name"], {}), **ball}
    unweighted = _UNWEIGHTED if part["options"].get("weighted") == "false" else {}
    return {**_OF_SAMPLERS.get(part["name"], {}), **unweighted.get(part["name"], {})}


def _hold(name: str, said: str, value: str, worst: Worst | None) -> None:
    if said == _ANY:
        if worst is not Worst.NONE:
            raise Refused(f"the assumption {name!a}: the bound moves with it, so it needs a public range")
        return
    match = _WITHIN.fullmatch(said)
    if match is None:
        raise Refused(f"the assumption {name!a} says {_ANY!a}, or 'within LOW to HIGH'")
    low, high = (rational(end, name) for end in match.groups())
    if low > high:
        raise Refused(f"the assumption {name!a}: the ends of the range are in the wrong order")
    if worst is Worst.NONE or (low == high and rational(value, name) == low):
        return
    if worst is None:
        raise Refused(f"the assumption {name!a}: what is proven at one value is not known to cover others")
    if rational(value, name) != (low if worst is Worst.LOWEST else high):
        raise Refused(f"the assumption {name!a}: the value stated is not {worst.value} of the range, which costs most")
