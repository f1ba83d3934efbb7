"""Inference over dependency trees: one face, two modules (projective, nonprojective)."""
