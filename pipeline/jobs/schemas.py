"""JSON Schemas of the policy files, for editors that check a file while it is written."""

import json

from pydantic import BaseModel

from pipeline.policy import PrivacyBudget, ReleasePolicy

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MODELS: dict[str, type[BaseModel]] = {"release-policy.json": ReleasePolicy, "privacy-budget.json": PrivacyBudget}


def schemas() -> dict[str, str]:
    """The text of every file of policies/schema/, by its name. `check` is stricter: it knows the contract as well."""
    return {name: _text(model) for name, model in _MODELS.items()}


def _text(model: type[BaseModel]) -> str:
    return json.dumps({"$schema": _DIALECT, **model.model_json_schema(by_alias=True)}, indent=2) + "\n"
