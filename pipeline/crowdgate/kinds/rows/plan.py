"""What a policy of rows will do: parts of the guarantee, class size, what is counted, and its words."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from crowdgate.candidate import Figures
from crowdgate.contracts.contract import Contract
from crowdgate.guarantee import Guarantee
from crowdgate.histogram import View
from crowdgate.kind.kind import Allowance, Planned, Planning
from crowdgate.manifest import guarantee_words
from crowdgate.mechanisms.rows.choice import choice_parts
from crowdgate.mechanisms.rows.safe_k import SafeK, plan_safe_k
from crowdgate.mechanisms.rows.spec import SafeKAnonymity

VIEW = "release"


def attributes(spec: SafeKAnonymity) -> Sequence[str]:
    """What is published: the class key."""
    return list(spec.attributes)


def beside(spec: SafeKAnonymity) -> Mapping[str, Fraction]:
    """The price of choosing levels."""
    return {} if spec.choose is None else {"the choice of levels": spec.choose.epsilon}


def plan(spec: SafeKAnonymity, contract: Contract, allowance: Allowance) -> Planning[SafeK]:
    """The mechanism of least k, and the choice of levels where there is one."""
    parts = choice_parts(spec.choose, allowance.epsilon, allowance.delta)
    mechanism, findings = plan_safe_k(spec, contract, parts[0])
    return (None if mechanism is None else Planned(mechanism, (mechanism.part, *parts[1:]))), findings


def figures(safe: SafeK) -> Figures:
    """No class below k is published."""
    return Figures(safe.k, safe.levels)


def views(safe: SafeK) -> Mapping[str, View]:
    """The table at the released levels, or at the finest candidates."""
    return {VIEW: safe.view}


def promise(safe: SafeK, guarantee: Guarantee) -> list[str]:
    """The guarantee in words: total, parts, and the form for users who take the number of people as known."""
    return guarantee_words(guarantee, safe.beta, safe.rows)


def notes(safe: SafeK) -> list[str]:
    """Which levels are chosen from data and at what price, in words; nothing when all are fixed."""
    return [] if safe.choice is None else [safe.choice.words()]
