"""Sentence pairs of a bitext and their word links."""
