"""Models that cut text into tokens and words as a treebank does."""
