"""`certdp psi`: what one release loses about each record."""
