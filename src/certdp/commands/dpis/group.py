"""The group `certdp dpis`: training by importance-sampled DP-SGD."""

from __future__ import annotations

from ..groups import Listed, group

command = group(
    {
        "plan": Listed("dpis.plan", "How much noise a run needs by epoch, and what it costs."),
        "train": Listed("dpis.train", "Train a classifier within (ε, δ) per record."),
    },
    help="Importance-sampled DP-SGD (DPIS) and DP-SGD, within a budget (ε, δ) per record that no run exceeds.",
)
