"""Feature arrays of sentences: templates and hashing."""
