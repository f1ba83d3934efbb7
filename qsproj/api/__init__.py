"""The functions of ``import qsproj``: each checks what it is given, calls one thing, returns."""
