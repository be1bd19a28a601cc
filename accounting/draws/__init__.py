"""Random words, and noise of a known law made from them."""
