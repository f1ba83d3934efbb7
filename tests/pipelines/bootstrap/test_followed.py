"""How far evidence is followed where the text to be parsed is far from the bitext."""

from qsproj.pipelines.bootstrap.bootstrap import followed
from qsproj.pipelines.bootstrap.stages import FAR_APART
from qsproj.pipelines.projection.method_options import SoftProjectionOptions
from qsproj.pipelines.projection.soft_calibration import USUAL_SHARE


def test_evidence_is_followed_less_where_most_words_are_unknown():
    usual = SoftProjectionOptions()
    assert followed(usual, 0.0) == followed(usual, FAR_APART) == usual
    assert followed(usual, FAR_APART + 0.01).share == USUAL_SHARE
    told = SoftProjectionOptions(share=1.0)
    assert followed(told, 1.0) == told
