"""`certdp plugins`: what there is, a new one, and the conformance kit."""
