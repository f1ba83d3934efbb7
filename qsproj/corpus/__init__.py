"""Sentences, alignments and pairs, and the formats they are read from and written to."""
