"""Findings as sentences and as tables of text, for the terminal and for the page."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor

from crowdgate.anonymity.measure.ingestion_summary import ingestion_table, ingestion_text
from crowdgate.anonymity.measure.request import fraction_text
from crowdgate.anonymity.measure.result import BANDS, AnonymityResult, MinimalUniqueRecord
from crowdgate.kind.listing import Listing, text_listing
from crowdgate.number_text import COUNT, COUNTED_SHARE, Value, format_value, rounded
from crowdgate.risk.anonymity_sets import SIZES, Grouping, SizeSummary, correlation
from crowdgate.risk.linkage import AT_MOST
from crowdgate.risk.population_uniques import UniquesInterval

SIZE_COLUMNS = [(title, COUNT) for title in ("sets", "min", "1st quartile", "median", "mean", "3rd quartile", "max")]
PEOPLE_COLUMNS = [
    *((f"k {'<=' if size > 1 else '='} {size}", COUNT) for size in SIZES),
    ("unique, of all people", COUNTED_SHARE),
]
IN_SEVERAL = "A person with several combinations is in several sets, and counts here once, by the smallest of them."
MOST_GROUPS = 200
"""Greatest number of an attribute's values in a table."""


def _count(number: float) -> str:
    return format_value(number, COUNT)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _share_text(part: float, whole: float) -> str:
    return format_value(part / whole, COUNTED_SHARE) if whole else ""


def levels_text(levels: Mapping[str, str]) -> str:
    """Return attributes with their levels, as text."""
    return ", ".join(name if level == "exact" else f"{name} ({level})" for name, level in levels.items())


def sentences(found: AnonymityResult) -> Iterator[str]:
    """Yield the findings of `crowdgate anonymity` as sentences, the simplest first."""
    worst = most_identifying(found, 1)
    people = found.measured.people
    if not people or not worst:
        yield "There is nobody in this table, so nobody shares a combination of values with anybody."
    else:
        yield _sample_uniques_sentence(worst[0], people, several=found.chosen.several_rows)
        yield from _all_attributes_sentence(found)
    yield ingestion_text(found.measured.ingested, "this table")
    yield found.words
    yield from found.left_out
    yield from _population_sentence(found)
    yield from _linkage_sentences(found)


def _sample_uniques_sentence(worst: Grouping, people: int, *, several: bool) -> str:
    alone, levels = worst.summary.within[0], levels_text(worst.levels)
    some = f"Of the {_count(people)} people in this table {_count(alone)} ({_share_text(alone, people)})"
    if several:
        return f"{some} have a unique combination of {levels}: an attacker who knows it can find that person."
    return f"{some} are unique in {levels}: an attacker who knows these values can find that person's row."


def _all_attributes_sentence(found: AnonymityResult) -> Iterator[str]:
    """Yield a sentence on all attributes together, if they are more than the measured combinations have."""
    chosen, alone = found.chosen, found.measured.together.within[0]
    if chosen.up_to < len(chosen.levels):
        yield (
            f"No other combination of at most {chosen.up_to} attributes makes more people unique; all"
            f" {len(chosen.levels)} together make {_count(alone)} ({_share_text(alone, found.measured.people)})"
            " unique."
        )


def _population_sentence(found: AnonymityResult) -> Iterator[str]:
    estimated, fraction = found.population, found.chosen.fraction
    if estimated is None or fraction is None:
        return
    yield (
        f"The table is a sample of {fraction_text(fraction)} of its population. Of some"
        f" {_count(round(estimated.people))} people there, for whom the rows that count stand,"
        f" {_uniques_text(estimated.interval)} unique in all attributes together."
    )


def _uniques_text(found: UniquesInterval | None) -> str:
    if found is None:
        return "an unknown number (nobody is in the sample) are"
    low, high = _count(floor(found.low)), _count(ceil(found.high))
    if low == high:
        return f"{low} are"
    between = f"{low} to {high} (with 95 % confidence)"
    return f"{between} are" if found.known else f"an unknown number, {between}, are"


def _linkage_sentences(found: AnonymityResult) -> Iterator[str]:
    if found.matched is None:
        return
    linked, link = found.matched.linkage, found.matched.link
    yield ingestion_text(found.matched.ingested, f"the register {link.register.id}")
    yield (
        f"Of the {_count(linked.rows)} rows of release {link.release_id} {_count(linked.matches_within[0])} "
        f"match exactly one person of the register {link.register.id} in {', '.join(linked.attributes)}. "
        "Not every match is right: a row may be of somebody whom the register lacks. Somebody who takes one of the "
        f"matching people at random is right for at most {_count(_rounded_up(linked.correct_at_most))} rows on "
        f"average, and for at most {_count(_rounded_up(linked.correct_alone_at_most))} of those that match one person."
    )
    if linked.found < 1:
        yield (
            "If a register has the person of a row, without an error, with probability"
            f" {rounded(linked.found)}, nobody is "
            f"right for more than {_count(_rounded_up(linked.found_rows))} rows on average over such registers."
        )


def _rounded_up(bound: float) -> float:
    """Return a number, rounded up to one decimal."""
    return ceil(bound * 10) / 10


def most_identifying(found: AnonymityResult, most: int) -> list[Grouping]:
    """Return the groupings with the most people in the smallest sets; among equal ones those with the fewest
    attributes."""
    order = sorted(found.measured.groupings, key=lambda each: (*(-n for n in each.summary.within), len(each.levels)))
    return order[:most]


def tables(found: AnonymityResult, most: int) -> Iterator[Listing]:
    """Yield the findings of `crowdgate anonymity` as tables, with at most `most` sets of several attributes in each."""
    singles = [each for each in found.measured.groupings if len(each.levels) == 1]
    worst = most_identifying(found, most)
    every = len(found.measured.groupings)
    note = "Combinations that make most people unique come first."
    if len(worst) < every:
        note = f"The {len(worst)} of {_count(every)} that make most people unique, these first; --json has them all."
    people, several = found.measured.people, IN_SEVERAL if found.chosen.several_rows else ""
    yield _set_sizes_table("Set sizes of the combinations that identify most", note, worst)
    yield _small_sets_table("People in small sets, of the same combinations", several, worst, people)
    yield _set_sizes_table("Set sizes of each attribute by itself", "", singles)
    yield _small_sets_table("People in small sets, of each attribute by itself", several, singles, people)
    yield ingestion_table(found.measured.ingested, "this table")
    yield from _by_value_table(found)
    yield from _minimal_unique_tables(found)
    yield from _estimate_table(found)
    yield from _match_tables(found)


def _set_sizes_table(title: str, note: str, groupings: Sequence[Grouping]) -> Listing:
    rows = ((levels_text(each.levels), *_size_cells(each.summary)) for each in groupings)
    return text_listing(title, ("attributes", *SIZE_COLUMNS), rows, note)


def _size_cells(summary: SizeSummary) -> tuple[float | None, ...]:
    return summary.sets, summary.least, summary.lower, summary.median, summary.mean, summary.upper, summary.most


def _small_sets_table(title: str, note: str, groupings: Sequence[Grouping], people: int) -> Listing:
    rows = (
        (levels_text(each.levels), *each.summary.within, _share(each.summary.within[0], people)) for each in groupings
    )
    return text_listing(title, ("attributes", *PEOPLE_COLUMNS), rows, note)


def _by_value_table(found: AnonymityResult) -> Iterator[Listing]:
    if found.chosen.by is None:
        return
    name, level = found.chosen.by
    groups = sorted(found.measured.by, key=lambda group: -(group.summary.median or 0))
    of = levels_text({each: level.name for each, level in found.chosen.finest.items()})
    together = correlation(found.measured.by)
    said = "is none, since one of the two does not vary" if together is None else f"is {format_value(together, '.2f')}"
    note = f"Sets of {of}, ordered by median. The correlation of people with the median set {said}."
    if len(groups) > MOST_GROUPS:
        note += f" The last {MOST_GROUPS} of {len(groups)}; --json has them all."
    rows = (
        (each.value, each.people, *_size_cells(each.summary), each.summary.within[0]) for each in groups[-MOST_GROUPS:]
    )
    title = f"By {levels_text({name: level.name})}"
    yield text_listing(title, ("value", ("people", COUNT), *SIZE_COLUMNS, ("k = 1", COUNT)), rows, note)


def _minimal_unique_tables(found: AnonymityResult) -> Iterator[Listing]:
    special = found.special
    if special is None:
        return
    note = "A minimal unique is a set of attributes in which a record is the only one, and is not without any of them."
    sizes = ((str(size), many) for size, many in enumerate(special.by_size, start=1))
    yield text_listing("Minimal uniques", ("attributes", ("minimal uniques", COUNT)), sizes, note)
    note = (
        "An estimate of how likely a match with a record is right, at a sampling fraction of"
        f" {rounded(special.fraction, 6)}."
    )
    bands = zip(_band_titles(), special.bands, strict=True)
    yield text_listing("DIS-SUDA scores", ("score", ("records", COUNT)), bands, note)
    note = "Each attribute's share of all SUDA scores; they overlap."
    shares = sorted(special.shares.items(), key=lambda each: -each[1])
    yield text_listing("What makes records special", ("attribute", ("share", ".2%")), shares, note)
    columns = ("record", "minimal uniques", ("SUDA", COUNT), ("DIS-SUDA", ".4f"))
    yield text_listing("The riskiest records", columns, map(_record_cells, special.riskiest))


def _band_titles() -> list[str]:
    return [
        "0",
        *(f"above {rounded(low, 6)} to {rounded(high, 6)}" for low, high in pairwise(BANDS)),
        f"above {rounded(BANDS[-1], 6)}",
    ]


def _record_cells(each: MinimalUniqueRecord) -> tuple[Value, ...]:
    uniques = "; ".join(" + ".join(names) for names in each.uniques)
    return record_text(each.values), uniques, each.score, each.dis


def record_text(values: Mapping[str, str]) -> str:
    """Return the values of a record by attribute, as text."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _estimate_table(found: AnonymityResult) -> Iterator[Listing]:
    if found.population is None:
        return
    estimated = found.population
    rows = (
        (each.model, each.uniques, None if each.uniques is None else _share(each.uniques, estimated.people),
         "taken" if each == estimated.chosen else None, each.reason)
        for each in estimated.estimates
    )  # fmt: skip
    columns = ("model", ("unique in the population", COUNT), ("of all", COUNTED_SHARE), "rule", "remark")
    note = "Three models of the population, without intervals; the rule of Dankar and others prefers one."
    yield text_listing("Population uniques", columns, rows, note)


def _match_tables(found: AnonymityResult) -> Iterator[Listing]:
    if found.matched is None:
        return
    linked, link = found.matched.linkage, found.matched.link
    yield ingestion_table(found.matched.ingested, f"the register {link.register.id}")
    rows: list[tuple[Value, ...]] = [("nobody", linked.unmatched, _share(linked.unmatched, linked.rows), None)]
    for most, many, people in zip(AT_MOST, linked.matches_within, linked.people_within, strict=True):
        said = "exactly 1 person" if most == 1 else f"1 to {most} people"
        rows.append((said, many, _share(many, linked.rows), people))
    columns = (
        "rows that match", ("rows", COUNT), ("of all rows", COUNTED_SHARE), ("people of the register", COUNT),
    )  # fmt: skip
    yield text_listing("Matches with the register", columns, rows)
