"""The first-order parser: arc scores, exact tree inference, relations."""
