"""Reference models in NumPy, with exact gradients per record."""

from .activations import Activation, Relu, Tanh, TemperedSigmoid
from .images import ImageShape
from .labelled import LabelledData
from .logistic import Logistic
from .mlp import Mlp
from .networks import Factors, Layer, Network
from .record_model import RecordModel
from .trained_network import TrainedNetwork

__all__ = [
    "Activation",
    "Factors",
    "ImageShape",
    "LabelledData",
    "Layer",
    "Logistic",
    "Mlp",
    "Network",
    "RecordModel",
    "Relu",
    "Tanh",
    "TemperedSigmoid",
    "TrainedNetwork",
]
