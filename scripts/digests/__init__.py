"""Digests of tiny models and their outputs, which show whether a change of the code changes results."""
