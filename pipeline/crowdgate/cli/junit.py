"""A report for build servers: JUnit's XML."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True)
class TestCase:
    """One test case of a JUnit report.

    `failures` are pairs of a short and a long text, one for each failure (none: the case passes); `said` is further
    output.
    """

    __test__ = False
    group: str
    name: str
    file: str
    failures: Sequence[tuple[str, str]] = ()
    said: Sequence[str] = ()


def junit(cases: Sequence[TestCase]) -> bytes:
    """Return the test cases as JUnit's XML, in UTF-8."""
    failed = sum(bool(case.failures) for case in cases)
    suite = ElementTree.Element("testsuite", name="crowdgate", tests=str(len(cases)), failures=str(failed))
    for case in cases:
        at = ElementTree.SubElement(suite, "testcase", classname=case.group, name=case.name, file=case.file)
        for message, text in case.failures:
            ElementTree.SubElement(at, "failure", message=message).text = text
        if case.said:
            ElementTree.SubElement(at, "system-out").text = "\n".join(case.said)
    written: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return written
