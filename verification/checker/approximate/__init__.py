"""Checking runs of several releases at an (ε, δ)."""
