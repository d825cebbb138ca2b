"""Writing a policy: a perceptron as an ONNX file, and its description as a TOML file beside it.

x = clip((observation - mean) / spread, -5, 5),    x = elu(W x + b) layer by layer,    W x + b
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.environments.policy import PolicyDescription
from heelstrike.errors import MissingPackageError
from heelstrike.files import whole_file

CLIP = 5.0
"""Largest standardised observation."""


def write_policy(
    path: str | os.PathLike[str],
    layers: Sequence[tuple[np.ndarray, np.ndarray]],
    mean: np.ndarray,
    spread: np.ndarray,
    description: PolicyDescription,
) -> None:
    """Write a policy that `hs.Policy` and `heelstrike play` can run.

    Args:
        path: ONNX file; the description is written beside it, as a .toml file of the same name.
        layers: weights (outputs, inputs) and biases (outputs,) of each layer; all but the last are
            followed by an ELU.
        mean: mean of each observed number, which is subtracted.
        spread: standard deviation of each observed number, by which it is divided.
        description: what the policy sees and moves.
    """
    try:
        onnx: Any = import_module("onnx")
    except ImportError as error:
        raise MissingPackageError(
            "write_policy needs onnx, which is not installed; run pip install 'heelstrike[onnx]'"
        ) from error
    kept = {"mean": mean, "spread": spread, "low": np.array(-CLIP), "high": np.array(CLIP)}
    node = onnx.helper.make_node
    nodes = [
        node("Sub", ["observation", "mean"], ["off"]),
        node("Div", ["off", "spread"], ["ratio"]),
        node("Clip", ["ratio", "low", "high"], ["x0"]),
    ]
    for i, (weights, bias) in enumerate(layers):
        kept |= {f"w{i}": weights, f"b{i}": bias}
        last = i == len(layers) - 1
        name = "action" if last else f"y{i}"
        nodes.append(node("Gemm", [f"x{i}", f"w{i}", f"b{i}"], [name], transB=1))
        if not last:
            nodes.append(node("Elu", [name], [f"x{i + 1}"]))
    real = onnx.TensorProto.FLOAT
    value = onnx.helper.make_tensor_value_info
    ends = (
        value("observation", real, ["worlds", len(mean)]),
        value("action", real, ["worlds", len(layers[-1][1])]),
    )
    arrays = [
        onnx.numpy_helper.from_array(np.asarray(x, np.float32), name) for name, x in kept.items()
    ]
    graph = onnx.helper.make_graph(nodes, "policy", [ends[0]], [ends[1]], arrays)
    opset = [onnx.helper.make_opsetid("", 13)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.checker.check_model(model)
    path = Path(path)
    with whole_file(path) as file:
        file.write_bytes(model.SerializeToString())
    with whole_file(path.with_suffix(".toml")) as file:
        file.write_text(described(description))


def described(description: PolicyDescription) -> str:
    """Return a description as TOML; keys without a value are left out."""
    given = {key: x for key, x in asdict(description).items() if x is not None and x != ()}
    return "".join(f"{key} = {json.dumps(x)}\n" for key, x in given.items())
