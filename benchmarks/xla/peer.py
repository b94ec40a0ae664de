"""Compiles modules with XLA on virtual CPU devices and runs them. The first argument is the folder with xla.py. Each line of standard
input is a request in JSON - file, devices, inputs, expected - and each line of standard output its answer: what a device sends and holds,
the largest error relative to the largest magnitude of an output, or why there is no program."""

import json
import sys

sys.path.insert(0, sys.argv[1])
import xla


def worst(outs, file):
    import numpy as np

    want, error = np.load(file), 0.0
    for i in range(len(want.files)):
        w = want[f"out{i}"].astype("float64")
        o = outs[i].astype("float64")[tuple(slice(0, n) for n in w.shape)]
        error = max(error, float(np.max(np.abs(w - o) / (np.abs(w).max() + 1e-6), initial=0)))
    return error


def judge(request):
    import numpy as np

    executable = xla.compile_module(open(request["file"]).read(), request["devices"])
    flows = xla.collectives(executable.hlo_modules()[0].to_string(), request["devices"])
    memory = executable.get_compiled_memory_stats()
    given = np.load(request["inputs"])
    outs = xla.execute(executable, [given[f"arg{i}"] for i in range(len(given.files))])
    return {
        "collectives": [{"kind": k, "group": g, "operand_bytes": o, "count": n} for k, g, o, r, n in flows],
        "sent": sum(xla.ring_bytes(k, g, o, r) * n for k, g, o, r, n in flows),
        "memory": memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes,
        "error": worst(outs, request["expected"]),
    }


for line in sys.stdin:
    try:
        answer = judge(json.loads(line))
    except Exception as e:
        answer = {"failed": str(e).split("\n")[0][:200]}
    print(json.dumps(answer), flush=True)
