"""Factor graphs over boolean and multi-state variables, and belief propagation on them."""
