"""Run real Shardy passes on many programs: reads a JSON list of [text, pipeline] from standard input and writes a JSON
list of [output or null, first error]. Every program runs in a child process, since Shardy crashes on some, and
not for more than 10 seconds, since it never ends on others."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.environ['AUTOSHARD_SHARED'], 'oracle'))
import shardy


def child(text, pipeline):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        os.close(read)
        _, after, diags = shardy.run(text, pipeline)
        errors = [d[3] for d in diags if d[0] == 'error']
        with os.fdopen(write, 'w') as f:
            json.dump([after, errors[0] if errors else ''], f)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        answer = f.read()
    os.waitpid(pid, 0)
    return json.loads(answer) if answer else [None, 'crash']


json.dump([child(*p) for p in json.load(sys.stdin)], sys.stdout)
