"""Annotation styles: definition, detection and rule-based conversion."""
