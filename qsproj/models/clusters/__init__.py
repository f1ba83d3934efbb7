"""First-order parsers with hidden clusters of arcs, which are summed out."""
