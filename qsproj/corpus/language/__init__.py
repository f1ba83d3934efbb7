"""Facts about languages that need no training data."""
