"""Notions of privacy, each with the laws of its bounds, and three-valued truth about them."""

from ..accounting.enclosures import Truth as Truth
from ..accounting.enclosures import decide as decide
from ..accounting.notions import APPROXIMATE as APPROXIMATE
from ..accounting.notions import GAUSSIAN_DP as GAUSSIAN_DP
from ..accounting.notions import PURE as PURE
from ..accounting.notions import RENYI as RENYI
from ..accounting.notions import ZERO_CONCENTRATED as ZERO_CONCENTRATED
from ..accounting.notions import Approximate as Approximate
from ..accounting.notions import GaussianDP as GaussianDP
from ..accounting.notions import Notion as Notion
from ..accounting.notions import Pure as Pure
from ..accounting.notions import Renyi as Renyi
from ..accounting.notions import ZeroConcentrated as ZeroConcentrated
