"""Word aligners and symmetrisation."""
