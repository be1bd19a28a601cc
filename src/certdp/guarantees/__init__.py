"""What guarantees are made of: relations, units, provenance, and derivations with their assumptions."""

from ..accounting.derivation import Assumption as Assumption
from ..accounting.derivation import Derivation as Derivation
from ..accounting.derivation import Evidence as Evidence
from ..accounting.derivation import Theorem as Theorem
from ..accounting.provenance import PrivateValue as PrivateValue
from ..accounting.provenance import PublicRange as PublicRange
from ..accounting.provenance import publish as publish
from ..accounting.relations import ZERO_OUT as ZERO_OUT
from ..accounting.relations import AddRemove as AddRemove
from ..accounting.relations import Element as Element
from ..accounting.relations import Record as Record
from ..accounting.relations import Relation as Relation
from ..accounting.relations import Replace as Replace
from ..accounting.relations import Unit as Unit
from ..accounting.relations import ZeroOut as ZeroOut
from ..accounting.sampling.profiles import PureProfile as PureProfile
from ..accounting.sampling.profiles import compose_profiles as compose_profiles
from ..accounting.stored import guarantee_from_json as guarantee_from_json
from ..accounting.stored import guarantee_to_json as guarantee_to_json
from ..runs.declared import NoPureValue as NoPureValue
from ..runs.ex_post import ExPostReading as ExPostReading
