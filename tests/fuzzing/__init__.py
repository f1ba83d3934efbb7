"""Damaged inputs for all commands, and a judge that knows nothing of what they do.

``python -m tests.fuzzing --seconds 600`` goes on for longer than the suite does; with ``--stop``
nothing is damaged, and each run is ended by SIGTERM at some time.
"""
