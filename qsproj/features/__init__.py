"""From sentences to feature arrays: templates, hashing."""
