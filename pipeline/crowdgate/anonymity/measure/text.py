"""What was found, as sentences and as tables of text, for the terminal and for the page."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil

from crowdgate.anonymity.measure.ingestion_summary import ingestion_table, ingestion_text
from crowdgate.anonymity.measure.request import fraction_text
from crowdgate.anonymity.measure.result import BANDS, AnonymityResult, MinimalUniqueRecord
from crowdgate.anonymity.measure.text_tables import TextTable, number, percent
from crowdgate.risk.anonymity_sets import SIZES, Grouping, SizeSummary, correlation
from crowdgate.risk.linkage import AT_MOST

SIZE_TITLES = ("sets", "min", "1st quartile", "median", "mean", "3rd quartile", "max")
PEOPLE_TITLES = ("k = 1", *(f"k <= {size}" for size in SIZES[1:]), "alone, of all people")
IN_SEVERAL = "Who has several combinations is in several sets, and counts here once, by the smallest of them."
MOST_GROUPS = 200
"""Values of an attribute that a table shows."""


def levels_text(levels: Mapping[str, str]) -> str:
    """Attributes with their levels."""
    return ", ".join(name if level == "exact" else f"{name} ({level})" for name, level in levels.items())


def sentences(found: AnonymityResult) -> Iterator[str]:
    """What was found, the plainest first."""
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
    some = f"Of the {number(people)} people in this table {number(alone)} ({percent(alone, people)})"
    if several:
        return f"{some} have a combination of {levels} that nobody else has: whoever knows it can find that person."
    return (
        f"{some} are the only ones with their combination of {levels}: whoever knows these of one of them can find "
        "that person's row."
    )


def _all_attributes_sentence(found: AnonymityResult) -> Iterator[str]:
    """What more than the combinations that are looked at would tell."""
    chosen, alone = found.chosen, found.measured.together.within[0]
    if chosen.up_to < len(chosen.levels):
        yield (
            f"No other combination of at most {chosen.up_to} attributes leaves more people alone; all "
            f"{len(chosen.levels)} together leave {number(alone)} ({percent(alone, found.measured.people)}) alone."
        )


def _population_sentence(found: AnonymityResult) -> Iterator[str]:
    estimated, fraction = found.population, found.chosen.fraction
    if estimated is None or fraction is None:
        return
    unique = estimated.chosen.uniques
    said = "no model tells how many" if unique is None else f"about {number(round(unique))} ({estimated.chosen.model})"
    others = [
        f"{number(round(each.uniques))} ({each.model})"
        for each in estimated.estimates
        if each != estimated.chosen and each.uniques is not None
    ]
    yield (
        f"The table is a sample of {fraction_text(fraction)} of its population: of some "
        f"{number(round(estimated.people))} people there, for whom the rows that count stand, {said} are unique in all "
        "attributes together" + (f"; by other models {' or '.join(others)}." if others else ".")
    )


def _linkage_sentences(found: AnonymityResult) -> Iterator[str]:
    if found.matched is None:
        return
    linked, link = found.matched.linkage, found.matched.link
    yield ingestion_text(found.matched.ingested, f"the register {link.register.id}")
    yield (
        f"Of the {number(linked.rows)} rows of release {link.release_id} {number(linked.matches_within[0])} "
        f"match exactly one person of the register {link.register.id} in {', '.join(linked.attributes)}. "
        "Not every match is right: a row may be of somebody whom the register lacks. Somebody who takes one of the "
        f"matching people at random is right for at most {number(_rounded_up(linked.correct_at_most))} rows on "
        f"average, and for at most {number(_rounded_up(linked.correct_alone_at_most))} of those that match one person."
    )
    if linked.found < 1:
        yield (
            f"If a register has the person of a row, without an error, with probability {linked.found:.4g}, nobody is "
            f"right for more than {number(_rounded_up(linked.found_rows))} rows on average over such registers."
        )


def _rounded_up(bound: float) -> float:
    """A bound that is not printed too low."""
    return ceil(bound * 10) / 10


def most_identifying(found: AnonymityResult, most: int) -> list[Grouping]:
    """The groupings that leave the most people in the smallest sets; of equal ones those with the fewest attributes."""
    order = sorted(found.measured.groupings, key=lambda each: (*(-n for n in each.summary.within), len(each.levels)))
    return order[:most]


def tables(found: AnonymityResult, most: int) -> Iterator[TextTable]:
    """All tables; at most so many groupings of several attributes."""
    singles = [each for each in found.measured.groupings if len(each.levels) == 1]
    worst = most_identifying(found, most)
    every = len(found.measured.groupings)
    note = "Those that leave most people alone come first."
    if len(worst) < every:
        note = f"The {len(worst)} of {number(every)} that leave most people alone, these first; --json has them all."
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


def _set_sizes_table(title: str, note: str, groupings: Sequence[Grouping]) -> TextTable:
    rows = tuple((levels_text(each.levels), *_size_cells(each.summary)) for each in groupings)
    return TextTable(title, note, ("attributes", *SIZE_TITLES), rows)


def _size_cells(summary: SizeSummary) -> tuple[str, ...]:
    each = (summary.sets, summary.least, summary.lower, summary.median, summary.mean, summary.upper, summary.most)
    return tuple(map(number, each))


def _small_sets_table(title: str, note: str, groupings: Sequence[Grouping], people: int) -> TextTable:
    rows = tuple(
        (levels_text(each.levels), *map(number, each.summary.within), percent(each.summary.within[0], people))
        for each in groupings
    )
    return TextTable(title, note, ("attributes", *PEOPLE_TITLES), rows)


def _by_value_table(found: AnonymityResult) -> Iterator[TextTable]:
    if found.chosen.by is None:
        return
    name, level = found.chosen.by
    groups = sorted(found.measured.by, key=lambda group: -(group.summary.median or 0))
    of = levels_text({each: level.name for each, level in found.chosen.finest.items()})
    together = correlation(found.measured.by)
    said = "is none, since one of the two does not vary" if together is None else f"is {together:.2f}"
    note = f"Sets of {of}, ordered by median. The correlation of people with the median set {said}."
    if len(groups) > MOST_GROUPS:
        note += f" The last {MOST_GROUPS} of {len(groups)}; --json has them all."
    rows = tuple(
        (each.value, number(each.people), *_size_cells(each.summary), number(each.summary.within[0]))
        for each in groups[-MOST_GROUPS:]
    )
    yield TextTable(f"By {levels_text({name: level.name})}", note, ("value", "people", *SIZE_TITLES, "k = 1"), rows)


def _minimal_unique_tables(found: AnonymityResult) -> Iterator[TextTable]:
    special = found.special
    if special is None:
        return
    note = "A minimal unique is a set of attributes in which a record is the only one, and is not without any of them."
    sizes = tuple((str(size), number(many)) for size, many in enumerate(special.by_size, start=1))
    yield TextTable("Minimal uniques", note, ("attributes", "minimal uniques"), sizes)
    note = f"An estimate of how likely a match with a record is right, at a sampling fraction of {special.fraction:g}."
    bands = tuple((title, number(many)) for title, many in zip(_band_titles(), special.bands, strict=True))
    yield TextTable("DIS-SUDA scores", note, ("score", "records"), bands)
    note = "Each attribute's share of all SUDA scores; they overlap."
    shares = sorted(special.shares.items(), key=lambda each: -each[1])
    titles = ("attribute", "share")
    yield TextTable("What makes records special", note, titles, tuple((name, f"{share:.2%}") for name, share in shares))
    records = tuple(map(_record_cells, special.riskiest))
    yield TextTable("The riskiest records", "", ("record", "minimal uniques", "SUDA", "DIS-SUDA"), records, words=2)


def _band_titles() -> list[str]:
    return ["0", *(f"above {low:g} to {high:g}" for low, high in pairwise(BANDS)), f"above {BANDS[-1]:g}"]


def _record_cells(each: MinimalUniqueRecord) -> tuple[str, ...]:
    uniques = "; ".join(" + ".join(names) for names in each.uniques)
    return record_text(each.values), uniques, number(each.score), f"{each.dis:.4f}"


def record_text(values: Mapping[str, str]) -> str:
    """A record in words."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _estimate_table(found: AnonymityResult) -> Iterator[TextTable]:
    if found.population is None:
        return
    estimated = found.population
    rows = tuple(
        (each.model, number(each.uniques), "" if each.uniques is None else percent(each.uniques, estimated.people),
         "taken" if each == estimated.chosen else "", each.reason)
        for each in estimated.estimates
    )  # fmt: skip
    titles = ("model", "unique in the population", "of all", "rule", "remark")
    note = "Three models of the population; the rule of Dankar and others says which to take."
    yield TextTable("Population uniques", note, titles, rows)


def _match_tables(found: AnonymityResult) -> Iterator[TextTable]:
    if found.matched is None:
        return
    linked, link = found.matched.linkage, found.matched.link
    yield ingestion_table(found.matched.ingested, f"the register {link.register.id}")
    rows = [("nobody", number(linked.unmatched), percent(linked.unmatched, linked.rows), "")]
    for most, many, people in zip(AT_MOST, linked.matches_within, linked.people_within, strict=True):
        said = "exactly 1 person" if most == 1 else f"1 to {most} people"
        rows.append((said, number(many), percent(many, linked.rows), number(people)))
    titles = ("rows that match", "rows", "of all rows", "people of the register")
    yield TextTable("Matches with the register", "", titles, tuple(rows))
