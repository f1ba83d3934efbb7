"""What measures qsproj on real data and writes the tables of docs/: ``python -m scripts.experiments.NAME``."""
