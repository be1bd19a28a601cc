"""Built-in mechanisms, registered through the entry points that every plugin uses."""
