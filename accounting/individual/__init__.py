"""Individual accounting: what a run of sampled Gaussian releases loses about each record apart.

The rate and the shift of a record may depend on that record, on public constants and, under a filter, on values
released before; never on other records. What is computed here is private: it is typed so, and for the data's owner.
"""
