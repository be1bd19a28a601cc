# pyright: reportMissingImports=false
"""Modules under which the gradient of a record is not that record's own, and what to take in their place."""

from __future__ import annotations

from torch import nn

from ...accounting.errors import InvalidValue

_REFUSED: dict[type[nn.Module], tuple[str, str]] = {
    nn.modules.batchnorm._BatchNorm: ("it mixes records", "Take torch.nn.GroupNorm or torch.nn.LayerNorm"),
    nn.modules.batchnorm._LazyNormBase: ("it mixes records", "Take torch.nn.GroupNorm or torch.nn.LayerNorm"),
    nn.LSTM: ("PyTorch fuses it, which hides gradients per record", "Take certdp.dpis.torch.Lstm, with its parameters"),
    nn.GRU: ("PyTorch fuses it, which hides gradients per record", "Take certdp.dpis.torch.Gru, with its parameters"),
    nn.RNN: ("PyTorch fuses it, which hides gradients per record", "Take certdp.dpis.torch.Gru or Lstm"),
}
_DROPOUT = nn.modules.dropout._DropoutNd


def refuse_mixing(model: nn.Module) -> None:
    """Check each module of a model.

    Raises:
        InvalidValue: for one that mixes records, keeps statistics of them, or draws random numbers.
    """
    for name, module in model.named_modules():
        shown = f"{name or 'the model'}: {type(module).__name__}"
        for kind, (reason, remedy) in _REFUSED.items():
            if isinstance(module, kind):
                raise InvalidValue("model", shown, f"another layer: {reason}", remedy)
        if getattr(module, "track_running_stats", False):
            remedy = "Set track_running_stats=False, or take torch.nn.GroupNorm"
            raise InvalidValue("model", shown, "a layer without statistics of the records", remedy)
        if isinstance(module, _DROPOUT) and module.training and module.p > 0:
            raise InvalidValue("model", shown, "a layer that draws nothing", "Leave it out, or call its eval()")
