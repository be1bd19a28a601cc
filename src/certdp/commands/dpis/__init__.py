"""`certdp dpis`: models, plans and training."""
