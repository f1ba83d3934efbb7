"""Treebanks and bitexts by name: where they are on the web, fetched, checked and kept."""
