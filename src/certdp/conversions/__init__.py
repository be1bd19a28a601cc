"""Conversions between notions of privacy: theorems that turn a guarantee in one into a guarantee in another."""

from ..accounting.conversions import CONVERSIONS as CONVERSIONS
from ..accounting.conversions import Conversion as Conversion
from ..accounting.conversions import Tightness as Tightness
from ..accounting.conversions import best_order as best_order
from ..accounting.conversions import gaussian_to_approximate as gaussian_to_approximate
from ..accounting.conversions import gaussian_to_approximate_at as gaussian_to_approximate_at
from ..accounting.conversions import gaussian_to_renyi as gaussian_to_renyi
from ..accounting.conversions import gaussian_to_zero_concentrated as gaussian_to_zero_concentrated
from ..accounting.conversions import pure_to_approximate as pure_to_approximate
from ..accounting.conversions import pure_to_gaussian as pure_to_gaussian
from ..accounting.conversions import pure_to_renyi as pure_to_renyi
from ..accounting.conversions import pure_to_zero_concentrated as pure_to_zero_concentrated
from ..accounting.conversions import renyi_to_approximate as renyi_to_approximate
from ..accounting.conversions import renyi_to_approximate_at as renyi_to_approximate_at
from ..accounting.conversions import zero_concentrated_to_approximate as zero_concentrated_to_approximate
from ..accounting.conversions import zero_concentrated_to_approximate_at as zero_concentrated_to_approximate_at
from ..accounting.conversions import zero_concentrated_to_renyi as zero_concentrated_to_renyi
