"""Lemmas, features and language-specific tags of words whose UPOS is known."""
