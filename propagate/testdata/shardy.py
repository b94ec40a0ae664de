"""Run real Shardy passes on many programs: answers every line [text, pipeline] of standard input, JSON, with a line
[output or null, first error], and a line with a list of them with a list of answers. Programs run in a child process,
one after the other; where Shardy crashes on one, or does not come to an end within 10 seconds, that program's answer is
[null, "crash"] and the next one gets a new child. A pipeline that starts with "!" gets a child of its own."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.environ['AUTOSHARD_SHARED'], 'oracle'))
import shardy

PER_CHILD = 1000


def serve(requests, answers):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for line in requests:
        text, pipeline = json.loads(line)
        signal.alarm(10)
        _, after, diags = shardy.run(text, pipeline.lstrip('!'))
        signal.alarm(0)
        errors = [d[3] for d in diags if d[0] == 'error']
        answers.write(json.dumps([after, errors[0] if errors else '']) + '\n')
        answers.flush()


class Child:
    def __init__(self):
        there, self.requests = os.pipe()
        self.answers, back = os.pipe()
        self.left = PER_CHILD
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.requests)
            os.close(self.answers)
            serve(os.fdopen(there), os.fdopen(back, 'w'))
            os._exit(0)
        os.close(there)
        os.close(back)
        self.requests, self.answers = os.fdopen(self.requests, 'w'), os.fdopen(self.answers)

    def ask(self, line):
        """the answer, or None where the child died"""
        self.left -= 1
        self.requests.write(line)
        self.requests.flush()
        return self.answers.readline() or None

    def end(self):
        self.requests.close()
        self.answers.close()
        os.waitpid(self.pid, 0)


child = None


def answer(program):
    global child
    alone = program[1].startswith('!')
    if child and (alone or not child.left):
        child.end()
        child = None
    child = child or Child()
    line = child.ask(json.dumps(program) + '\n')
    if line is None or alone:
        child.end()
        child = None
    return json.loads(line or '[null, "crash"]')


for line in sys.stdin:
    request = json.loads(line)
    many = not request or isinstance(request[0], list)
    json.dump([answer(p) for p in request] if many else answer(request), sys.stdout)
    sys.stdout.write('\n')
    sys.stdout.flush()
