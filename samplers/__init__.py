"""Built-in samplers, registered through the entry points that every plugin uses."""
