"""Runs a program for JAX: guard.py REPORT PROGRAM ARGUMENTS.

A process that fails ends at once and leaves its exception in the file REPORT. JAX by itself would wait at the end for
the other processes, which wait for this one.
"""

import json
import os
import runpy
import sys
import traceback


def lines_in(program, error):
    """Returns the lines of the program in the traceback of an error, the innermost last."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == program]
    if isinstance(error, SyntaxError) and error.filename == program:
        lines.append(error.lineno)
    return lines


def fail(code, report, program, message, error):
    imported = isinstance(error, ImportError) and (error.name or "").split(".")[0] in ("jax", "jaxlib", "numpy")
    lines = lines_in(program, error) or [0]
    with open(report, "w") as file:
        json.dump({"message": message, "line": lines[-1], "import": imported}, file)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main():
    report, program = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as error:
        if isinstance(error.code, int):
            if error.code & 255:
                fail(error.code & 255, report, program, "exit status %d" % (error.code & 255), error)
        elif error.code is not None:
            print(error.code, file=sys.stderr)
            fail(1, report, program, str(error.code), error)
    except BaseException as error:
        frames = error.__traceback__
        while frames.tb_next and frames.tb_frame.f_code.co_filename != program:
            frames = frames.tb_next
        traceback.print_exception(type(error), error, frames)
        message = traceback.format_exception_only(type(error), error)[-1]
        fail(1, report, program, message, error)


main()
