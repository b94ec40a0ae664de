"""Asks a server by the official clients of Connect and of gRPC for Python, over all protocols, and says what came of it:

    python check.py http://127.0.0.1:8080 < request.json

A line has the protocol, the hash of the plan by Plan and by StreamPlan, whether reports came before, and the codes of an error.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python/src"))

import grpc
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from autoshard._gen.autoshard.v1.answers_pb import Diagnostic
from autoshard._gen.autoshard.v1.service_connect import AutoshardServiceClientSync
from autoshard._gen.autoshard.v1.service_pb import PlanRequest, PlanResponse, StreamPlanRequest, StreamPlanResponse

SERVICE = "/autoshard.v1.AutoshardService/"


def camel(code):
    return "".join(part.capitalize() for part in code.split("_"))


def connect(url, protocol, request):
    """Asks by connectrpc."""
    client = AutoshardServiceClientSync(url, protocol=protocol)
    once = client.plan(request()).plan.hashes.plan
    events = [message.event for message in client.stream_plan(StreamPlanRequest(plan=request()))]
    wrong = request()
    wrong.memory = -1
    error = "none"
    try:
        client.plan(wrong)
    except ConnectError as e:
        found = [d.value(Diagnostic) for d in e.details if d.type_name == "autoshard.v1.Diagnostic"]
        error = f"{camel(e.code.value)} {','.join(d.code for d in found)}"
    return {"once": once, "streamed": events[-1].value.plan.hashes.plan, "reports": len(events) > 1, "error": error}


def plain(url, request):
    """Asks by grpcio, whose messages are bytes to it."""
    with grpc.insecure_channel(url.removeprefix("http://")) as channel:
        ask = {"request_serializer": lambda m: m.to_binary()}
        plan = channel.unary_unary(SERVICE + "Plan", response_deserializer=PlanResponse.from_binary, **ask)
        stream = channel.unary_stream(SERVICE + "StreamPlan", response_deserializer=StreamPlanResponse.from_binary, **ask)
        once = plan(request()).plan.hashes.plan
        events = [message.event for message in stream(StreamPlanRequest(plan=request()))]
        wrong = request()
        wrong.memory = -1
        error = "none"
        try:
            plan(wrong)
        except grpc.RpcError as e:
            details = dict(e.trailing_metadata())["grpc-status-details-bin"]
            error = f"{camel(e.code().name.lower())} {'AS1401' if b'AS1401' in details else ''}"
        return {"once": once, "streamed": events[-1].value.plan.hashes.plan, "reports": len(events) > 1, "error": error}


def main():
    url, text = sys.argv[1], sys.stdin.read()

    def request():
        return PlanRequest.from_json(text)

    for name, protocol in (("connect", ProtocolType.CONNECT), ("grpc", ProtocolType.GRPC), ("grpc-web", ProtocolType.GRPC_WEB)):
        print(json.dumps({"protocol": name, **connect(url, protocol, request)}), flush=True)
    print(json.dumps({"protocol": "grpc, by grpcio", **plain(url, request)}), flush=True)


main()
