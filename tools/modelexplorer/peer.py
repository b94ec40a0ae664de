"""Converts a model with the MLIR adapter of Model Explorer.

peer.py MODEL                   prints its nodes, one a line: graph, id, kind, and how many outputs
peer.py MODEL NODE_DATA...      reads node data over them with Model Explorer's classes, and prints for each file how many nodes have
                                data, how many keys name no node, and the kinds of nodes with outputs that have none, with their numbers
"""

import collections
import json
import sys

from dacite import Config, from_dict
from model_explorer import node_data_builder
from model_explorer.builtin_mlir_adapter import BuiltinMlirAdapter


def graphs(model):
    found = {}
    for collection in BuiltinMlirAdapter().convert(model, {})["graphCollections"]:
        for graph in collection.graphs:
            found[graph["id"]] = {node["id"]: node for node in graph["nodes"]}
    return found


def kind(node):
    return "input of " + node["namespace"].split("(")[-1].split(")")[0].rsplit("_", 1)[0] if node["id"].startswith("pid") else node["label"]


def compare(nodes, file):
    with open(file) as f:
        # A text is a value, too, although the classes say that values are numbers.
        data = {g: from_dict(node_data_builder.GraphNodeData, d, Config(check_types=False, strict=True)) for g, d in json.load(f).items()}
    node_data_builder.ModelNodeData(data).to_json_string()
    results = {(g, k): r for g, d in data.items() for k, r in d.results.items()}
    known = {(g, k): node for g, of in nodes.items() for k, node in of.items()}
    without = collections.Counter(kind(node) for at, node in known.items() if node["outputsMetadata"] and at not in results)
    return {"match": len(results.keys() & known.keys()), "unknown": sorted(map(str, results.keys() - known.keys())), "without": without}


def main():
    nodes = graphs(sys.argv[1])
    if len(sys.argv) > 2:
        print(json.dumps([compare(nodes, file) for file in sys.argv[2:]]))
        return
    for graph, of in nodes.items():
        for node in of.values():
            print(graph, node["id"], kind(node).replace(" ", "_"), len(node["outputsMetadata"]))


main()
