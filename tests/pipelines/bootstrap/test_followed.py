"""How far evidence is followed where the text to be parsed is far from the bitext."""

from qsproj.pipelines.bootstrap.bootstrap import SHARE_OF_FAR_TEXT, evidence_share
from qsproj.pipelines.bootstrap.tagger import FAR_APART
from qsproj.pipelines.projection.projected import SoftProjectionOptions


def test_evidence_is_followed_less_where_most_words_are_unknown():
    usual = SoftProjectionOptions()
    assert evidence_share(usual, 0.0) == evidence_share(usual, FAR_APART) == usual
    assert evidence_share(usual, FAR_APART + 0.01).share == SHARE_OF_FAR_TEXT
    told = SoftProjectionOptions(share=1.0)
    assert evidence_share(told, 1.0) == told
