"""Training by importance-sampled DP-SGD (DPIS) and by DP-SGD, within a budget that no run exceeds."""
