"""certdp: certified accounting for differential privacy.

A mechanism and a sampler compose to a certified ψ-profile: for every record, a proven bound on what the sampled
mechanism loses about it.

>>> import certdp
>>> run = certdp.SampledMechanism(
...     mechanism=certdp.LaplaceSum(scale=certdp.Public(1)),
...     sampler=certdp.Importance(rate=certdp.Public("0.3")),
... )
>>> domain = certdp.NormBall(norm=run.norm, radius=certdp.Public(5))
>>> print(run.guarantee(domain).bound)
ε ≤ 5.0000000000000115
>>> print(certdp.check(run.certificate(domain)).outcome.value)
holds

Names are loaded when they are first used, so that importing certdp is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .accounting.amplification import (
        psi as psi,
    )
    from .accounting.amplification import (
        psi_add as psi_add,
    )
    from .accounting.clipping import (
        Outside as Outside,
    )
    from .accounting.derivation import (
        Assumption as Assumption,
    )
    from .accounting.derivation import (
        Derivation as Derivation,
    )
    from .accounting.derivation import (
        Evidence as Evidence,
    )
    from .accounting.derivation import (
        Theorem as Theorem,
    )
    from .accounting.domains import (
        NormBall as NormBall,
    )
    from .accounting.enclosures import (
        Enclosure as Enclosure,
    )
    from .accounting.enclosures import (
        Truth as Truth,
    )
    from .accounting.enclosures import (
        decide as decide,
    )
    from .accounting.errors import (
        CertdpError as CertdpError,
    )
    from .accounting.errors import (
        InvalidType as InvalidType,
    )
    from .accounting.errors import (
        InvalidValue as InvalidValue,
    )
    from .accounting.errors import (
        OutsideDomain as OutsideDomain,
    )
    from .accounting.errors import (
        Undecided as Undecided,
    )
    from .accounting.expressions import (
        Expression as Expression,
    )
    from .accounting.expressions import (
        W as W,
    )
    from .accounting.expressions import (
        norm as norm,
    )
    from .accounting.guarantees import (
        Guarantee as Guarantee,
    )
    from .accounting.guarantees import (
        compose as compose,
    )
    from .accounting.guarantees import (
        for_groups as for_groups,
    )
    from .accounting.importance_sampling import (
        theorem_6 as theorem_6,
    )
    from .accounting.losses import (
        PureLoss as PureLoss,
    )
    from .accounting.losses import (
        RenyiLoss as RenyiLoss,
    )
    from .accounting.norms import (
        Norm as Norm,
    )
    from .accounting.notions import (
        PURE as PURE,
    )
    from .accounting.notions import (
        Notion as Notion,
    )
    from .accounting.notions import (
        Pure as Pure,
    )
    from .accounting.profiles import (
        PureProfile as PureProfile,
    )
    from .accounting.profiles import (
        compose_profiles as compose_profiles,
    )
    from .accounting.provenance import (
        Private as Private,
    )
    from .accounting.provenance import (
        PrivateValue as PrivateValue,
    )
    from .accounting.provenance import (
        Public as Public,
    )
    from .accounting.provenance import (
        Released as Released,
    )
    from .accounting.provenance import (
        publish as publish,
    )
    from .accounting.relations import (
        ADD_REMOVE as ADD_REMOVE,
    )
    from .accounting.relations import (
        ELEMENT as ELEMENT,
    )
    from .accounting.relations import (
        RECORD as RECORD,
    )
    from .accounting.relations import (
        REPLACE as REPLACE,
    )
    from .accounting.relations import (
        AddRemove as AddRemove,
    )
    from .accounting.relations import (
        Element as Element,
    )
    from .accounting.relations import (
        Record as Record,
    )
    from .accounting.relations import (
        Relation as Relation,
    )
    from .accounting.relations import (
        Replace as Replace,
    )
    from .accounting.relations import (
        Unit as Unit,
    )
    from .accounting.relations import (
        User as User,
    )
    from .accounting.sampling import (
        SamplingRate as SamplingRate,
    )
    from .accounting.sampling_gain import (
        Gain as Gain,
    )
    from .accounting.sampling_gain import (
        can_sampling_improve as can_sampling_improve,
    )
    from .accounting.suprema import (
        NoFiniteSupremum as NoFiniteSupremum,
    )
    from .accounting.suprema import (
        Supremum as Supremum,
    )
    from .accounting.suprema import (
        supremum as supremum,
    )
    from .accounting.units import (
        Delta as Delta,
    )
    from .accounting.units import (
        Epsilon as Epsilon,
    )
    from .accounting.units import (
        Order as Order,
    )
    from .accounting.units import (
        Probability as Probability,
    )
    from .accounting.units import (
        Sensitivity as Sensitivity,
    )
    from .accounting.units import (
        Weight as Weight,
    )
    from .data import (
        Reading as Reading,
    )
    from .data import (
        example_records as example_records,
    )
    from .data import (
        read_records as read_records,
    )
    from .mechanisms.count import (
        Count as Count,
    )
    from .mechanisms.laplace_sum import (
        LaplaceSum as LaplaceSum,
    )
    from .plugins.contract import (
        CONTRACT_VERSION as CONTRACT_VERSION,
    )
    from .plugins.contract import (
        About as About,
    )
    from .plugins.contract import (
        Claim as Claim,
    )
    from .plugins.contract import (
        Coins as Coins,
    )
    from .plugins.contract import (
        Mechanism as Mechanism,
    )
    from .plugins.contract import (
        Sampler as Sampler,
    )
    from .plugins.contract import (
        WeightedSample as WeightedSample,
    )
    from .plugins.contract import (
        draw as draw,
    )
    from .plugins.registry import (
        PluginError as PluginError,
    )
    from .plugins.registry import (
        Registry as Registry,
    )
    from .plugins.registry import (
        Role as Role,
    )
    from .sampled import (
        Measurement as Measurement,
    )
    from .sampled import (
        NoPureValue as NoPureValue,
    )
    from .sampled import (
        SampledMechanism as SampledMechanism,
    )
    from .samplers.full import (
        Full as Full,
    )
    from .samplers.importance import (
        Importance as Importance,
    )
    from .samplers.poisson import (
        Poisson as Poisson,
    )
    from .verification.checker import (
        Verdict as Verdict,
    )
    from .verification.checker import (
        check as check,
    )

_HOMES = {
    ".accounting.amplification": (
        "psi",
        "psi_add",
    ),
    ".accounting.importance_sampling": ("theorem_6",),
    ".accounting.clipping": ("Outside",),
    ".accounting.derivation": (
        "Assumption",
        "Derivation",
        "Evidence",
        "Theorem",
    ),
    ".accounting.domains": ("NormBall",),
    ".accounting.enclosures": (
        "Enclosure",
        "Truth",
        "decide",
    ),
    ".accounting.errors": (
        "CertdpError",
        "InvalidType",
        "InvalidValue",
        "OutsideDomain",
        "Undecided",
    ),
    ".accounting.expressions": (
        "Expression",
        "W",
        "norm",
    ),
    ".accounting.guarantees": (
        "Guarantee",
        "compose",
        "for_groups",
    ),
    ".accounting.losses": (
        "PureLoss",
        "RenyiLoss",
    ),
    ".accounting.norms": ("Norm",),
    ".accounting.notions": (
        "PURE",
        "Notion",
        "Pure",
    ),
    ".accounting.profiles": (
        "PureProfile",
        "compose_profiles",
    ),
    ".accounting.provenance": (
        "Private",
        "PrivateValue",
        "Public",
        "Released",
        "publish",
    ),
    ".accounting.relations": (
        "ADD_REMOVE",
        "ELEMENT",
        "RECORD",
        "REPLACE",
        "AddRemove",
        "Element",
        "Record",
        "Relation",
        "Replace",
        "Unit",
        "User",
    ),
    ".accounting.sampling": ("SamplingRate",),
    ".accounting.sampling_gain": (
        "Gain",
        "can_sampling_improve",
    ),
    ".accounting.suprema": (
        "NoFiniteSupremum",
        "Supremum",
        "supremum",
    ),
    ".accounting.units": (
        "Delta",
        "Epsilon",
        "Order",
        "Probability",
        "Sensitivity",
        "Weight",
    ),
    ".data": (
        "Reading",
        "example_records",
        "read_records",
    ),
    ".mechanisms.count": ("Count",),
    ".mechanisms.laplace_sum": ("LaplaceSum",),
    ".plugins.contract": (
        "CONTRACT_VERSION",
        "About",
        "Claim",
        "Coins",
        "Mechanism",
        "Sampler",
        "WeightedSample",
        "draw",
    ),
    ".plugins.registry": (
        "PluginError",
        "Registry",
        "Role",
    ),
    ".sampled": (
        "Measurement",
        "NoPureValue",
        "SampledMechanism",
    ),
    ".samplers.full": ("Full",),
    ".samplers.importance": ("Importance",),
    ".samplers.poisson": ("Poisson",),
    ".verification.checker": (
        "Verdict",
        "check",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ADD_REMOVE",
    "CONTRACT_VERSION",
    "ELEMENT",
    "PURE",
    "RECORD",
    "REPLACE",
    "About",
    "AddRemove",
    "Assumption",
    "CertdpError",
    "Claim",
    "Coins",
    "Count",
    "Delta",
    "Derivation",
    "Element",
    "Enclosure",
    "Epsilon",
    "Evidence",
    "Expression",
    "Full",
    "Gain",
    "Guarantee",
    "Importance",
    "InvalidType",
    "InvalidValue",
    "LaplaceSum",
    "Measurement",
    "Mechanism",
    "NoFiniteSupremum",
    "NoPureValue",
    "Norm",
    "NormBall",
    "Notion",
    "Order",
    "Outside",
    "OutsideDomain",
    "PluginError",
    "Poisson",
    "Private",
    "PrivateValue",
    "Probability",
    "Public",
    "Pure",
    "PureLoss",
    "PureProfile",
    "Reading",
    "Record",
    "Registry",
    "Relation",
    "Released",
    "RenyiLoss",
    "Replace",
    "Role",
    "SampledMechanism",
    "Sampler",
    "SamplingRate",
    "Sensitivity",
    "Supremum",
    "Theorem",
    "Truth",
    "Undecided",
    "Unit",
    "User",
    "Verdict",
    "W",
    "Weight",
    "WeightedSample",
    "can_sampling_improve",
    "check",
    "compose",
    "compose_profiles",
    "decide",
    "draw",
    "example_records",
    "for_groups",
    "norm",
    "psi",
    "psi_add",
    "publish",
    "read_records",
    "supremum",
    "theorem_6",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOME_OF[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
