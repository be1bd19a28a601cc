"""Reports about claims: numbers that people can read, a page, and a file for continuous integration."""
