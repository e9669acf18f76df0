"""Texts as scalars of YAML."""

import json
import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ .-]*[A-Za-z0-9_]|[A-Za-z]")
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def quoted(text: str) -> str:
    """Return a text as a scalar of YAML, in quotes unless it is plain."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _RESERVED and "CHANGE" not in text
    return text if plain else in_quotes(text)


def in_quotes(text: str) -> str:
    """Return a text as a scalar of YAML in quotes."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in quoted)
