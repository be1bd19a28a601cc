"""certdp: certified accounting for differential privacy."""
