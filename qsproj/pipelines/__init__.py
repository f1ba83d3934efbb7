"""Pipelines: functions from files or streams to files or streams."""
