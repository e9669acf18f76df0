"""DDI Codebook, version 2.5 (https://ddialliance.org): the study, the files, and the variables with their values."""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from crowdgate.publish.descriptions.release_description import DescribedColumn, DescribedFile, ReleaseDescription

_NAMESPACE = "ddi:codebook:2_5"


def write(release: ReleaseDescription) -> bytes:
    """Return ddi-codebook.xml."""
    root = Element("codeBook", {"xmlns": _NAMESPACE, "version": "2.5"})
    _study(SubElement(root, "stdyDscr"), release)
    for at, file in enumerate(release.rows, 1):
        _file(root, f"F{at}", file)
    data = SubElement(root, "dataDscr")
    for at, column in enumerate(release.columns, 1):
        _variable(data, f"V{at}", column, " ".join(f"F{i}" for i, _ in enumerate(release.rows, 1)))
    ElementTree.indent(root, " ")
    text: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return text + b"\n"


def _study(study: Element, release: ReleaseDescription) -> None:
    citation = SubElement(study, "citation")
    title = SubElement(citation, "titlStmt")
    _text(title, "titl", release.title)
    _text(title, "IDNo", release.id)
    _text(SubElement(citation, "prodStmt"), "producer", release.owner)
    version = SubElement(citation, "verStmt")
    _text(version, "version", release.version, date=release.day)
    _text(SubElement(study, "stdyInfo"), "abstract", release.text)
    _text(SubElement(study, "method"), "notes", release.guarantee)


def _file(root: Element, name: str, file: DescribedFile) -> None:
    stated = SubElement(SubElement(root, "fileDscr", {"ID": name}), "fileTxt")
    _text(stated, "fileName", file.name)
    _text(stated, "fileType", file.media_type)


def _variable(data: Element, name: str, column: DescribedColumn, files: str) -> None:
    attributes = {"ID": name, "name": column.name, "intrvl": "discrete", **({"files": files} if files else {})}
    variable = SubElement(data, "var", attributes)
    _text(variable, "labl", column.description or column.name)
    for label in column.labels:
        _text(SubElement(variable, "catgry"), "catValu", label)
    SubElement(variable, "varFormat", {"type": "character"})


def _text(parent: Element, tag: str, text: str, **attributes: str) -> None:
    SubElement(parent, tag, attributes).text = "".join(each for each in text if each.isprintable() or each in "\t\n")
