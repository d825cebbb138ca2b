"""ONNX files of policies; needs the package onnx."""

from __future__ import annotations

import os

import numpy as np


def write_linear(
    path: str | os.PathLike[str], weights: np.ndarray, batch: str | int = "worlds"
) -> None:
    """Write the policy actions = observations @ weights."""
    import onnx

    real, make = onnx.TensorProto.FLOAT, onnx.helper.make_tensor_value_info
    rows, columns = weights.shape
    kept = onnx.numpy_helper.from_array(weights.astype(np.float32), "w")
    node = onnx.helper.make_node("MatMul", ["seen", "w"], ["action"])
    ends = make("seen", real, [batch, rows]), make("action", real, [batch, columns])
    graph = onnx.helper.make_graph([node], "policy", [ends[0]], [ends[1]], [kept])
    opset = [onnx.helper.make_opsetid("", 13)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), path)
