"""What works on both sides of a bitext at once."""
