"""qsproj: project, adapt and jointly parse dependency treebanks across languages and styles."""

__version__ = "0.1.0"
