"""The templates of policies, and how much of a contract each publishes."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.review.templates.first_levels import TemplateScope


@dataclass(frozen=True)
class Template:
    """A template, the file `NAME.yaml.j2` next to this one.

    `epsilon` is that of one release, `summary` the purpose. With `of_samples` it works for a table that is a sample
    already.
    """

    summary: str
    epsilon: Fraction
    reach: TemplateScope
    of_samples: bool = False
    few: Fraction | None = None
    """The epsilon for a population of fewer than `FEW` people, if it differs."""

    def epsilon_of(self, people: int) -> Fraction:
        """Return the epsilon of one release for a population of `people`."""
        return self.epsilon if self.few is None or people >= FEW else self.few


FEW = 20_000
"""The number of people below which noise at the usual epsilon of a pilot hides too much."""
PILOT = "pilot"
"""The template of a small release of tables, which forecasts of later policies rest on."""

TEMPLATES: Mapping[str, Template] = {
    "public-use": Template(
        "rows of real people at coarse levels, for everybody",
        Fraction(1),
        TemplateScope(least=1, columns=6, values=20, coarse=True, classes=500, people=500),
        of_samples=True,
    ),
    "research": Template(
        "more rows of real people at finer levels, with weights, for known researchers",
        Fraction(2),
        TemplateScope(least=1, columns=8, values=20, coarse=False, classes=3000, people=100),
        of_samples=True,
    ),
    "tables": Template(
        "tables with noise, which state every error",
        Fraction(1),
        TemplateScope(least=1, columns=6, values=20, coarse=True),
    ),
    PILOT: Template(
        "a small release of tables first, which forecasts of later policies rest on",
        Fraction(1, 20),
        TemplateScope(least=1, columns=8, values=20, coarse=False),
        few=Fraction(1, 10),
    ),
    "synthetic": Template(
        "synthetic rows, to explore and to teach with",
        Fraction(1),
        TemplateScope(least=2, columns=10, values=100, coarse=False),
    ),
}
