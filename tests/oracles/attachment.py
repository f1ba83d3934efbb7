"""Attachment scores counted word by word, the plain way."""

NO_HEAD = -1


def count_attachments(gold, system, punctuation=True):
    """Return a dict of scores of two lists of sentences, each a list of (tag, head, relation) triples."""
    tokens = right = labelled = universal = complete = sentences = 0
    gold_roots, system_roots = set(), set()
    tagged = right_tags = 0
    for number, (gold_words, system_words) in enumerate(zip(gold, system)):
        scored = errors = 0
        for word, ((tag, head, relation), (found_tag, found, found_relation)) in enumerate(
            zip(gold_words, system_words)
        ):
            if tag != "_" and (punctuation or tag != "PUNCT"):
                tagged += 1
                right_tags += tag == found_tag
            if head == NO_HEAD or (tag == "PUNCT" and not punctuation):
                continue
            scored += 1
            errors += head != found
            right += head == found
            labelled += head == found and relation == found_relation
            universal += head == found and relation.split(":")[0] == found_relation.split(":")[0]
            gold_roots |= {(number, word)} if head == 0 else set()
            system_roots |= {(number, word)} if found == 0 else set()
        tokens += scored
        sentences += scored > 0
        complete += scored > 0 and errors == 0
    return {
        "tokens": tokens,
        "uas": 100 * right / tokens,
        "las": 100 * labelled / tokens,
        "las_no_subtypes": 100 * universal / tokens,
        "upos": 100 * right_tags / tagged,
        "uem": 100 * complete / sentences,
        "root_f1": 200 * len(gold_roots & system_roots) / (len(gold_roots) + len(system_roots)),
    }
