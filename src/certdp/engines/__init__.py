"""Releases and weights of data that engines hold: `certdp.engines.dask`, and `certdp.engines.spark`.

Engines read, group by unit or key, and run tasks; what a task does here gives the same bytes whenever it is run again.
"""
