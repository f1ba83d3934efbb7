"""Models that read plain text: tokeniser, tagger and parser in one."""
