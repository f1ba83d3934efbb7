"""Experiments on real data, whose figures make the pages of docs/results: ``python -m scripts.experiments``."""
