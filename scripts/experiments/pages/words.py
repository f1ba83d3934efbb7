"""What pages on tags and links say in figures, computed from their tables."""

from __future__ import annotations

from collections.abc import Mapping

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import listed, span, verdict

Phrases = Mapping[str, str]

# What was set out to be reached on PUD, in percent of tags, by the number of tagged sentences.
TAGS_AIMED_AT = {
    "0 tagged": {"German": 88, "Spanish": 92, "Swedish": 88.5},
    "100 tagged": {"German": 91.5, "Spanish": 92.5, "Swedish": 91},
}
# What was set out to be had above UDPipe 1 on the mean, in percent of words; words a second, and MB of a model.
ABOVE_UDPIPE = {"UPOS": 0.5, "UFeats": 1.0, "lemmas": 0.5}
RATE_AIMED_AT, SIZE_AIMED_AT = 10_000, 25
# The same of F1 of features, over the attributes that are written.
F1_AIMED_AT = 75


def tagging(tables: Tables) -> Phrases:
    accuracy = tables["accuracy"]
    gains = (
        accuracy.number(name, "+ whole contractions") - accuracy.number(name, "words only")
        for name in accuracy.names
    )
    return {"contractions": f"between {span(gains, sign=True)}".replace(" to ", " and ")}


def joint_tagging(tables: Tables) -> Phrases:
    accuracy, convergence = tables["accuracy"], tables["convergence"]
    first, joint, gold = "tagging first", "joint", "gold tags"

    def made_good(treebank: str) -> str:
        """Return what part of the loss by wrong tags the joint parser gains."""
        lost, gained = (
            accuracy.number(f"{treebank}: test", better, "UAS")
            - accuracy.number(f"{treebank}: test", first, "UAS")
            for better in (gold, joint)
        )
        return f"{100 * gained / lost:.0f}%"

    ratios = (
        accuracy.number(name, joint, "ms a sentence") / accuracy.number(name, first, "ms a sentence")
        for name in dict.fromkeys(accuracy.names)
    )
    return {
        "made good: Turkish": made_good("turkish-imst"),
        "made good: Hungarian": made_good("hungarian-szeged"),
        "time": span(ratios, digits=0),
        "settled": f"{span(convergence.numbers_in('within 30'), digits=0)}%",
    }


def unspaced(tables: Tables) -> Phrases:
    chinese = tables["chinese"]
    alone = chinese.number("PUD alone", "parallel")
    return {
        "with the option": f"{chinese.number('with bitext and the option', 'parallel') / alone:.1f}",
        "with OpenCC": f"{chinese.number('with bitext, the option, and OpenCC', 'parallel') / alone:.1f}",
    }


def tags_through_links(tables: Tables) -> Phrases:
    accuracy = tables["accuracy"]
    through, alone = "through links", "tagged sentences alone"
    gains = [
        accuracy.number(language, through, number) - accuracy.number(language, alone, number)
        for language in dict.fromkeys(accuracy.names)
        for number in accuracy.header[3:]
        if accuracy.has(language, through, number) and accuracy.has(language, alone, number)
    ]

    def aims(number: str) -> str:
        found = (
            (name, aim, accuracy.number(name, through, number)) for name, aim in TAGS_AIMED_AT[number].items()
        )
        return listed([f"{name} {aim:g} ({verdict(one, aim)})" for name, aim, one in found])

    worth, spanish = tables["ingredients"], "spanish-gsd-dev"
    deaf = worth.number("types alone, in one round", spanish) - worth.number("as it is", spanish)
    return {
        "gains": span(gains, sign=True),
        "types alone": f"{deaf:+.1f}",
        **{f"aims: {number}": aims(number) for number in TAGS_AIMED_AT},
    }


def morphology(tables: Tables) -> Phrases:
    test = tables["test"]
    measured = [name for name in test.names if test.has(name, "UDPipe 1 UPOS")]
    gains = {
        column: [
            test.number(name, f"qsproj {column}") - test.number(name, f"UDPipe 1 {column}")
            for name in measured
        ]
        for column in ("UPOS", "UFeats", "lemmas")
    }
    means = [sum(gain) / len(gain) for gain in gains.values()]
    aims = [
        f"{column} {aim:+.1f} ({verdict(mean, aim)})"
        for (column, aim), mean in zip(ABOVE_UDPIPE.items(), means, strict=True)
    ]
    below = [
        f"{column} of {name} ({gain:+.2f})"
        for column, of_names in gains.items()
        for name, gain in zip(measured, of_names, strict=True)
        if gain < 0.0
    ]
    loaded, whole = (test.numbers_in(head) for head in ("words/s", "words/s, whole command"))
    largest = max(test.numbers_in("MB"))
    return {
        **{column: span(gain, sign=True) for column, gain in gains.items()},
        "aims": listed(aims),
        "below": listed(below) if below else "none",
        "rate aim": f"{RATE_AIMED_AT:,}",
        "fast": str(sum(rate >= RATE_AIMED_AT for rate in loaded)),
        "fast commands": str(sum(rate >= RATE_AIMED_AT for rate in whole)),
        "treebanks": str(len(test.names)),
        "size aim": str(SIZE_AIMED_AT),
        "largest": f"{largest:.1f}",
        "count": str(len(measured)),
        "means": " / ".join(f"{mean:+.1f}" for mean in means),
    }


def features_through_links(tables: Tables) -> Phrases:
    overall, attributes = tables["overall"], tables["attributes"]
    pud = {name: overall.number(name, "F1, own tags") for name in overall.names if name.startswith("pud")}
    told = {name: overall.number(name, "F1 of what the file tells, own tags") for name in pud}
    aimed, of_told = (
        [f"{name} {one:.1f} ({verdict(one, F1_AIMED_AT)})" for name, one in found.items()]
        for found in (pud, told)
    )
    precisions = {
        row[:2]: attributes.number(*row[:2], "precision, own tags")
        for row in attributes.rows
        if row[0] in ("german-gsd-dev", "spanish-gsd-dev", "swedish-talbanken-dev")
    }
    (file, attribute), least = min(precisions.items(), key=lambda item: item[1])
    return {
        "pud": listed(aimed),
        "told": listed(of_told),
        "aim": f"{F1_AIMED_AT}",
        "least": f"{least:.1f} ({attribute}, {file})",
    }
