"""The pages of docs/: for each a template, the figures it was last made of, and in readings.py what is computed from them."""
