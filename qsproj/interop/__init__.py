"""Conversion of sentences to and from other libraries, each imported on first use."""
