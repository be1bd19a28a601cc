"""What a fresh process finds loaded: the claims, and what they take long to import. Imported by the server of forks."""

import importlib

import hypothesis.internal.conjecture.engine  # noqa: F401  # what a first search would import
import scipy.special  # noqa: F401

from .guarded import guarded
from .killing import holding_claims
from .mutants import PACKAGE

holding_claims()
for each in guarded():
    importlib.import_module(f"{PACKAGE}.{each.module}")
