"""What the schema allows at a path of a record: keys, types and their descriptions.

Read from the JSON Schema of the record, so it needs no list of its own. Used to suggest keys in
messages and to check the paths of ``--set``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

from optimizer.io.document import Key, KeyPath

_Node = Mapping[str, Any]


@cache
def _schema(model: type[BaseModel]) -> _Node:
    return model.model_json_schema()


@dataclass(frozen=True, slots=True)
class Shape:
    """The schema alternatives a value may have; empty when nothing is known."""

    root: _Node
    nodes: tuple[_Node, ...]

    @classmethod
    def of(cls, model: type[BaseModel], data: object = None) -> Shape:
        """Return the shape of a whole record; ``data`` picks the branch where a key such as ``type`` decides."""
        root = _schema(model)
        return cls(root, tuple(_flat(root, root, data)))

    def child(self, key: Key, data: object = None) -> Shape:
        """Return the shape below a key or list position, given the value that stands there."""
        below = [node for own in self.nodes for node in _below(own, key)]
        return Shape(self.root, tuple(flat for node in below for flat in _flat(self.root, node, data)))

    def at(self, path: KeyPath, data: object) -> Shape:
        """Return the shape at a path below ``data``, the value of this shape."""
        shape = self
        for key in path:
            data = _get(data, key)
            shape = shape.child(key, data)
        return shape

    @property
    def keys(self) -> tuple[str, ...]:
        """Fixed keys of a record, as written in files."""
        return tuple(dict.fromkeys(key for node in self.nodes for key in node.get("properties", ())))

    @property
    def is_map(self) -> bool:
        """True when the user chooses the keys, as for workloads by name."""
        return any(isinstance(node.get("additionalProperties"), Mapping) or "patternProperties" in node
                   or node.get("additionalProperties") is True for node in self.nodes)  # fmt: skip

    @property
    def choices(self) -> tuple[str, ...]:
        """Words a value is chosen from; empty when it is free."""
        words = (word for node in self.nodes for word in node.get("enum", [node["const"]] if "const" in node else []))
        return tuple(dict.fromkeys(str(word) for word in words))

    def description(self, key: str) -> str:
        """Return the first line of a key's description; empty when there is none."""
        texts = (str(node.get("properties", {}).get(key, {}).get("description", "")) for node in self.nodes)
        return next(filter(None, texts), "").split("\n")[0]


def _get(data: object, key: Key) -> object:
    if isinstance(data, Mapping):
        return data.get(key)
    if isinstance(data, list) and isinstance(key, int) and 0 <= key < len(data):
        return data[key]
    return None


def _flat(root: _Node, node: _Node, data: object) -> Iterator[_Node]:
    """Resolve references and unions into plain alternatives; a discriminator keeps the one ``data`` names."""
    if "$ref" in node:
        yield from _flat(root, root["$defs"][node["$ref"].rpartition("/")[2]], data)
        return
    options = node.get("anyOf") or node.get("oneOf")
    if not options:
        yield node
        return
    discriminator = node.get("discriminator", {})
    tag = _get(data, discriminator.get("propertyName", ""))
    chosen = discriminator.get("mapping", {}).get(tag) if isinstance(tag, str) else None
    for option in [{"$ref": chosen}] if chosen else options:
        yield from _flat(root, option, data)


def _below(node: _Node, key: Key) -> Iterator[_Node]:
    if key in node.get("properties", ()):
        yield node["properties"][key]
        return
    if isinstance(node.get("additionalProperties"), Mapping):
        yield node["additionalProperties"]
    yield from node.get("patternProperties", {}).values()
    if isinstance(key, int) and isinstance(node.get("items"), Mapping):
        yield node["items"]
