"""Relations of both sides of a pair, decided together."""
