"""The process that times eager ops: `python -m benchmarks.op_worker SECONDS_OF_A_ROUND`.

Requests and answers as in `benchmarks.worker`, requests being JSON:

    (start)         -> {"version": text}
    {"list": true}  -> {"calls": [contents of OpCalls], "untimed": {name: why}}
    {"call": content of an OpCall, "elements": number, "dtype": text}
                    -> {"results": a few numbers of each}, {"absent": true} or {"refused": error}
    {"round": true} -> {"seconds": a call}

The last prepared call is the one that a round times, as the fastest of its batches: what another
program does meanwhile can only add to them.
"""

import json
import os
import sys
from typing import Any

from benchmarks.op_arguments import make_arguments
from benchmarks.op_calls import OpCall, arguments_for, op_calls, resolve
from benchmarks.op_results import describe_result
from benchmarks.timing import Loop
from benchmarks.worker import Answer, describe, serve, take_standard_output


class _OpServer:
    def __init__(self, round_seconds: float) -> None:
        self._round_seconds = round_seconds
        self._loop: Loop | None = None

    def start(self) -> Answer:
        from benchmarks.workloads import tf_api

        tf_api.configure(int(os.environ["BENCHMARK_THREADS"]))
        self._tf: Any = tf_api.tf
        return {"version": tf_api.version()}

    def handle(self, request: str) -> Answer:
        content = json.loads(request)
        if "list" in content:
            calls, untimed = op_calls(self._tf)
            return {"calls": [call.content() for call in calls], "untimed": untimed}
        if "call" in content:
            return self._prepare(
                OpCall(**content["call"]), int(content["elements"]), str(content["dtype"])
            )
        if self._loop is None:
            raise RuntimeError("a call must be prepared before it is timed")
        return {"seconds": self._loop.round()}

    def _prepare(self, call: OpCall, elements: int, dtype: str) -> Answer:
        self._loop = None
        function = resolve(self._tf, call.function)
        if function is None:
            return {"absent": True}
        try:
            meanings = arguments_for(function, call.meanings)
            arguments, kept = make_arguments(self._tf, meanings, elements, dtype)
            results = describe_result(function(**arguments), with_values=not call.is_random)
        except Exception as error:
            # What an op says of a dtype that it lacks is a result here, and the report prints it.
            return {"refused": describe(error)}
        statement = f"f({', '.join(f'{name}={name}' for name in arguments)})"
        names = {"f": function, **arguments, "_kept": kept}
        self._loop = Loop(statement, names, self._round_seconds, summary=min)
        self._loop.warm_up(self._round_seconds)
        return {"results": results}


def main() -> None:
    server = _OpServer(float(sys.argv[1]))
    serve(sys.stdin, take_standard_output(), server.start, server.handle)


if __name__ == "__main__":
    main()
