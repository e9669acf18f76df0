"""Labels of codes that stand for no value, and of values that resemble them, in several languages."""

import pytest

from crowdgate.review.templates.codebook_values import listed_values
from crowdgate.review.templates.special_labels import is_special


@pytest.mark.parametrize(
    "label",
    [
        "niet gekend", "niet geregistreerd", "nicht dokumentiert", "non enregistré", "no registrado", "non pervenuto",
        "ikke registreret", "nie odnotowano", "nezaznamenáno", "ni odgovora", "ne ve", "ni podatka", "neznano",
        "nepoznato", "nema podataka", "неизвестно", "няма данни", "не знае",
        "Unknown / county not reported", "Unknown (no record)",
    ],
)  # fmt: skip
def test_labels_of_no_value(label: str) -> None:
    assert is_special(label)
    found = listed_values(f"1 = a\n2 = b\n9 = {label}")
    assert (found.missing, len(found.values)) == (("9",), 2)


@pytest.mark.parametrize(
    "label", ["niet getrouwd", "nicht erwerbstätig", "Unknown / other", "Other / not known", "ne kadi", "ni zaposlen"]
)
def test_labels_of_values(label: str) -> None:
    assert not is_special(label)
    assert listed_values(f"1 = a\n2 = b\n3 = {label}").missing == ()
