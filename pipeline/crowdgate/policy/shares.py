"""Shares: a policy states how its total is divided, in place of an epsilon for each part.

A part with a share has that part of the total as its epsilon. All parts of a policy state shares, or none does. With
shares class size and noise follow from the joint cost of all parts, with epsilons only from their sum. `accounting:
joint` has the same effect for a policy whose mechanism is the only part.
"""

from fractions import Fraction
from typing import Annotated, Any

from pydantic import ConfigDict, model_validator

from crowdgate.policy.values import Strict, exact_number_after, schema_of

BY_SHARE = Fraction(0)
"""Epsilon of a part that states a share, until the total is known."""


def _share(number: Fraction) -> Fraction:
    if not 0 < number < 1:
        raise ValueError("a number above 0 and below 1")
    return number


Share = Annotated[Fraction, exact_number_after(_share), schema_of("number", exclusiveMinimum=0, exclusiveMaximum=1)]


class PaidPart(Strict):
    """A part of a release that costs an epsilon of its own, or a share of the total."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["epsilon"]}, {"required": ["share"]}]})

    @model_validator(mode="after")
    def _epsilon_or_share(self) -> Any:
        if ("epsilon" in self.model_fields_set) == ("share" in self.model_fields_set):
            raise ValueError("either an epsilon, or a share of the policy's epsilon")
        return self

    def divide(self, total: Fraction) -> None:
        """Set the epsilon of a part that states a share, once the policy's total is read."""
        share = getattr(self, "share", None)
        if share is not None:
            self.__dict__["epsilon"] = share * total
