"""What ``import qsproj`` offers beside the types: it checks what it is given, calls one thing, returns."""
