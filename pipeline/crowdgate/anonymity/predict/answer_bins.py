"""The answers to one question as bins: as asked, and at coarser levels."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from crowdgate.anonymity.predict.numeric import intervals, width_name, widths_of
from crowdgate.policy.questionnaire import QuestionSpec
from crowdgate.risk.bins import Bins
from crowdgate.risk.products import product

MERGED = "the two rarest answers as one"


def bins_of(question: QuestionSpec, people: int) -> Bins:
    """Return the probabilities of the answers to a question: of each answer, of each combination where several may be
    given (as if each were given independently), and of declining. Intervals of numbers are computed for `people`
    people."""
    if question.numeric is not None:
        return _with_decline(intervals(question.numeric, question.numeric.width, people), question.decline)
    answers, others = question.answers or {}, question.others or 0
    if question.several:
        each = (Bins.of([share, 1 - share]) for share in answers.values())
        return _with_decline(product(each), question.decline)
    return _bins(
        [*((share, 1) for share in answers.values()), *_further_answers(answers.values(), others)], question.decline
    )


def coarser_bins(question: QuestionSpec, people: int) -> dict[str, Bins]:
    """Return the probabilities of the answers to a question in each of its coarser forms, by name: the named forms, or
    the two rarest answers merged; wider intervals for numbers."""
    if question.numeric is not None:
        wider = widths_of(question.numeric)[1:]
        return {
            width_name(width): _with_decline(intervals(question.numeric, width, people), question.decline)
            for width in wider
        }
    answers = question.answers or {}
    if question.several:
        return {}
    found = {name: _grouped_bins(question, groups.values()) for name, groups in question.coarser.items()}
    if not found and question.others is None and len(answers) > 2:
        first, second, *others = sorted(answers.values())
        found[MERGED] = _bins([(share, 1) for share in (first + second, *others)], question.decline)
    return found


def _grouped_bins(question: QuestionSpec, groups: Iterable[list[str]]) -> Bins:
    answers = question.answers or {}
    sums = [(sum((answers[answer] for answer in group), Fraction(0)), 1) for group in groups]
    return _bins([*sums, *_further_answers(answers.values(), question.others or 0)], question.decline)


def _further_answers(shares: Iterable[Fraction], others: int) -> list[tuple[Fraction, int]]:
    """Return, as one pair, the share of each answer that is not listed and the number of such answers, which share the
    remainder equally; an empty list without any."""
    return [((1 - sum(shares, Fraction(0))) / others, others)] if others else []


def _bins(shares: Iterable[tuple[Fraction, int]], decline: Fraction) -> Bins:
    groups: Counter[Fraction] = Counter()
    for share, many in shares:
        groups[share] += many
    total = sum(groups.values())
    sum_of = sum((share * many for share, many in groups.items()), Fraction(0))
    whole = Bins.grouped([share / sum_of * total for share in groups], list(groups.values()))
    return _with_decline(whole, decline)


def _with_decline(bins: Bins, decline: Fraction) -> Bins:
    """Return the probabilities of answers with one more class: the share `decline` of people, who decline to answer."""
    if not decline:
        return bins
    shares = np.append(bins.probabilities * float(1 - decline), float(decline))
    distinct, place = np.unique(shares, return_inverse=True)
    counts = np.bincount(place, np.append(bins.counts, 1.0))
    return Bins(distinct, np.asarray(counts, dtype=np.float64), bins.empty)
