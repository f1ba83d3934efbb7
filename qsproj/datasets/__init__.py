"""Treebanks and bitexts by name: catalogue, download, verification and cache."""
