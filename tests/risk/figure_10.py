"""Figure 10 of Francis and Wagner: points of two attacks on the Texas hospitals, read from Carlini et al."""

from collections.abc import Mapping
from fractions import Fraction

from crowdgate.risk.roc import RocPoint

FPRS = ("0.00001", "0.0001", "0.001", "0.01", "0.1", "0.25", "0.5", "1")
SHOKRI = {
    "0.00001": "0.0003", "0.0001": "0.002", "0.001": "0.015", "0.01": "0.1", "0.1": "0.4", "0.5": "1", "1": "1",
}  # fmt: skip
CARLINI = {
    "0.00001": "0.1", "0.0001": "0.2", "0.001": "0.35", "0.01": "0.5", "0.1": "0.75", "0.25": "1", "1": "1",
}  # fmt: skip
PRECISIONS: tuple[Mapping[str, list[float]], Mapping[str, list[float]]] = (
    {
        "0.00001": [0.9677, 0.5000, 0.1111, 0.0123],
        "0.0001": [0.9524, 0.4000, 0.0769, 0.0083],
        "0.001": [0.9375, 0.3333, 0.0588, 0.0062],
        "0.01": [0.9091, 0.2500, 0.0400, 0.0041],
        "0.1": [0.8000, 0.1176, 0.0164, 0.0017],
        "0.5": [0.6667, 0.0625, 0.0083, 0.0008],
        "1": [0.5000, 0.0323, 0.0041, 0.0004],
    },
    {
        "0.00001": [0.9999, 0.9970, 0.9766, 0.8065],
        "0.0001": [0.9995, 0.9852, 0.8929, 0.4545],
        "0.001": [0.9972, 0.9211, 0.5932, 0.1273],
        "0.01": [0.9804, 0.6250, 0.1724, 0.0204],
        "0.1": [0.8824, 0.2000, 0.0303, 0.0031],
        "0.25": [0.8000, 0.1176, 0.0164, 0.0017],
        "1": [0.5000, 0.0323, 0.0041, 0.0004],
    },
)
"""Precisions of Shokri et al. and Carlini et al. at 1:1, 1:30, 1:240 and 1:2400 by equation 11."""


def curve(tprs: Mapping[str, str]) -> list[RocPoint]:
    """Return the points of one attack."""
    return [RocPoint(Fraction(fpr), Fraction(tpr)) for fpr, tpr in tprs.items()]


def as_csv(tprs: Mapping[str, str]) -> str:
    """Return the points as a CSV file."""
    return "fpr,tpr\n" + "".join(f"{fpr},{tpr}\n" for fpr, tpr in tprs.items())
