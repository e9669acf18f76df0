"""The location of a contract's table: a server of the standard, read strictly by the rule of its source."""

import re
from collections.abc import Mapping, Sequence

from crowdgate.contracts.contract import Server
from crowdgate.contracts.models import Place, custom_properties, quoted_value
from crowdgate.contracts.server_rules import ServerRule, ServerSetting
from crowdgate.documents.synonyms import meant_word


def read_server(root: Place, rules: Mapping[str, ServerRule]) -> Server | None:
    """Return the first server in the contract whose type some source reads, or None after problems were added."""
    types = sorted({rule.type for rule in rules.values()})
    known = [server for server in (root / "servers").items() if server.text("type") in types]
    if not known:
        wanted = " or ".join(types)
        (root / "servers").refuse(
            f"no server of type {wanted}, so it is unknown where the table is",
            f"a server with type: {wanted}, and the place of the table",
        )
        return None
    server = known[0]
    if (server.text("encoding") or "UTF-8").upper() not in ("UTF-8", "UTF8"):
        (server / "encoding").refuse(quoted_value((server / "encoding").value), "UTF-8", "UTF-8")
    own = {name: rule for name, rule in rules.items() if rule.type == server.text("type")}
    found = next((name for name, rule in own.items() if rule.format == server.text("format")), None)
    settings = _settings(server, own[found] if found else _common(list(own.values())))
    if found is None:
        formats, said = [rule.format for rule in own.values() if rule.format], server.text("format")
        (server / "format").refuse(
            quoted_value(said), " or ".join(formats) or "no format", meant_word(said or "", formats)
        )
    if found is None or settings is None:
        return None
    return Server(found, settings, root.document.path.parent, own[found].file_key)


def _common(rules: Sequence[ServerRule]) -> ServerRule:
    """Return a rule with the keys that all rules permit and the properties of any, for a server whose format is wrong
    and can't be identified.
    """
    keys = {name: setting for name, setting in rules[0].keys.items() if all(name in rule.keys for rule in rules)}
    properties = {name: setting for rule in rules for name, setting in rule.properties.items()}
    return ServerRule(rules[0].type, "", keys, properties)


def _settings(server: Place, rule: ServerRule) -> dict[str, str] | None:
    every = {name: ServerSetting("", "") for name in rule.properties}
    stated = {name: server / name for name in rule.keys} | custom_properties(server, every)
    known, found = {**rule.keys, **rule.properties}, {}
    for name, setting in known.items():
        value = stated[name].value if name in stated else None
        if value is None and setting.default is not None:
            found[name] = setting.default
        elif isinstance(value, str) and re.fullmatch(setting.pattern, value):
            found[name] = value
        else:
            meant = setting.meant(value) if isinstance(value, str) else None
            stated.get(name, server / name).refuse(quoted_value(value), setting.expected, meant)
    return found if len(found) == len(known) else None
