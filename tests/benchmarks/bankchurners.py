"""The figures of Francis and Wagner on BankChurners (section 4), drawn again by the models of the inference audit.

Run it with `python -m tests.benchmarks.bankchurners --data FOLDER [--page FILE] [--splits R] [--seed S]`. FOLDER holds
bankchurners_clean.csv.gz: its licence is not known, so that it is no part of the project.

Figure 4 is precision where a guess is made of everybody, Figure 5 of names by thresholds on how sure the model is,
Figure 6 what copies of targets among the members change, Figure 8 what is left of precision where models are fitted to
synthetic rows of the members. The paper has one split of 3,039 non-members and 7,088
members, whose members it does not name; here there are R random ones of these sizes, and a mean stands with the least
and the greatest of them.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.audit.inference import models
from crowdgate.kind.section import Section
from crowdgate.report.blocks import page_blocks
from crowdgate.report.html import as_html
from tests.benchmarks.bankchurners_printed import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_8
from tests.benchmarks.bankchurners_synthetic import DELTA, made
from tests.benchmarks.bankchurners_table import (
    FILE,
    NAMES,
    NON_MEMBERS,
    PUBLIC,
    ByCode,
    Draw,
    Guessed,
    Random,
    Table,
    by_code,
    constant,
    guessed,
    read,
    replicated,
    split,
    with_copies,
)  # fmt: skip
from tests.benchmarks.koot_figures import Drawn, canvas, label, part, svg
from tests.benchmarks.options import DATA, parse

NUMBERS = tuple(name for name in FIGURE_4 if name not in NAMES)
ORDER = (*NAMES, *NUMBERS)
KNOWN = ("all", "public")
SHARES = (0.1, 0.5, 1.0)
WIDE = ("Total_Amt_Chng_Q4_Q1", "Total_Ct_Chng_Q4_Q1")
"""Numbers with a few outliers, which lasso guesses alike of everybody."""
NEAR, FEW = 0.01, 10
EPSILONS, SHOWN, APART = ("1", "3", "100"), "3", 0.05
ALPHA = Fraction(25, 1000)
NINE, FIFTY_NINE = 9, 59
"""As many as the paper's Marital_Status; and as many as must all be right to show a precision above .95 (one-sided)."""
TITLE = "The figures of Francis and Wagner on BankChurners"


@dataclass(frozen=True, eq=False)
class Setting:
    """The people, the splits, and where random numbers come from."""

    people: Table
    draws: Sequence[Draw]
    rng: Random
    _kept: dict[tuple[str, str], list[Guessed]] = field(default_factory=dict, init=False, repr=False)

    @property
    def every(self) -> tuple[str, ...]:
        return tuple(self.people.codes)

    def of(self, name: str, known: str, draw: Draw, model: models.Model = models.logistic) -> Guessed:
        """Guesses of a secret where all other attributes are known, or the public ones."""
        return guessed(self.people, name, self._names(known), draw, model, self.rng)

    def made(self, name: str, known: str) -> list[Guessed]:
        """By the paper's model, split by split; kept."""
        if (name, known) not in self._kept:
            self._kept[name, known] = [self.of(name, known, draw) for draw in self.draws]
        return self._kept[name, known]

    def printed(self, name: str, known: str, draws: Sequence[Draw] = ()) -> list[ByCode]:
        """As the paper's code does it, split by split or draw by draw."""
        if name not in NAMES:
            return [by_code(self.people, name, self._names(known), draw) for draw in draws or self.draws]
        made = [self.of(name, known, draw) for draw in draws] if draws else self.made(name, known)
        bases = [constant(self.people, name, draw) for draw in draws or self.draws]
        return [ByCode(max(each.precision, base)) for each, base in zip(made, bases, strict=True)]

    def _names(self, known: str) -> Sequence[str]:
        return self.every if known == "all" else PUBLIC


def setting(people: Table, splits: int, seed: int, non_members: int = NON_MEMBERS) -> Setting:
    rng = np.random.default_rng(seed)
    return Setting(people, [split(people.size, non_members, rng) for _ in range(splits)], rng)


def spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def row_of(values: Sequence[float]) -> str:
    return " ".join(f"{each:.3f}" for each in values)


def beside(axes: object, names: Sequence[str], lines: Sequence[tuple[str, str, Sequence[Sequence[float]]]]) -> None:
    """Marks over attributes: of one number each a cross, of several their mean and range."""
    for at, (name, color, values) in enumerate(lines):
        x = np.arange(len(names)) + 0.12 * (at - (len(lines) - 1) / 2)
        mean = np.array([np.mean(each) for each in values])
        ends = np.array([[m - min(each), max(each) - m] for m, each in zip(mean, values, strict=True)]).T
        mark = "x" if not ends.any() else "."
        axes.errorbar(x, mean, yerr=ends, fmt=mark, color=color, capsize=2, label=name)  # type: ignore[attr-defined]
    axes.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize=7)  # type: ignore[attr-defined]


def figure_4(found: Setting) -> Drawn:
    figure, axes = canvas(2, 1, 3.2)
    head = ["secret", "known", "printed", "again, by its code", "values that occur", "by its text", "gradient boosting"]
    rows = [head]
    again = {(name, known): found.printed(name, known) for name in ORDER for known in KNOWN}
    for name in ORDER:
        one = found.of(name, "all", found.draws[0], models.majority).precision
        for at, known in enumerate(KNOWN):
            own = again[name, known]
            lasso, trees = (found.of(name, known, found.draws[0], each) for each in (models.logistic, models.boosted))
            near = "" if name in NAMES else f"{np.mean([each.nearest for each in own]):.3f}"
            cells = spread(precisions(own)), near, f"{max(lasso.precision, one):.3f}", f"{trees.precision:.3f}"
            rows.append([name, known, f"{FIGURE_4[name][at]:.3f}", *cells])
    for axis, names in zip(axes[:, 0], (NAMES, NUMBERS), strict=True):
        lines = [
            line
            for at, known in enumerate(KNOWN)
            for line in (
                (f"{known}, printed", f"C{at}", [[FIGURE_4[name][at]] for name in names]),
                (known, f"C{at}", [precisions(again[name, known]) for name in names]),
            )
        ]
        beside(axis, names, lines)
        label(axis, "", "precision", "names" if names is NAMES else "numbers, within 5 % of the range of the targets")
    words = (
        "Precision on non-members where a guess is made of everybody: L1 logistic regression (C = .01) for names, "
        "lasso (alpha = .1) for numbers, or one value for everybody where that is right more often. Crosses: as "
        "printed; bars: the splits. By the paper's code a number is right within 5 % of the range of the targets' "
        "values, and the one value is the commonest; 'values that occur' guesses the value nearest to lasso's, as the "
        "audit does: whole years, and nothing below the least. By the paper's text a number is right within 5 % of the "
        "true value, and the one value is the best by that measure; so it is in the audit, and in the last two "
        "columns (first split). A baseline is a lower bound: see gradient boosting. " + differences(again)
    )
    return Drawn("Figure 4: precision of everybody", svg(figure), words, rows)


def precisions(found: Sequence[ByCode]) -> list[float]:
    return [each.precision for each in found]


def differences(again: Mapping[tuple[str, str], Sequence[ByCode]]) -> str:
    """Which printed figures no split comes near to, and what the range of the targets does."""
    apart = [
        f"{name} ({known})"
        for (name, known), own in again.items()
        if not min(precisions(own)) - NEAR <= FIGURE_4[name][KNOWN.index(known)] <= max(precisions(own)) + NEAR
    ]
    return (
        f"Of {len(again)} printed figures {len(again) - len(apart)} are within {NEAR} of the range of the splits; the "
        f"others: {', '.join(apart) or 'none'}. The range of the targets depends on who is among them: "
        + "; ".join(by_tolerance(name, again[name, "all"]) for name in WIDE)
        + ". A printed figure below all of these comes of a smaller range: none of the largest values was a target's."
    )


def by_tolerance(name: str, again: Sequence[ByCode]) -> str:
    """How many guesses are right by the tolerance of each split."""
    told = sorted((each.tolerance, each.precision) for each in again)
    return f"{name} is right " + ", ".join(f"{right:.2f} (within {tolerance:.3f})" for tolerance, right in told)


def halves(made: Guessed, rng: Random) -> Guessed:
    """The second half of the targets for whom a guess is made at the threshold at which the first half is perfect."""
    first = rng.permutation(len(made.truth)) < len(made.truth) // 2
    chosen, sure = made.some(first), np.sort(made.guesses.confidence[first])[::-1]
    least = sure[chosen.perfect - 1] if chosen.perfect else np.inf
    return made.some(~first & (made.guesses.confidence >= least))


def exact(right: int, many: int) -> str:
    if not many:
        return "nobody"
    low, high = clopper_pearson(right, many, ALPHA)
    return f"{right} of {many} [{low:.3f}, {high:.3f}]"


def figure_5(found: Setting) -> Drawn:
    figure, axes = canvas(1, 2, 4)
    rows = [[
        "secret", "known", "surest who are all right: printed", "first split", "by splits",
        "chosen on half of them: right in the other", "by splits",
    ]]  # fmt: skip
    counts: dict[str, list[list[int]]] = defaultdict(list)
    for axis, known in zip(axes[0], KNOWN, strict=True):
        for at, name in enumerate(NAMES):
            made = found.made(name, known)
            perfect = [each.perfect for each in made]
            counts[known].append(perfect)
            again = [halves(each, found.rng) for each in made]
            shares = [each.precision for each in again if len(each.truth)]
            rows.append([
                name, known, printed_perfect(name) if known == "all" else "", exact(perfect[0], perfect[0]),
                f"{min(perfect)} to {max(perfect)}", exact(int(again[0].right.sum()), len(again[0].truth)),
                spread(shares) if shares else "nobody",
            ])  # fmt: skip
            curve = made[0].curve
            mark = "." if len(curve.targets) < FEW else ""
            axis.plot(
                curve.targets[1:], curve.right[1:] / curve.targets[1:], mark + "-", color=f"C{at}", lw=1, label=name
            )
            if known == "all":
                axis.plot(*zip(*FIGURE_5[name], strict=True), "x", color=f"C{at}")
        axis.set_xscale("log")
        label(axis, "prediction rate", "precision", f"{known} attributes known", legend=known == "all")
    words = (
        "Precision of names against the share of targets for whom a guess is made, by thresholds on how sure the model "
        "is: lines of the first split, crosses as printed. The paper's code never lets its curve fall: it prints the "
        "best precision so far, of thresholds that were tried on the same targets, and ends at 20 people or fewer. "
        "Intervals are exact, 95 %. " + " ".join(claims(what, each) for what, each in counts.items())
    )
    return Drawn("Figure 5: precision by thresholds", svg(figure), words, rows)


def printed_perfect(name: str) -> str:
    """For how many the printed curve is at 1."""
    many = [round(rate * NON_MEMBERS) for rate, precision in FIGURE_5[name] if precision == 1]
    return exact(many[0], many[0]) if many else "none"


def claims(what: str, perfect: Sequence[Sequence[int]]) -> str:
    """How many of the secrets reach precision 1, by splits."""
    by_least = {
        least: sorted(int(each) for each in (np.array(perfect) >= least).sum(axis=0)) for least in (1, NINE, FIFTY_NINE)
    }
    told = "; ".join(f"of at least {least}: {', '.join(map(str, found))}" for least, found in by_least.items())
    return f"With {what} attributes known, precision 1 is reached for so many of six secrets, split by split: {told}."


def figure_6(found: Setting) -> Drawn:
    figure, axes = canvas(2, 1, 3.6)
    rows = [[
        "secret", "printed: 0, 10, 50, 100 %", "again, by its code", "splits at 0 %",
        "copies only: 0, 100 %", "nearest rows: 0, 100 %", "gradient boosting: 0, 100 %",
    ]]  # fmt: skip
    more = [[replicated(draw, share, found.rng) for draw in found.draws] for share in SHARES]
    copies = found.draws[0], with_copies(found.draws[0], 1.0, found.rng)
    printed = {name: [[each] for each in (FIGURE_4[name][0], *FIGURE_6[name])] for name in ORDER}
    again = {name: [precisions(found.printed(name, "all", draws)) for draws in ((), *more)] for name in ORDER}
    for name in ORDER:
        both = [two(found, name, copies, model) for model in (models.logistic, models.longest_match, models.boosted)]
        means = [[float(np.mean(each)) for each in own[name]] for own in (printed, again)]
        rows.append([name, *map(row_of, means), spread(again[name][0]), *both])
    titles = "none", *(f"{share:.0%}" for share in SHARES)
    for axis, values, title in zip(axes[:, 0], (printed, again), ("printed", "again (bars: splits)"), strict=True):
        beside(axis, ORDER, [(each, f"C{at}", [values[name][at] for name in ORDER]) for at, each in enumerate(titles)])
        label(axis, "", "precision", title)
    told = ", ".join(f"{np.mean([draw.copied for draw in draws]):.0%}" for draws in more)
    fitted = ", ".join(f"{int(draws[0].fitted.sum()):,}" for draws in more)
    words = (
        "Records of members are replicated, and the targets are drawn from members and copies: in the paper's code the "
        f"targets and the number of members change with the share ({fitted} records are fitted to; {told} of the "
        "targets have a copy among them). The two attributes for which the paper finds an effect are those of the "
        f"largest outliers ({' and '.join(WIDE)}): 5 % of the range of the targets is what changes, and the printed "
        "figures do not grow with the share. The last three columns change nothing but that a copy of every target is "
        "among the members (first split; numbers within 5 % of the truth, by the model alone): regularised models do "
        "not see it, others do. Of numbers the nearest rows are not looked for."
    )
    return Drawn("Figure 6: copies of targets among the members", svg(figure), words, rows)


def two(found: Setting, name: str, draws: Sequence[Draw], model: models.Model) -> str:
    """Precision without copies, and with them."""
    if model is models.longest_match and name not in NAMES:
        return ""
    return row_of([found.of(name, "all", draw, model).precision for draw in draws])


def figure_8(found: Setting) -> Drawn:
    figure, axes = canvas(2, 1, 3.6)
    head = ["secret", "printed: non-members, prior", "members' rows", *(f"prior, epsilon {each}" for each in EPSILONS)]
    heads = [*head, "attack on members", "gain: by non-members", "gain: by prior"]
    rows, draw = [heads], found.draws[0]
    again: dict[str, list[float]] = defaultdict(list)
    for epsilon in EPSILONS:
        people, asked = made(found.people, draw, Fraction(epsilon), found.rng)
        synthetic = replace(found, people=people, draws=[asked])
        for name in ORDER:
            again[name] += precisions(synthetic.printed(name, "all"))
    attack = replace(found, draws=[Draw(draw.fitted, draw.fitted)])
    low, false = list[str](), list[str]()
    for name in ORDER:
        (base,), (own,) = (precisions(each.printed(name, "all", [each.draws[0]])) for each in (found, attack))
        gains = [improved(own, each) for each in (base, again[name][EPSILONS.index(SHOWN)])]
        low += [name] if again[name][EPSILONS.index(SHOWN)] < base - APART else []
        false += [name] if gains[1] > APART + max(0.0, gains[0]) else []
        told = row_of([FIGURE_4[name][0], FIGURE_8[name]]), row_of([base]), *(row_of([each]) for each in again[name])
        rows.append([name, *told, row_of([own]), *(row_of([each]) for each in gains)])
    for axis, names in zip(axes[:, 0], (NAMES, NUMBERS), strict=True):
        lines = [
            ("non-members, printed", "C0", [[FIGURE_4[name][0]] for name in names]),
            ("prior, printed", "C1", [[FIGURE_8[name]] for name in names]),
            *((head[3 + at], f"C{2 + at}", [[again[name][at]] for name in names]) for at in range(len(EPSILONS))),
        ]
        beside(axis, names, lines)
        label(axis, "", "precision", "names" if names is NAMES else "numbers, within 5 % of the range of the targets")
    words = (
        "Precision on non-members, by the paper's code, of models that are fitted to the members' rows (the non-member "
        "framework) and to synthetic rows of the same members (the prior one): printed of CTGAN, here of dp_synthetic "
        f"at delta {float(DELTA):g}, first split. At epsilon {SHOWN} the prior baseline is more than {APART} below the "
        f"other of {len(low)} of {len(ORDER)} secrets: {', '.join(low)}. The attack is the same model, fitted to the "
        "members' rows and asked for them: it knows statistics alone. Over the non-member baseline its gain (PI) "
        f"is what other targets make; over the prior one it is more than {APART} above that, and above 0, of "
        f"{len(false)}: {', '.join(false)}. These are false alarms of a baseline that is as weak as its rows."
    )
    return Drawn("Figure 8: a baseline from synthetic rows", svg(figure), words, rows)


def improved(attack: float, base: float) -> float:
    """The precision improvement; 0 where nothing is left to improve."""
    return 0.0 if base == 1 else (attack - base) / (1 - base)


FIGURES: tuple[Callable[[Setting], Drawn], ...] = (figure_4, figure_5, figure_6, figure_8)


def page(found: Setting, seed: int, figures: Sequence[Drawn]) -> str:
    targets = int(found.draws[0].asked.sum())
    said = [
        "P. Francis, D. Wagner, Towards more accurate and useful data anonymity vulnerability measures, section 4, "
        "drawn again by the models of the inference audit. Baselines only: no release is attacked here.",
        f"{found.people.size:,} people in {len(found.every)} attributes; {len(found.draws)} splits into "
        f"{found.people.size - targets:,} members and {targets:,} non-members, seed {seed}.",
    ]
    head = page_blocks(TITLE, [Section("", said)])
    return as_html(TITLE, [*head, *(block for each in figures for block in part(each))])


def drawn(found: Setting, only: int | None = None) -> Iterator[Drawn]:
    """The figures, which are also printed."""
    for draw in FIGURES:
        if only is not None and not draw.__name__.endswith(f"_{only}"):
            continue
        start = time.process_time()
        figure = draw(found)
        print(f"{figure.title} ({time.process_time() - start:.0f} CPU s)")
        for row in figure.numbers:
            print("  " + " | ".join(row))
        print(f"  {figure.words}\n", flush=True)
        yield figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--only", type=int, choices=(4, 5, 6, 8), help="one figure alone")
    parser.add_argument("--targets", type=int, default=NON_MEMBERS, help="non-members of each split")
    given = parse(parser, splits=1, targets=100, only=5)
    if not (given.data / FILE).is_file():
        print(f"skipped: {FILE} is not there. Name its folder by --data.")
        return
    found = setting(read(given.data), given.splits, given.seed, given.targets)
    text = page(found, given.seed, list(drawn(found, given.only)))
    if given.page:
        given.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
