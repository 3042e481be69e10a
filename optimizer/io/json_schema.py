"""JSON Schema of the files, as an editor needs it: what people write, not what is held in memory."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

_AMOUNT = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^[-+]?[0-9][0-9_]*(\.[0-9]+)?([eE][-+]?[0-9]+)? +[A-Z]{3}$"},
    ]
}
_BOUNDS: dict[str, str] = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def json_schema(model: type[BaseModel], *, written: bool = False) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a record as people write it, or as the program has ``written`` it.

    Amounts are numbers or ``20e6 JPY``, exact numbers are numbers, ``lead_weeks`` may be one number.
    """
    mode: Literal["validation", "serialization"] = "serialization" if written else "validation"
    schema: dict[str, Any] = _tidy(model.model_json_schema(mode=mode, by_alias=True))
    if "Money" in schema.get("$defs", {}):
        schema["$defs"]["Money"] = {**_AMOUNT, "description": schema["$defs"]["Money"]["description"]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _tidy(node: Any) -> Any:
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    tidy: dict[str, Any] = {
        str(key if isinstance(value, dict) else _BOUNDS.get(key, key)): _tidy(value) for key, value in node.items()
    }
    options = tidy.get("anyOf", [])
    if {"type": "number"} in options and {"type": "string"} in options:
        options = [option for option in options if option != {"type": "string"}]  # exact numbers take no text
    if any(option.get("const") == "stock" for option in options):
        options = [{"type": "integer"}, *options]
    return _with_options(tidy, options)


def _with_options(node: dict[str, Any], options: list[dict[str, Any]]) -> dict[str, Any]:
    if len(options) != 1:
        return {**node, "anyOf": options} if options else node
    return {**options[0], **{key: value for key, value in node.items() if key != "anyOf"}}
