"""A browser page for reviewing and correcting the trees of a draft."""
