"""Methods of projection from a treebank and a bitext to a parser of another language, one file each."""
