"""What a step of DPIS costs, and how a budget is spread over epochs (DPIS Sections 3 and 4)."""
