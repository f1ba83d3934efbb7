"""Taggers from translations: projected tags, type constraints, and a few tagged sentences."""
