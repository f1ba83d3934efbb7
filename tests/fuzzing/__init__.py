"""Damaged inputs for all commands, and a judge that knows nothing of what they do.

``python -m tests.fuzzing --seconds 600`` goes on for longer than the suite does.
"""
