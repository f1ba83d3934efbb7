"""A page in the browser on which the trees of a draft are reviewed and corrected."""
