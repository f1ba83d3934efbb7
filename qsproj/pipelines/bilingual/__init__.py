"""Parsing and alignment of both sides of a bitext at once."""
