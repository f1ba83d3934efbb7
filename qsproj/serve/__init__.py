"""Servers: models behind a REST API, and a page to review trees in the browser."""
