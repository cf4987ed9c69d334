# SPDX-License-Identifier: Apache-2.0
"""Plot files in raw containers, by docs/reference/raw_container.md alone."""

import json

import numpy as np
from amr_reader import Plot, of_tables
from seism_tool import described

KINDS = {"i32": "<i4", "i64": "<i8", "f64": "<f8"}


def shared(path):
    data, about = described(path)
    return _plot(about, [
        np.frombuffer(data, KINDS[one["type"]], int(np.prod(one["dims"])), one["offset"])
        for one in about["objects"]
    ])  # fmt: skip


def per_rank(path):
    """Each piece at its place; elements that nobody wrote are seen as such."""
    about = json.loads(path.read_text())
    found = [np.full(one["dims"], -1, KINDS[one["type"]]) for one in about["objects"]]
    for part in about["parts"]:
        data, of_part = described(path.parent / part)
        for piece in of_part["pieces"]:
            values, count = found[piece["object"]], piece["count"]
            where = tuple(slice(f, f + n) for f, n in zip(piece["offset"], count, strict=True))
            size = int(np.prod(count))
            values[where] = np.frombuffer(data, values.dtype, size, piece["at"]).reshape(count)
    return _plot(about, found)


def _plot(about, values):
    attributes = {one["name"]: one["value"] for one in about["attributes"]}
    objects = {
        one["path"]: array.reshape(one["dims"])
        for one, array in zip(about["objects"], values, strict=True)
    }
    components = attributes["num_components"]
    domains, levels = [], []
    for level in range(attributes["num_levels"]):
        name = f"level_{level}."
        domains.append(tuple(c + 1 for c in attributes[f"{name}prob_domain"][3:]))
        tables = [
            objects[f"/{name}{one}"]
            for one in ("boxes", "Processors", "data:offsets=0", "data:datatype=0")
        ]
        levels.append(of_tables(*tables, components))
    return Plot(components, domains, levels, attributes["level_0.time"])
