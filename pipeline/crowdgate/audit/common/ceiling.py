"""Ceiling of an audit: the most that its attackers could find, known before it plays.

It is what they find if the policy's attributes of every row are published unchanged. If that is within the limit, the
audit can't fail whatever is released, and a pass is no evidence.
"""

from dataclasses import dataclass
from fractions import Fraction

from crowdgate.audit.common.setting import setting_problem
from crowdgate.errors import ConfigurationError
from crowdgate.kind.plan import Plan
from crowdgate.number_text import decimal, exact_text
from crowdgate.policy.policy import AuditSpec


@dataclass(frozen=True)
class Ceiling:
    """The greatest value (`value`) of the figure that an audit judges by its `limit`. `figure` names it. `key` is the
    policy's field with the limit, and `least` the least limit at which the audit is still played."""

    key: str
    figure: str
    value: float
    limit: Fraction
    least: float = 0.0
    otherwise: str = ""
    """Change that helps in place of a smaller limit."""

    @property
    def hopeless(self) -> bool:
        """True if the audit could not fail."""
        return self.value <= self.limit

    @property
    def text(self) -> str:
        """Sentence about the ceiling, beside the limit."""
        return (
            f"Attackers who see the policy's attributes of every row, unchanged, reach {self.figure} of"
            f" {decimal(self.value, 3)}; the limit is {decimal(self.limit, 4)}."
        )

    def problem(self, plan: Plan, spec: AuditSpec) -> ConfigurationError:
        """Return the ConfigurationError for an audit that could not fail, with what to write."""
        reached = f"attackers who see every row unchanged reach {self.figure} of {decimal(self.value, 3)}"
        found = f"a limit of {exact_text(self.limit)}, and nothing that is released could exceed it: {reached}"
        below = f"a limit below {decimal(self.value, 3)}" if self.value > self.least else ""
        expected = ", or ".join(filter(None, (below, self.otherwise, "--anyway, which plays it all the same")))
        return setting_problem(plan, spec, self.key, found, expected)
