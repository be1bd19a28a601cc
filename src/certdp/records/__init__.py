"""What is lost about each record of a data set, for its owner: losses, weights, statistics."""
