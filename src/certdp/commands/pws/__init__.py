"""`certdp pws`: private weighted sampling of keys."""
