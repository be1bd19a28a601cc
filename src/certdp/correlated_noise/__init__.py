"""Noise that is correlated over the steps of a run: strategy matrices, who may take part, and the run."""

from ..accounting.sampling.strategies import CyclicPoisson as CyclicPoisson
from ..accounting.sampling.strategies import MatrixStrategy as MatrixStrategy
from ..accounting.sampling.strategies import Participation as Participation
from ..accounting.sampling.strategies import Strategy as Strategy
from ..accounting.sampling.strategies import ToeplitzStrategy as ToeplitzStrategy
from ..accounting.sampling.strategies import TreeStrategy as TreeStrategy
from ..accounting.sampling.strategies import strategy_of as strategy_of
from ..runs.correlated import CorrelatedRun as CorrelatedRun
from ..runs.correlated_steps import CorrelatedSteps as CorrelatedSteps
