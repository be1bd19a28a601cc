"""Fixed features of images: a scattering network (Oyallon, Mallat 2015), as DP-SGD-HF and DPIS train on (extra
`scattering`).

Its filters are wavelets, not learned. What comes out for an image is a function of that image alone: nothing is
measured on the data, so that features cost no budget and change no guarantee. The same holds of their scale: in place
of means and variances of the data, which would have to be paid for, groups of channels are brought to mean 0 and
variance 1 within each image (group normalisation, as Tramèr, Boneh 2021 choose without a budget for it).
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidValue
from .models.images import ImageShape
from .models.labelled import LabelledData

_ANGLES = 8
_GROUP = 3  # channels that share a mean and a variance
_SMALLEST = 1e-5  # added to variances
_IMAGES = 64  # at a time


def _at_least_one(_: object, attribute: Any, value: int) -> None:
    whole(attribute.name, value, 1)


@final
@frozen
class Scattering:
    """Order 2, eight angles.

    Args:
        shape: of an image, public.
        scales: J ≥ 1: each doubles the width of the largest wavelet and halves the sides of what comes out.

    Raises:
        InvalidValue: for images too small for that many scales.
    """

    shape: ImageShape
    scales: int = field(default=2, validator=_at_least_one)

    def __attrs_post_init__(self) -> None:
        if min(self.shape.height, self.shape.width) < 2**self.scales:
            least = f"images of at least {2**self.scales} × {2**self.scales} for {self.scales} scales"
            raise InvalidValue("image", str(self.shape), least, "Train on the pixels, or from Python with fewer scales")

    @property
    def result(self) -> ImageShape:
        """The shape of what comes out: 1 + 8·J + 32·J·(J − 1) channels for each one of the image."""
        channels = 1 + _ANGLES * self.scales + _ANGLES**2 * self.scales * (self.scales - 1) // 2
        side = 2**self.scales
        return ImageShape(channels * self.shape.channels, self.shape.height // side, self.shape.width // side)

    def check_installed(self) -> None:
        """Find out whether features can be computed here.

        Raises:
            InvalidValue: where kymatio or a SciPy that it works with is missing.
        """
        _scattering_2d()

    def of(self, data: LabelledData) -> LabelledData:
        """The features of each record, in binary32, with its label.

        Raises:
            InvalidValue: for records of another shape, and where kymatio or a SciPy that it works with is missing.
        """
        self.shape.require(data.columns)
        network = _scattering_2d()(J=self.scales, shape=(self.shape.height, self.shape.width), L=_ANGLES)
        features = np.empty((len(data), self.result.entries), dtype=np.float32)
        for start in range(0, len(data), _IMAGES):
            chosen = np.arange(start, min(start + _IMAGES, len(data)))
            given, _ = data.rows(chosen)
            images = given.reshape(-1, self.shape.channels, self.shape.height, self.shape.width)
            with np.errstate(all="ignore"):  # NaN and infinities stay with their image, which training drops
                features[chosen] = _normalised(network(images)).reshape(len(chosen), -1)
        return LabelledData(features=features, labels=data.labels)


def _normalised(found: NDArray[Any]) -> NDArray[Any]:
    """Mean 0 and variance 1 within each image, for each group of channels of each channel of the image.

    Args:
        found: (images, channels of an image, channels of the network, height, width).
    """
    for first in range(0, found.shape[2], _GROUP):
        group = found[:, :, first : first + _GROUP]
        group -= group.mean(axis=(2, 3, 4), keepdims=True)
        group /= np.sqrt(group.var(axis=(2, 3, 4), keepdims=True) + _SMALLEST)
    return found


def _scattering_2d() -> Any:
    try:
        from kymatio.numpy import Scattering2D  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        remedy = "pip install 'certdp[scattering]', which also takes a SciPy that kymatio works with"
        raise InvalidValue("features", "scattering", f"an installation with kymatio ({error})", remedy) from None
    return Scattering2D
