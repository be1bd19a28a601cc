"""Notions of privacy, each a record of laws with one class of bounds."""

from .notion import Bound, Notion
from .pure import PURE, Pure

__all__ = ["PURE", "Bound", "Notion", "Pure"]
