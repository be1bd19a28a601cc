"""The misprints and gaps of the papers, and the page that lists them."""
