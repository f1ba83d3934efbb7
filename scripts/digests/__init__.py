"""Digests of tiny models and of what they write: whether a change of the code changes what comes out."""
