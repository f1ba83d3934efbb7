"""From a treebank and a bitext to a parser of another language: one file a method."""
