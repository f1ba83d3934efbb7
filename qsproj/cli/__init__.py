"""The command line: main.py and one file for each command."""
