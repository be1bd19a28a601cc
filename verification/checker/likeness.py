"""Names that could be taken for one another: they differ in case, marks and letters of one look, or by one slip."""

import re
from typing import Final

_LOOKS: Final = str.maketrans("015i", "olsl")
"""Digits and letters that look like another letter, in lower case."""


def reduced(name: str) -> str:
    """Give what is read of an ASCII name at a glance: its letters and digits, those of one look alike."""
    letters = re.sub("[^a-z0-9]", "", name.lower()).translate(_LOOKS)
    return letters.replace("rn", "m").replace("vv", "w")


def within_a_slip(one: str, other: str) -> bool:
    """Whether at most one letter is added, left out or changed, or two neighbours are exchanged."""
    if abs(len(one) - len(other)) > 1:
        return False
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1])
