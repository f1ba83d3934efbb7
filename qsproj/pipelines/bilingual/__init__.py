"""Joint parsing and alignment of both sides of a bitext."""
