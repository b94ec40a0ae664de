"""Evaluates einsums with NumPy: one JSON object a line, {"equation", "dims", "data"}, to {"dims", "data"} or {"error"}."""
import json
import sys

import numpy as np

for line in sys.stdin:
    case = json.loads(line)
    operands = [np.array(data, dtype=np.int64).reshape(dims) for dims, data in zip(case["dims"], case["data"])]
    try:
        result = np.einsum(case["equation"], *operands)
        print(json.dumps({"dims": list(result.shape), "data": result.ravel().tolist()}))
    except Exception as e:
        print(json.dumps({"error": str(e)}))
