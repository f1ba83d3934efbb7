"""The first-order parser: scores of arcs, exact tree inference, relations."""
