"""Answer questions about words and correct sentences in the browser; the model learns from them.

DIR is the folder of `qsproj bootstrap --work DIR`. The command serves a page with 200 parsed sentences of
the raw text (--text), or else of the bitext, the most informative first, and with a list of words and
questions of convention to answer (key w). After each batch, ten sentences or twenty words, the model learns
from all answers in the background, which takes 15 seconds with a New Testament, longer with more, and then
parses the other sentences again; "Save model" does so at once. The page shows whether words or sentences are
expected to gain more, how many words of the last drafts were right, and when to stop.

DIR/annotate.LANGUAGE.conllu holds the sentences; Reviewed=Yes in MISC marks confirmed ones. You need not
finish a sentence: Decided=UPOS,HEAD,DEPREL marks the cells that you corrected or read; the model also learns
from these, and keeps them when it parses the sentence again. It learns from corrected links to a translation,
too, and lemmas or features from sentences in which you change one ("# checked = LEMMA FEATS"). --lexicon
(default: DIR/annotate.LANGUAGE.lexicon.tsv) holds the tags of words, which replace those of the bootstrap's
lexicon. Answers are kept when the command is stopped, except for corrections of the sentence that is open in
the browser; the same command resumes. If another bootstrap in DIR offers other sentences, they take the place
of those without an answer. DIR/annotate.LANGUAGE.model is the model of the page; -o is written when there is
no such file, and after each training.
"""

import argparse
from itertools import chain
from pathlib import Path

from qsproj.cli.command_parser import say
from qsproj.cli.options.declare import Option
from qsproj.cli.options.files import Output, check_files
from qsproj.cli.options.shared import ADDRESS, REVIEWING

OPTIONS = (
    Option("--work DIR", "working folder of qsproj bootstrap", required=True),
    Option("--language CODE", "target language, if DIR holds several"),
    Option("-o, --output MODEL", "where each trained model is written", required=True),
    Option("--lexicon FILE", "where tags of words are written (default: in DIR)", writes=""),
    *REVIEWING,
    *ADDRESS,
)
EXAMPLES = """examples:
  qsproj bootstrap --treebank en.conllu --bitext en.verses wo.verses --paired-by verse \\
      --languages en wo --text wo.txt --work wo.work -o wo.model
  qsproj annotate --work wo.work -o better.wo.model
"""


def run(options: argparse.Namespace) -> None:
    from qsproj.serve.listening import check_installed, listen

    check_installed()  # before the imports that need the extra
    from qsproj.corpus.files import locked, reporting_failure
    from qsproj.errors import UsageError
    from qsproj.models.parser import load_parser
    from qsproj.pipelines.bootstrap.bootstrap import BootstrapCall
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.review.app import Review, serve_review
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.inference import Inference
    from qsproj.serve.review.loop import Loop
    from qsproj.serve.review.retraining import Relearning
    from qsproj.serve.review.session import WORTH, Session
    from qsproj.serve.review.words import WordList, concordance_of

    folder = Path(options.work)
    call = BootstrapCall.load(folder, options.language)
    lexicon = options.lexicon or str(folder / f"annotate.{call.language}.lexicon.tsv")
    decisions = Output(lexicon, replaces=[call.options.lexicon or ""])
    learning = Relearning(call, folder, options.output, lexicon)
    check_files([*call.files, *learning.files], [Output(options.output, model_option="-o"), decisions])
    lock = folder / f"annotate.{call.language}.lock"
    with reporting_failure(lock, "written"):
        held = lock.open("ab")
    with held, listen(options.host, options.port) as listening:
        if not locked(held):
            raise UsageError(f"{folder}: another qsproj annotate uses it; answer on its page, or stop it")
        made = learning.begin(lambda line: say(f"qsproj annotate: {line}"))
        words = WordList(suggestions=learning.suggestions, lexicon=lexicon)
        words.concordance = concordance_of(chain.from_iterable(made.corpora), words.forms)
        session = Session(
            draft=Draft(str(learning.drafts), who=options.reviewer),
            pairs=made.corpora,
            learns_links=True,
            learns_parts=True,
            train_after=options.train_after,
            order=WORTH,
        )
        session.parts = learning.progress
        # Drafts are written in the order of bootstrap --suggest; each training makes a new one.
        session.rank(range(len(session.draft.sentences)))
        batch, model = options.train_after, options.output
        loop = Loop(session=session, words=words, tokens=learning.words, batch=batch, model=model)
        if any(loop.answers):
            _, left = session.trees()
            session.take(learning.drafts_of(session.draft.sentences, left), session.versions())
        inference = ComputePool(Inference(load_parser(learning.model)), processes=1)
        training = ComputePool(learning, processes=1)
        review = Review(session=session, training=training, inference=inference, words=words, loop=loop)
        serve_review(review, listening, host=options.host, seconds=options.seconds, command="annotate")
        say(f"qsproj annotate: {loop.standing()['text']}")
