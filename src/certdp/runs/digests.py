"""What a run or a plan releases, as one digest: by which a ledger names what was paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..accounting.sampling.domains import NormBall
from ..accounting.stored import canonical, protection_to_json
from ..durable.files import digest_of
from .declared import plugin_to_json
from .plan import Plan
from .run import RunPart


def plan_digest(run: RunPart[Any] | Plan[Any], **further: str | int | None) -> str:
    """SHA-256 of mechanisms and samplers with their constants, how often they release, for whom and in which domain.

    Args:
        run: what is released.
        further: public constants that it does not hold.
    """
    parts = run.parts if isinstance(run, Plan) else (run,)
    return digest_of_options({"parts": list(map(_part, parts)), **further})


def digest_of_options(options: Mapping[str, Any]) -> str:
    """SHA-256 of public constants, by name."""
    return digest_of(canonical(dict(options)).encode("ascii"))


def domain_to_json(domain: NormBall | None) -> list[list[str]] | None:
    """The public constants of a domain by name, each of them exact; None for no domain."""
    return None if domain is None else [[one.name, one.value] for one in domain.assumptions]


def _part(part: RunPart[Any]) -> dict[str, Any]:
    mechanism: Any
    sampler: Any
    mechanism, sampler = part.plugins
    *_, releases = part.described
    return {
        "mechanism": plugin_to_json(mechanism),
        "sampler": plugin_to_json(sampler),
        "releases": releases,
        "domain": domain_to_json(part.domain),
        **protection_to_json(part.relation, part.unit),
    }
