"""Inference over dependency trees: one interface, two modules (projective, nonprojective)."""
