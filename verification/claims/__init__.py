"""The claims that certdp checks: statements of the papers against independent oracles."""
