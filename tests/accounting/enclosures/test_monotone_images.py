"""Images under monotone functions that are enclosed widely at each point hold every value that they may have."""

from __future__ import annotations

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.enclosures._monotone import decreasing_image, increasing_image
from certdp.accounting.enclosures.corners import between_corners, between_low_and_high


def widely(x: Enclosure) -> Enclosure:
    """x + 1, from 1/8 below to 1/4 above."""
    return (x + 1) + Enclosure.between("-1/8", "1/4")


def test_an_image_reaches_to_the_outer_end_at_either_side() -> None:
    assert increasing_image(Enclosure.between(2, 5), widely) == Enclosure.between("23/8", "25/4")
    assert decreasing_image(Enclosure.between(2, 5), lambda x: -widely(x)) == Enclosure.between("-25/4", "-23/8")
    assert increasing_image(Enclosure.of(2), widely) == Enclosure.between("23/8", "13/4")


def test_an_image_of_two_has_the_precision_of_the_finer() -> None:
    coarse, fine = Enclosure.of("1/3", precision=40), Enclosure.of("1/7", precision=200)
    for one, other in ((coarse, fine), (fine, coarse)):
        assert between_corners(lambda a, b: a / (b + 1), rising=one, falling=other).precision == 200
        assert between_low_and_high(lambda a, b: a + b, one, other).precision == 200
