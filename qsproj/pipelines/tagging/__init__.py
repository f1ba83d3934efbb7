"""Taggers from translations: what links carry over, what types allow, what few tagged sentences teach."""
