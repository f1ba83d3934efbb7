"""From a bitext and a treebank of one side to a model that reads raw text of the other: stage by stage."""
