"""The table of durations is right about a small report."""

from __future__ import annotations

from tests.durations import table

REPORT = """<testsuites><testsuite>
<testcase classname="tests.bp.test_run" name="a" time="1.5"/>
<testcase classname="tests.bp.test_run.TestClass" name="b" time="9">
<properties><property name="processor_seconds" value="0.25"/></properties></testcase>
<testcase classname="tests.test_house" name="c" time="0.5"/>
<testcase classname="tests.test_house" name="d" time="7"><skipped/></testcase>
</testsuite></testsuites>"""


def test_seconds_and_tests_by_file(tmp_path):
    (tmp_path / "now.xml").write_text(REPORT)
    assert table([tmp_path / "now.xml"]).splitlines() == [
        "| file | now, s | tests |",
        "| --- | --: | --: |",
        "| tests/bp/test_run.py | 1.8 | 2 |",
        "| 1 others | 0.5 | 1 |",
        "| all | 2.2 | 3 |",
    ]
