"""Generators: public domains and hierarchies whose labels hold separators, quotes and letters of many alphabets."""

from collections.abc import Sequence
from datetime import date
from fractions import Fraction

from hypothesis import strategies as st

from crowdgate.contracts.domains import label_fault
from crowdgate.domain import Domain, categories, dates, numbers
from crowdgate.hierarchy import Hierarchy, hierarchy

AWKWARD = "aZ09 ,;|:\t'\"\\/*()&%.#?ßé中ا−\u200d😀"

labels = st.one_of(
    st.text(AWKWARD, min_size=1, max_size=6),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6),
).filter(lambda label: label_fault(label) is None)

category_domains = st.lists(labels, min_size=1, max_size=12, unique=True).map(
    lambda values: categories(values, "a codebook")
)


@st.composite
def number_domains(draw: st.DrawFn, *, whole: bool | None = None) -> Domain:
    """Draw numeric domains with fractional steps, negative limits and caps."""
    step = Fraction(draw(st.integers(1, 40)), draw(st.sampled_from([1, 2, 5, 10, 1000])))
    size = draw(st.integers(2, 40))
    first = step * draw(st.integers(-30, 30))
    top, bottom = draw(st.booleans()), draw(st.booleans())
    chosen = draw(st.booleans()) if whole is None else whole
    return numbers(first, first + step * (size - 1), step, "a codebook", whole=chosen, top=top, bottom=bottom)


@st.composite
def fine_domains(draw: st.DrawFn) -> Domain:
    """Draw numeric domains whose numbers are stored more precisely than shown."""
    whole = draw(st.booleans())
    precision = Fraction(draw(st.integers(1, 30)), 1 if whole else draw(st.sampled_from([1, 3, 10, 1000])))
    step, size = precision * draw(st.integers(1, 30)), draw(st.integers(2, 12))
    first = draw(st.integers(-50, 50)) * precision
    top, bottom = draw(st.booleans()), draw(st.booleans())
    last = first + step * (size - 1)
    return numbers(first, last, step, "a codebook", whole=whole, top=top, bottom=bottom, precision=precision)


@st.composite
def date_domains(draw: st.DrawFn) -> Domain:
    """Up to four hundred days, leap days included."""
    first = draw(st.dates(date(1, 1, 1), date(9990, 1, 1)))
    return dates(first, date.fromordinal(first.toordinal() + draw(st.integers(0, 400))), "a calendar")


domains = st.one_of(category_domains, number_domains(), date_domains())


@st.composite
def groupings(draw: st.DrawFn, finer: Sequence[str]) -> list[str]:
    """A level above `finer`: a group for each of its labels."""
    names = draw(st.lists(labels, min_size=1, max_size=5, unique=True))
    group = {label: draw(st.sampled_from(names)) for label in dict.fromkeys(finer)}
    return [group[label] for label in finer]


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[Domain, Hierarchy]:
    """A domain with up to three nested levels, with and without a value for invalid cells."""
    domain = draw(category_domains)
    named: list[tuple[str, Sequence[str]]] = []
    finer: Sequence[str] = domain.labels
    for i in range(draw(st.integers(0, 3))):
        finer = draw(groupings(finer))
        named.append((f"level {i}", finer))
    return domain, hierarchy(domain, named, invalid_level=draw(st.booleans()))
