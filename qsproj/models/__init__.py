"""Trained models that can be stored, loaded and applied to sentences."""
