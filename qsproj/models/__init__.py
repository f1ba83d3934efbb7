"""Trained things that can be stored, loaded and applied to sentences."""
