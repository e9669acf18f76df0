"""A questionnaire, question by question: the number of people with the same answers so far (Koot 2012, appendix B)."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from crowdgate.accounting.numbers import Number
from crowdgate.anonymity.predict.figures import (
    Row,
    degrees_listing,
    informative_columns,
    listings,
    number,
    prediction_rows,
)
from crowdgate.anonymity.predict.group import PredictionTargets, attacker_knowledge_note, limit_of
from crowdgate.anonymity.predict.laws import INDEPENDENT, JOINT
from crowdgate.anonymity.predict.numeric import width_name, widths_of
from crowdgate.anonymity.predict.questionnaire_file import AS_ASKED, QuestionnaireModel, read_questionnaire
from crowdgate.anonymity.predict.subject import groups_of, option_problem
from crowdgate.errors import ConfigurationError
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kind.picture import Limit, Picture, curve
from crowdgate.number_text import PEOPLE, SHARE, Value, percent, rounded, whole
from crowdgate.policy.questionnaire import NumericAnswer, QuestionSpec
from crowdgate.report.report import Report, short_report
from crowdgate.risk.bins import Bins
from crowdgate.risk.group_size import singleton_share
from crowdgate.risk.groups import share_in_groups_up_to
from crowdgate.risk.singletons import expected
from crowdgate.risk.widths import best_width

SMALL = 10
"""Greatest number of people in a small group."""

STEP_COLUMNS = (
    ListingColumn("question", "after the question"),
    ListingColumn("by", "by"),
    ListingColumn("answers", "answers", PEOPLE),
    ListingColumn("factor", "fewer by", PEOPLE),
    ListingColumn("best", "best respondent", PEOPLE),
    ListingColumn("median", "median", PEOPLE),
    ListingColumn("worst", "worst", PEOPLE),
    ListingColumn("alone", "unique", PEOPLE),
    ListingColumn("small", f"in groups up to {SMALL}", SHARE),
)
COARSER_COLUMNS = (
    ListingColumn("question", "question"),
    ListingColumn("way", "asked as"),
    ListingColumn("share_alone", "share unique", SHARE),
    ListingColumn("fewer_alone", "less than now", SHARE),
    ListingColumn("median", "median respondent", PEOPLE),
)
BEST_WIDTH_COLUMNS = (
    ListingColumn("question", "question"),
    ListingColumn("width", "width", absent="none is wide enough"),
    ListingColumn("share_alone", "share unique", SHARE, "more"),
)
INDEPENDENCE_ASSUMED = (
    "The questions are taken as independent of each other. Where answers go together, a respondent shares his with more"
    " people or fewer than is said here."
)


def predict_questionnaire(path: Path, source: Path | None, wish: PredictionTargets) -> Report:
    """Return the analysis of the questionnaire in `path`, with counts from `source` if it asks for attributes of a
    contract. Raises as `read_questionnaire`, `groups_of` and `limit_of` do."""
    form = read_questionnaire(path, source)
    sizes, limit = groups_of(wish.people, form.people), limit_of(wish.at_most)
    every = {basis: form.bins(basis, form.questions) for basis in form.bases}
    rows, steps = list(prediction_rows(every, form.bounds, sizes)), list(_steps(form))
    more = [] if limit is None else [_best_widths(form, sizes[0], limit)]
    title = form.file.metadata.title
    return short_report(
        f"Questionnaire: {title}",
        lambda: (_sentence(form, every[form.bases[0]]), *_notes(form, every)),
        (
            _question_listing(form, steps),
            *listings(rows),
            *more,
            degrees_listing(every, form.people),
            _coarser_listing(form, sizes[0]),
        ),
        _about(form),
        lambda: [_picture(form, steps)],
    )


def respondents_alike(bins: Bins, people: int) -> tuple[float, float, float]:
    """Return the expected numbers of people with the same answers as the respondent with the most frequent, the median
    and the rarest answers, who counts. They are `people` times the greatest, the median (of people, not of classes) and
    the least probability above 0."""
    mass = np.cumsum(bins.probabilities * bins.counts)
    median = bins.probabilities[min(int(np.searchsorted(mass, 0.5 * mass[-1])), len(mass) - 1)]
    return float(bins.probabilities[-1]) * people, float(median) * people, float(bins.probabilities[0]) * people


def _steps(form: QuestionnaireModel) -> Iterator[Row]:
    for basis in form.bases:
        left = float(form.people)
        for at, question in enumerate(form.questions, start=1):
            bins = form.bins(basis, form.questions[:at])
            best, median, worst = respondents_alike(bins, form.people)
            yield {
                "question": question.name, "by": basis, "answers": form.bins(INDEPENDENT, [question]).cells,
                "factor": left / best, "best": best, "median": median, "worst": worst,
                "alone": expected(bins, form.people), "small": share_in_groups_up_to(bins, form.people, SMALL),
            }  # fmt: skip
            left = best


def _question_listing(form: QuestionnaireModel, rows: Sequence[Row]) -> Listing:
    note = f"people of {whole(form.people)} who give the same answers so far; below 1 nobody else is expected"
    return Listing(
        "questions",
        "possible identities, question by question",
        informative_columns(STEP_COLUMNS, rows),
        tuple(rows),
        note,
    )


def _best_widths(form: QuestionnaireModel, people: int, limit: Fraction) -> Listing:
    """Return a listing with, for every numeric question, the least interval width that leaves at most the share `limit`
    of the people unique, with the other questions unchanged."""
    rows = [_best_width(form, each, each.numeric, people, limit) for each in form.questions if each.numeric is not None]
    if not rows:
        found, expected_ = "the form asks for no number", "a question with numeric, or no --at-most"
        raise ConfigurationError(option_problem("--at-most", found, expected_))
    note = (
        f"of {whole(people)} people at most {percent(limit)} unique, by {form.bases[0]}; the other questions unchanged"
    )
    return Listing(
        "widths", ("the finest intervals that make so few people unique"), BEST_WIDTH_COLUMNS, tuple(rows), note
    )


def _best_width(
    form: QuestionnaireModel, question: QuestionSpec, numeric: NumericAnswer, people: int, limit: Fraction
) -> Row:
    ways = dict(zip(widths_of(numeric), [AS_ASKED, *map(width_name, widths_of(numeric)[1:])], strict=True))

    def made(width: Number) -> Bins:
        return form.bins(form.bases[0], form.questions, {question.name: ways[Fraction(width)]})

    width = best_width(made, list(ways), people, limit * people)
    share = None if width is None else singleton_share(made(width), people)
    return {"question": question.name, "width": None if width is None else Fraction(width), "share_alone": share}


def _coarser_listing(form: QuestionnaireModel, people: int) -> Listing:
    """Return a listing of the coarser forms of each question, with the expected share of unique people in each; the
    least share first."""
    basis = form.bases[0]
    now = singleton_share(form.bins(basis, form.questions), people)
    rows = [_coarser_row(form, basis, people, now, each, way) for each in form.questions for way in form.ways(each)]
    rows.sort(key=lambda row: (number(row["share_alone"]), -number(row["median"])))
    note = f"of {whole(people)} people, by {basis}; the other questions as they are"
    return Listing(
        "less", "one question asked less exactly, the most helpful first", COARSER_COLUMNS, tuple(rows), note
    )


def _coarser_row(
    form: QuestionnaireModel, basis: str, people: int, now: float, question: QuestionSpec, way: str
) -> dict[str, Value]:
    bins = form.bins(basis, form.questions, {question.name: way})
    share = singleton_share(bins, people)
    median = respondents_alike(bins, form.people)[1]
    return {"question": question.name, "way": way, "share_alone": share, "fewer_alone": now - share, "median": median}


def _sentence(form: QuestionnaireModel, bins: Bins) -> str:
    best, median, _ = respondents_alike(bins, form.people)
    return (
        f"Each of {whole(form.people)} people ({form.file.spec.population.who}) who answers all {len(form.questions)}"
        f" questions shares the answers with {_others_text(best)} at best. The median respondent shares them with"
        f" {_others_text(median)}."
    )


def _others_text(people: float) -> str:
    others = round(people) - 1
    return "nobody else" if others < 1 else "one other" if others == 1 else f"{whole(others)} others"


def _about(form: QuestionnaireModel) -> dict[str, Any]:
    about = {"questionnaire": form.file.metadata.name, "population": form.people, "who": form.file.spec.population.who}
    return about if form.figures is None else {**about, "from": form.figures.to_json()}


def _notes(form: QuestionnaireModel, every: dict[str, Bins]) -> Iterator[str]:
    yield from form.whose
    if form.figures is not None and form.laws is not None:
        by = f" ({form.figures.source})" if form.figures.source else ""
        yield f"Shares of the contract's attributes are {form.laws.basis_text}{by}."
    if len(form.questions) > 1 and not (JOINT in every and all(each.attribute for each in form.questions)):
        yield INDEPENDENCE_ASSUMED
    for one, other, rho in form.pairs:
        both = f"Questions {one.name} and {other.name} are taken together"
        yield f"{both}, as bivariate Normal with correlation {rounded(rho)}."
    for question in form.skipped:
        yield f"Question {question.name} is left out: {question.skip}."
    for question in form.questions:
        yield from _assumptions(question)
    yield attacker_knowledge_note(every[form.bases[0]], form.people)
    yield "Nothing here is known of what anybody answers; the figures are of shares in the population."


def _assumptions(question: QuestionSpec) -> Iterator[str]:
    if question.several:
        yield f"Question {question.name} allows several answers: each is taken as given independently of the others."
    if question.others:
        yield f"Question {question.name}: what is left is shared equally by {whole(question.others)} further answers."
    if question.decline:
        yield f"Question {question.name}: who would rather not say is a class of its own."


def _picture(form: QuestionnaireModel, rows: Sequence[Row]) -> Picture:
    series = []
    for basis in form.bases:
        own = list(zip(form.questions, (row for row in rows if row["by"] == basis), strict=True))
        series += [
            curve(f"{who} ({basis})", ((question.name, number(row[who])) for question, row in own))
            for who in PICTURED_RESPONDENTS
        ]
    return Picture(
        "respondents", "People who give the same answers, after each question", "question",
        "people who give the same answers", tuple(series), (Limit("one person", 1.0),), value_scale="log",
        format=PEOPLE, across=True,
    )  # fmt: skip


PICTURED_RESPONDENTS = ("best", "median", "worst")
