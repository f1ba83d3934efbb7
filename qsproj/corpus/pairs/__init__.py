"""Two sides of a text: sentences paired, and the links between their words."""
