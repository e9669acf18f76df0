"""Numbers of examples of properties: a quarter of those stated, or the share that `--examples PERCENT` names."""

LEAST = 5
"""The least number of examples, for a test that states more."""
QUICK = 25
"""The percentage of the quick tests."""
_percent = QUICK


def use_share(percent: int) -> None:
    """Run every property with a share of the examples that it states."""
    global _percent
    _percent = percent


def examples(stated: int) -> int:
    """Return the number for hypothesis's `max_examples`."""
    return min(stated, max(LEAST, stated * _percent // 100))
