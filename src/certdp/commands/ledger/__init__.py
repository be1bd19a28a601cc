"""The commands of `certdp ledger`: budgets that outlive a process."""
