"""What a fresh process finds loaded: the claims, and what they take long to import. Imported by the server of forks."""

import importlib

import hypothesis.internal.conjecture.engine  # noqa: F401  # what a first search would import
import scipy.special  # noqa: F401

from .guarded import GUARDED
from .killing import holding_claims
from .mutants import PACKAGE

holding_claims()
for guarded in GUARDED:
    importlib.import_module(f"{PACKAGE}.{guarded.module}")
