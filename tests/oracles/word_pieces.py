"""Probabilities of words from those of their pieces, a word pair at a time, plain Python."""


def word_links(table, origins, generated):
    """Return the link probabilities of words.

    ``table[i][j]``: generated piece j comes from piece i. ``origins`` and ``generated``: for each piece the
    word that it belongs to.
    """
    result = []
    for origin in range(max(origins) + 1):
        row = []
        for word in range(max(generated) + 1):
            surest = 0.0
            for j, owner in enumerate(generated):
                if owner == word:
                    comes = sum(table[i][j] for i, other in enumerate(origins) if other == origin)
                    surest = max(surest, comes)
            row.append(min(surest, 1.0))
        result.append(row)
    return result
