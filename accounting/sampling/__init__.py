"""Records, their norms and weights, how they are drawn, and what a release then loses about them."""
