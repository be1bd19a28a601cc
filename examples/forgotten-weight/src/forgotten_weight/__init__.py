"""A weighted sum whose loss forgets the weight: wrong on purpose, for the conformance kit to reject."""

from .mechanism import ForgottenWeight

__all__ = ["ForgottenWeight"]
