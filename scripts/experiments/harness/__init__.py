"""Shared parts of all experiments: data, builds, stored figures, tables and pages."""
