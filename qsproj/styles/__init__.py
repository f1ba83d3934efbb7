"""Annotation styles: what they are, how to tell them, how to convert between them."""
