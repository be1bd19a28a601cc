"""What the checker calls that on which proofs rest: such a name states what a proof uses, or is refused."""

import re
from typing import Final

from .likeness import reduced

REAL_VALUED_NOISE: Final = ("real-valued noise", "noise and the noisy result are rounded to binary64")
CLIPPED_RECORDS: Final = (
    "clipping",
    "every record is clipped to the norm bound to which the noise multiplier is relative",
)
CONDITIONS: Final = (REAL_VALUED_NOISE, CLIPPED_RECORDS)
"""Of mechanisms: whoever states one as it stands here promises less, whether or not the proof needs it."""
LATER_PARAMETERS: Final = "parameters of later releases"
OF_SELECTION: Final = (
    "how often the run is repeated is drawn apart from everything, and not told",
    "the score of an output",
)
"""What is assumed where the best of several runs is told, and nowhere else."""

_NAMES: Final = frozenset(
    reduced(name)
    for name in (
        *(name for name, _ in CONDITIONS),
        *OF_SELECTION,
        LATER_PARAMETERS,
        "norm",
        "radius",
        "dimension",
        "records",
        "number of records",
        "least number of records",
        "largest number of records",
        "least share of answers that are clones",
        "releases",
        "releases, each on a fresh sample with coins of its own",
        "released cost",
        "released delta",
        "relative rounding of probability and weight",
        "strata",
        "strategy",
        "participation of a record",
        "group size",
        "most records of one user",
        "each record of the matrix is one element",
        "each user contributes at most so many elements in all",
        "unit is an element",
        "coins of each key",
        "largest frequency",
        "a key of more occurrences counts as having",
    )
)
_ROLES: Final = tuple(map(reduced, ("mechanism", "sampler")))
_EVIDENCE: Final = tuple(reduced(f"evidence of {role}") for role in ("mechanism", "sampler"))
_RELEASED: Final = reduced("was released")
_OF_COSTS: Final = re.compile(r"released parameter [1-9][0-9]*: ")
_PLACES: Final = re.compile(r"(\s*part\s*[0-9]+\s*:)*", re.IGNORECASE)


def is_of_releases(name: str) -> bool:
    """Whether an assumption begins as those do on which the releases of parameters rest themselves."""
    return _OF_COSTS.match(name) is not None


def is_of_proofs(name: str) -> bool:
    """Whether an assumption has a name that proofs use, of a part or of the whole, or one that reads like it."""
    if is_of_releases(name):
        return False
    name = _PLACES.sub("", name, count=1)
    whole, holder = reduced(name), reduced(name.partition(".")[0]) if "." in name else ""
    first = reduced(" ".join(name.split()[:3]))
    return whole in _NAMES or holder in _ROLES or first in _EVIDENCE or whole.endswith(_RELEASED)
