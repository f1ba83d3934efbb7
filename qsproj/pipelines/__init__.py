"""The jobs: each a function from files or streams to files or streams."""
