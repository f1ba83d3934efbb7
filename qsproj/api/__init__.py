"""The public functions of ``import qsproj``: each checks its arguments and calls one function."""
