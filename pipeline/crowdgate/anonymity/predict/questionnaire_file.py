"""A questionnaire as classes: each question's answers with their shares, or an axis of a contract's figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from crowdgate.anonymity.predict.answer_bins import bins_of, coarser_bins
from crowdgate.anonymity.predict.independence_bounds import bounds_from_margins, bounds_from_range, margin_of
from crowdgate.anonymity.predict.laws import INDEPENDENT, JOINT, Laws, check_classes, laws, range_of, with_decline
from crowdgate.anonymity.predict.numeric import intervals, pairs, rectangles, width_name, widths_of
from crowdgate.anonymity.predict.population_check import greatest_population, population_notes
from crowdgate.anonymity.predict.subject import level_names
from crowdgate.arrays import Floats
from crowdgate.contracts.contract import Contract
from crowdgate.documents.yaml_text import Document, read_document
from crowdgate.domain import number_label
from crowdgate.errors import ConfigurationError, Problem, expected_names, nearest
from crowdgate.hierarchy import ANY, Level
from crowdgate.kind.forecast import Axes
from crowdgate.kind.prior import ExpectedRange
from crowdgate.planning.bundle import KNOWN
from crowdgate.policy.files import contract_named
from crowdgate.policy.parsing import parse
from crowdgate.policy.questionnaire import NumericAnswer, Questionnaire, QuestionSpec
from crowdgate.public_counts.figures import PriorFigures, PriorSubject, read_prior
from crowdgate.public_counts.unknown_shares import unknown_shares
from crowdgate.risk.bins import Bins
from crowdgate.risk.products import product

AS_ASKED, LEFT_OUT = "as asked", "left out"
Ways = Mapping[str, str]
"""Name of the form in which a question is asked (a coarser one, or left out), by question; all others are asked as the
questionnaire states them."""


@dataclass(frozen=True, eq=False)
class QuestionnaireModel:
    """A questionnaire that can be counted: its file, the contract whose attributes it asks for, the distribution and
    the public figures of these attributes (None: it asks for none). `whose` are notes on the populations of the
    shares."""

    file: Questionnaire
    contract: Contract | None
    laws: Laws | None
    figures: PriorFigures | None
    whose: tuple[str, ...] = ()

    @property
    def people(self) -> int:
        """Number of people in the population of the questionnaire."""
        return self.file.spec.population.people

    @property
    def skipped(self) -> list[QuestionSpec]:
        """Questions that are not counted, as the shares of their answers are unknown."""
        return [each for each in self.file.spec.questions if each.skip is not None]

    @property
    def questions(self) -> list[QuestionSpec]:
        """Questions that are counted, in the order of the file."""
        return [each for each in self.file.spec.questions if each.skip is None]

    @property
    def bases(self) -> list[str]:
        """Names of the bases on which figures rest: joint figures, if counts relate attributes, and independence."""
        return [INDEPENDENT] if self.laws is None or self.laws.joint is None else [JOINT, INDEPENDENT]

    @cached_property
    def _own_answer_bins(self) -> dict[str, dict[str, Bins]]:
        own = (each for each in self.questions if each.attribute is None)
        return {each.name: {AS_ASKED: bins_of(each, self.people), **coarser_bins(each, self.people)} for each in own}

    def ways(self, question: QuestionSpec) -> list[str]:
        """Return the names of the coarser forms in which a question can be asked: its coarser levels or answers, and
        leaving it out."""
        if question.attribute is None:
            named = [name for name in self._own_answer_bins[question.name] if name != AS_ASKED]
        else:
            names = level_names(self._known.by_name[question.attribute])
            named = [name for name in names[names.index(question.level) + 1 :] if name != ANY]
        return [*named, LEFT_OUT]

    def bins(self, basis: str, questions: Sequence[QuestionSpec], ways: Ways | None = None) -> Bins:
        """Return the probabilities of the combinations of answers to some questions, by a basis (joint figures or
        independence). `ways` names the form of a question that is asked less exactly."""
        held = [(each, (ways or {}).get(each.name, AS_ASKED)) for each in questions]
        held = [(question, way) for question, way in held if way != LEFT_OUT]
        own = list(self._own_bins({question.name: way for question, way in held if question.attribute is None}))
        axes = {question.attribute: self._level(question, way) for question, way in held if question.attribute}
        if not axes or self.laws is None:
            return product(own)
        found, declines = self.laws.at(axes), self.declines(axes)
        if basis == JOINT and found.joint is not None:
            return product([Bins.from_counts(with_decline(found.joint.people, declines)), *own])
        each = (with_decline(found.shares[name], [decline]) for name, decline in zip(axes, declines, strict=True))
        return product([*map(Bins.from_counts, each), *own])

    def bounds(self, basis: str, people: int) -> Mapping[str, float]:
        """Return the bounds of the expected number of unique people among `people` people who answer all questions, by
        name, for a basis (joint figures or independence)."""
        return (
            bounds_from_margins(self.margins, people)
            if basis == INDEPENDENT
            else bounds_from_range(self._range(people))
        )

    @cached_property
    def margins(self) -> list[Floats] | None:
        """Shares of people by answer, one array for each question; None if a question has too many answers."""
        own = [
            margin_of(self._own_answer_bins[each.name][AS_ASKED]) for each in self.questions if each.attribute is None
        ]
        axes = {} if self.laws is None else self.laws.shares
        declines = self.declines(axes)
        own += [with_decline(shares, [decline]) for shares, decline in zip(axes.values(), declines, strict=True)]
        known = [each for each in own if each is not None]
        return known if len(known) == len(own) else None

    def _range(self, people: int) -> ExpectedRange | None:
        """Return the range of the expected number of people who are unique in all answers; None without joint
        counts."""
        if self.laws is None or self.laws.joint is None:
            return None
        own = product(self._own_bins({each.name: AS_ASKED for each in self.questions if each.attribute is None}))
        declines = self.declines(self.laws.axes)
        return range_of(
            self.laws.joint, people, lambda cells: product([Bins.from_counts(with_decline(cells, declines)), own])
        )

    @cached_property
    def pairs(self) -> list[tuple[QuestionSpec, QuestionSpec, Fraction]]:
        """Pairs of questions that ask for correlated numbers, each with its correlation."""
        return list(pairs(self.questions))

    @cached_property
    def _pair_bins(self) -> dict[tuple[str, str, str], Bins]:
        return {}

    def _own_bins(self, ways: Ways) -> Iterator[Bins]:
        """Yield the probabilities of the answers to each question that states them itself (not by an attribute of the
        contract); for a pair of correlated numbers the joint probabilities."""
        both = [each for each in self.pairs if each[0].name in ways and each[1].name in ways]
        alone = ways.keys() - {question.name for one, other, _ in both for question in (one, other)}
        yield from (self._own_answer_bins[name][ways[name]] for name in ways if name in alone)
        for one, other, rho in both:
            key = one.name, ways[one.name], ways[other.name]
            if key not in self._pair_bins:
                self._pair_bins[key] = self._pair(one, other, rho, ways)
            yield self._pair_bins[key]

    def _pair(self, one: QuestionSpec, other: QuestionSpec, rho: Fraction, ways: Ways) -> Bins:
        assert one.numeric is not None, "it is correlated"
        assert other.numeric is not None, "it is correlated"
        return rectangles(
            one.numeric,
            other.numeric,
            rho,
            _width(one.numeric, ways[one.name]),
            _width(other.numeric, ways[other.name]),
        )

    def declines(self, axes: Iterable[str]) -> list[float]:
        """Return, for each attribute, the share of people who decline the question about it."""
        stated = {each.attribute: float(each.decline) for each in self.questions}
        return [stated[name] for name in axes]

    def _level(self, question: QuestionSpec, way: str) -> Level:
        hierarchy = self._known.by_name[question.attribute or ""].hierarchy
        assert hierarchy is not None, "it is releasable"
        return hierarchy.level(question.level if way == AS_ASKED else way)

    @property
    def _known(self) -> Contract:
        assert self.contract is not None, "a question for an attribute names one of a contract"
        return self.contract


def _width(numeric: NumericAnswer, way: str) -> Fraction:
    named = {width_name(width): width for width in widths_of(numeric)}
    return numeric.width if way == AS_ASKED else named[way]


def read_questionnaire(path: Path, source: Path | None) -> QuestionnaireModel:
    """Return the questionnaire in `path`, with the contract that it names, and counts from `source` that relate
    attributes.

    Raises ConfigurationError that lists every problem, and what public_counts.figures raises for `source`.
    """
    document = read_document(path)
    file = parse(Questionnaire, document)
    _check_numbers(document, file)
    if file.spec.contract is None:
        return QuestionnaireModel(file, None, None, None)
    root, contract = contract_named(document, ("spec", "contract"), file.spec.contract, KNOWN)
    levels = _levels(document, file, contract)
    if not levels:
        return QuestionnaireModel(file, contract, None, None)
    subject = PriorSubject(contract, root, file.spec.population.people, levels)
    if source is not None:
        check_classes(levels)
    known = read_prior(subject, source)
    _check_shares(document, file, known, levels)
    said = population_notes(
        subject, known, greatest_population(document.path, contract), _other_population(file, contract)
    )
    return QuestionnaireModel(file, contract, laws(subject, known), known, tuple(said))


def _check_shares(document: Document, file: Questionnaire, known: PriorFigures, levels: Axes) -> None:
    """Raise ConfigurationError for questions whose attributes have unknown shares at their levels."""
    places = {each.attribute: ("spec", "questions", at, "level") for at, each in enumerate(file.spec.questions)}
    unknown = [*unknown_shares(known.prior, levels)]
    if unknown:
        raise ConfigurationError([document.problem(places[each.name], each.found, each.expected) for each in unknown])


def _other_population(file: Questionnaire, contract: Contract) -> str | None:
    """Return a text that the form is for other people than its contract's population, or may be; None if it names that
    population."""
    asked = file.spec.population
    if asked.id == contract.population:
        return None
    if asked.id is None:
        return f"and the form does not say by its population's id that {asked.who} are the same"
    return f"and the form is for {asked.who}, of the population {asked.id}"


def _check_numbers(document: Document, file: Questionnaire) -> None:
    """Raise ConfigurationError for a numeric question whose interval width makes too many intervals."""
    problems, questions = [], file.spec.questions
    for at, each in enumerate(questions):
        if each.numeric is not None:
            found = each.numeric.width
            try:
                intervals(each.numeric, found, file.spec.population.people)
                for one, other, rho in pairs(questions) if each.numeric.correlated is not None else ():
                    if one is each and other.numeric is not None:
                        rectangles(each.numeric, other.numeric, rho, found, other.numeric.width)
            except ValueError as error:
                place = ("spec", "questions", at, "numeric", "width")
                problems.append(document.problem(place, number_label(found), f"a wider one: {error}"))
    if problems:
        raise ConfigurationError(problems)


def _levels(document: Document, file: Questionnaire, contract: Contract) -> dict[str, Level]:
    """Return the requested attributes at their levels. Raises ConfigurationError for unknown ones."""
    problems: list[Problem] = []
    levels: dict[str, Level] = {}
    for at, question in enumerate(file.spec.questions):
        if question.attribute is not None:
            problems += _problems(document, at, question, contract, levels)
    if problems:
        raise ConfigurationError(problems)
    return levels


def _problems(
    document: Document, at: int, question: QuestionSpec, contract: Contract, levels: dict[str, Level]
) -> Iterator[Problem]:
    place, name = ("spec", "questions", at), question.attribute or ""
    known = {each.name: each for each in contract.attributes if each.releasable}
    if name not in known:
        expected = expected_names(list(known), name, "an attribute", f"contract {contract.id}")
        found = f"{name!r} is not an attribute of contract {contract.id} with a domain"
        yield document.problem((*place, "attribute"), found, expected, nearest(name, list(known)))
    elif name in levels:
        yield document.problem((*place, "attribute"), f"{name!r} is asked for twice", "each attribute once")
    elif question.level not in level_names(known[name]):
        names = level_names(known[name])
        found, expected = f"{name!r} has no level {question.level!r}", f"one of {', '.join(names)}"
        yield document.problem((*place, "level"), found, expected, nearest(question.level, names))
    else:
        hierarchy = known[name].hierarchy
        assert hierarchy is not None, "it is releasable"
        levels[name] = hierarchy.level(question.level)
