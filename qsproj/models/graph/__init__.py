"""The second-order parser: factors over pairs of arcs, by belief propagation."""
