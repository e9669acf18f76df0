"""What the words and pages of all audits share."""

from collections.abc import Mapping
from dataclasses import dataclass

from crowdgate.audit.record import CommonSetting, Record


@dataclass(frozen=True)
class Listing:
    """A table for people; `text` are the columns that hold text."""

    title: str
    titles: tuple[str, ...]
    rows: list[list[str]]
    text: tuple[int, ...]


def facts_of(record: Record) -> Mapping[str, str]:
    """What repeats an audit."""
    setting: CommonSetting = record.setting
    return {
        "policy digest": setting.policy_digest, "mechanism": setting.mechanism, "population": setting.population,
        "population digest": setting.population_digest, "seed": record.seed, "made": str(record.made),
        "setting digest": record.digest, "code": setting.code, **setting.libraries,
    }  # fmt: skip
