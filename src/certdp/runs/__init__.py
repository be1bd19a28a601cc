"""Runs: mechanisms on samples, their plans, adaptive runs, calibration, certificates."""
