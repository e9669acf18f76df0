"""A report for build servers: JUnit's XML."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True)
class TestCase:
    """One line of the report.

    `failures` gives short and long texts of each failure (none: the case passes), `said` further output.
    """

    __test__ = False
    group: str
    name: str
    file: str
    failures: Sequence[tuple[str, str]] = ()
    said: Sequence[str] = ()


def junit(cases: Sequence[TestCase]) -> bytes:
    """Return the report, in UTF-8."""
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
