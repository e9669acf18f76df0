"""Numbers of examples of properties: a quarter by default, all of them with `--every-example`."""

LEAST = 10
"""The least number of examples, for a test that states more."""
_every = False


def use_every_example() -> None:
    """Run every property with all the examples that it states."""
    global _every
    _every = True


def examples(stated: int) -> int:
    """Return the number for hypothesis's `max_examples`."""
    return stated if _every else min(stated, max(LEAST, stated // 4))
