"""First-order parsers whose arcs have hidden clusters, which are summed out."""
