"""Sentences to and from what other libraries hold, each imported when it is asked for."""
