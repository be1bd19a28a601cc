"""Weighted sampling of keys: sanitisers of keys and frequencies, and histograms."""
