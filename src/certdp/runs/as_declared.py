"""What proven lower ends are about: the mechanism as declared, which a release may fall short of."""

from __future__ import annotations

from typing import Any

from ..accounting.derivation import REAL_VALUED_NOISE
from ..verification.certificates.plugin_statements import is_own
from .plan import Plan
from .run import Run, RunPart

AS_DECLARED = "of the mechanism as declared; what its release cuts to a grid of its own may lose less, never more"
"""What a lower end is about where a run is released: real sums, say, put on a grid."""


def lower_ends_of(run: Run[Any]) -> str | None:
    """Say what lower ends of a run are about, in words; None where they are about what is released, bit for bit.

    So they are of noise on a lattice and of responses over categories, which certdp draws exactly. Records in sums with
    real-valued noise are put on a grid, of which a coarse one makes them all 0; and what another plugin or tool
    releases is not known.
    """
    parts = run.parts if isinstance(run, Plan) else (run,)
    return None if all(map(_released_as_declared, parts)) else AS_DECLARED


def _released_as_declared(part: Run[Any]) -> bool:
    if REAL_VALUED_NOISE in part.derivation.assumptions:
        return False
    if not isinstance(part, RunPart):
        return True
    mechanism = type(part.plugins[0])
    return is_own(mechanism) and not hasattr(mechanism, "grids")
