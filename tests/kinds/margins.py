"""A clinic with margins: a workshop whose policy has them."""

from pathlib import Path

from tests.workshop import Workshop, make_workshop

ATTRIBUTES = "attributes: {age: 50 years, ward: exact}"
MARGINS = "margins: {epsilon: 0.5, noise: laplace, tables: [{all: 2}]}"


def margins_workshop(root: Path, margins: str = MARGINS) -> Workshop:
    """The clinic's working copy, with margins."""
    workshop = make_workshop(root)
    workshop.edit(workshop.policy, ATTRIBUTES, f"{ATTRIBUTES}\n    {margins}")
    return workshop
