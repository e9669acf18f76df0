"""Analyses that users of a table need, as its contract lists them: tables, shares and ratios."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from crowdgate.contracts.contract import Analysis, Attribute
from crowdgate.contracts.models import AnalysisModel, Place, quoted_value
from crowdgate.errors import Code, nearest
from crowdgate.hierarchy import Level


def read_analyses(
    at: Place | None, stated: Sequence[AnalysisModel], attributes: Mapping[str, Attribute]
) -> tuple[Analysis, ...]:
    """Return the analyses of a contract; unknown columns and labels are added to the problems."""
    found = tuple(_analysis(each) for each in stated)
    for place, each in zip(() if at is None else at.items(), found, strict=False):
        for name in each.columns:
            _check(place, name, each.labels.get(name, ()), attributes)
    return found


def _analysis(model: AnalysisModel) -> Analysis:
    parts = [part for part in (model.share, model.among, model.ratio, model.to) if part is not None]
    labels: dict[str, tuple[str, ...]] = {}
    for name, stated in chain.from_iterable(part.items() for part in parts):
        labels[name] = (*labels.get(name, ()), *stated)
    return Analysis(tuple(dict.fromkeys([*(model.table or ()), *labels])), labels)


def _check(at: Place, name: str, labels: Sequence[str], attributes: Mapping[str, Attribute]) -> None:
    known = {each: attribute.hierarchy.levels for each, attribute in attributes.items()
             if attribute.releasable and attribute.hierarchy is not None}  # fmt: skip
    if name not in known:
        found = f"{quoted_value(name)} can't be published"
        at.refuse(found, "a column of this contract with a domain", nearest(name, list(known)), Code.UNKNOWN_NAME)
    elif labels and not any(_holding(known[name], labels)):
        every = [label for level in known[name] for label in level.labels]
        wrong = next((label for label in labels if label not in every), labels[0])
        found = f"{quoted_value(wrong)} of {quoted_value(name)}"
        at.refuse(found, "labels of one level of this column", nearest(wrong, every[:1000]), Code.UNKNOWN_NAME)


def _holding(levels: Sequence[Level], labels: Sequence[str]) -> Iterator[bool]:
    return ({*labels} <= {*level.labels} for level in levels)
