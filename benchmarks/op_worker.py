"""The process that times eager ops: `python -m benchmarks.op_worker SECONDS_OF_A_ROUND`.

Requests and answers as in `benchmarks.worker`, requests being JSON:

    (start)         -> {"version": text}
    {"list": true}  -> {"calls": [[names, meanings]], "unknown": [names]}
    {"call": [names, meanings], "elements": number, "dtype": text}
                    -> {}, {"absent": true} or {"refused": error}
    {"round": true} -> {"seconds": a call}

The last prepared call is the one that a round times.
"""

import json
import os
import sys
from typing import Any

from benchmarks.op_calls import OpCall, make_arguments, op_calls, resolve
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
            calls, unknown = op_calls(self._tf)
            return {"calls": [[call.names, call.meanings] for call in calls], "unknown": unknown}
        if "call" in content:
            return self._prepare(
                OpCall(*content["call"]), int(content["elements"]), str(content["dtype"])
            )
        if self._loop is None:
            raise RuntimeError("a call must be prepared before it is timed")
        return {"seconds": self._loop.round()}

    def _prepare(self, call: OpCall, elements: int, dtype: str) -> Answer:
        self._loop = None
        found = (resolve(self._tf, name) for name in call.names)
        function = next((each for each in found if each is not None), None)
        if function is None:
            return {"absent": True}
        try:
            arguments = make_arguments(self._tf, call, elements, dtype)
            function(**arguments)
        except Exception as error:
            # What an op says of a dtype that it lacks is a result here, and the report prints it.
            return {"refused": describe(error)}
        statement = f"f({', '.join(f'{name}={name}' for name in arguments)})"
        self._loop = Loop(statement, {"f": function, **arguments}, self._round_seconds)
        self._loop.warm_up(self._round_seconds)
        return {}


def main() -> None:
    server = _OpServer(float(sys.argv[1]))
    serve(sys.stdin, take_standard_output(), server.start, server.handle)


if __name__ == "__main__":
    main()
