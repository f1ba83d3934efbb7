"""Servers: a REST API for models, and a browser page for reviewing trees."""
