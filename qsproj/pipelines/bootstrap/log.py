"""Log of a bootstrap, one line for each stage."""

from qsproj.pipelines.bootstrap.workspace import StageResult

# Descriptions of the stages for linguists.
TITLES = {
    "source": "tagger and parser of the source language",
    "words": "both sides cut into words",
    "links": "words of both sides linked",
    "trees": "source side parsed",
    "tagger": "target tagger, learned through the links",
    "tagged": "target side tagged",
    "prior": "parsers of the source treebank, its words translated",
    "parser": "target parser, trained on projected trees",
    "model": "all put into one model",
    "examples": "some target text parsed",
}


def in_short(stage: StageResult) -> str | None:
    """Return the log line of a stage; of several draws only the last has one, the others None."""
    name, _, draw = stage.name.partition(", ")
    kind, _, number = name.partition("-")
    this, _, draws = draw.partition(" of ")
    if this != draws:
        return None
    times = f", {draws} times" if draws else ""
    title = f"{TITLES.get(kind, kind)}{f' ({number})' if number else ''}{times}"
    return f"{title}: {stage.report.line.partition(';')[0]} ({stage.time})"
