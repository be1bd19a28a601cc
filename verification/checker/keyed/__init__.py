"""Checking releases of sampled keys."""
