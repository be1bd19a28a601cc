"""Experiments of the papers, run on the library: seeded, never private, for people who hold the data."""
