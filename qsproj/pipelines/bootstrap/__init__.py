"""Staged training of a model for raw text from a bitext and a treebank of its source side."""
