"""The quasi-synchronous dependency model with valence."""
