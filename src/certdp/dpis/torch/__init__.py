# pyright: reportMissingImports=false
"""Training PyTorch models with DPIS and DP-SGD (extra `torch`); nothing else of certdp imports PyTorch.

`TorchModel` joins a module, a loss per record, data and an optimiser of `torch.optim` to what `certdp.dpis.engine`
trains. Gradients of single records are formed only where that is the cheaper way to their norms.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("certdp.dpis.torch needs PyTorch: pip install 'certdp[torch]'", name="torch") from error

from .batches import RunBatches, run_loader
from .classifiers import activation_modules, classifier
from .labelled_records import ImageRecords, WordRecords
from .networks import ReviewClassifier, TemperedSigmoid, scattering_cnn, small_cnn
from .record_data import DatasetRecords, RecordData, TensorRecords
from .recurrent import Gru, Lstm
from .torch_model import Loss, TorchModel

__all__ = [
    "DatasetRecords",
    "Gru",
    "ImageRecords",
    "Loss",
    "Lstm",
    "RecordData",
    "ReviewClassifier",
    "RunBatches",
    "TemperedSigmoid",
    "TensorRecords",
    "TorchModel",
    "WordRecords",
    "activation_modules",
    "classifier",
    "run_loader",
    "scattering_cnn",
    "small_cnn",
]
