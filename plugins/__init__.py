"""What a plugin must say (contract) and how plugins are found and validated (registry)."""
