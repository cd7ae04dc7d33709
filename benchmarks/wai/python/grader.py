"""
Runs the benchmark's own programs on states that it is given. Two JSON lines in, the job and the state; one out:

    {"do": "verify", "file": PATH}            -> {"passed": BOOL, "message": TEXT}
    {"do": "solve", "file": PATH, "task": ID} -> {"state": STATE}

or {"error": TEXT} where the program failed. A job also says after how many seconds this process is to end itself:
whoever asked would have stopped it before, were it still there. Standard library only; ends when its input does.
"""

import json
import os
import resource
import signal
import sys
import types

if sys.version_info < (3, 9):
    sys.exit("the outcome verifiers need Python 3.9 or later")


class Response:
    """What the verifiers use of an HTTP response."""

    def __init__(self, status_code, text):
        self.status_code = status_code
        self.text = text
        self.content = text.encode()
        self.ok = status_code < 400

    def json(self, **_):
        return json.loads(self.text)

    def raise_for_status(self):
        if not self.ok:
            raise RuntimeError(f"HTTP {self.status_code}")


SERVER = "http://app.wai"


class Requests(types.ModuleType):
    """Stands in for the package `requests`: there is one address, and it answers with the state being graded."""

    def __init__(self):
        super().__init__("requests")
        self.state = None
        self.exceptions = types.ModuleType("requests.exceptions")
        self.exceptions.RequestException = RuntimeError

    def get(self, url, **_):
        if url != f"{SERVER}/api/state":
            raise RuntimeError(f"a verifier asked for {url}: only the final state is there")
        return Response(200, self.state)


requests = Requests()
sys.modules["requests"] = requests
sys.modules["requests.exceptions"] = requests.exceptions

compiled = {}


def load(path):
    """The program's names, fresh each time: nothing that one run leaves behind reaches the next."""
    if path not in compiled:
        with open(path, encoding="utf-8") as file:
            compiled[path] = compile(file.read(), path, "exec")
    names = {"__name__": "benchmark_program", "__file__": path}
    exec(compiled[path], names)
    return names


def verify(job, state):
    requests.state = state
    passed, message = load(job["file"])["verify"](SERVER)
    if not isinstance(passed, bool):
        raise TypeError(f"the verdict is no boolean but {passed!r}")
    return {"passed": passed, "message": str(message)}


def solve(job, state):
    names = load(job["file"])
    solvers = names.get("SOLVERS") or names.get("SOLVE_MAP") or {}
    if job["task"] not in solvers:
        raise LookupError("there is no solution")
    solved = json.loads(state)
    solvers[job["task"]](solved)
    return {"state": solved}


MEMORY_BYTES = 2 << 30


def limit_memory():
    """A program that asks for more fails by itself, before the system ends whatever it likes."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    except (ValueError, OSError):
        pass  # Not every system can.


def main():
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What a program or a child of its own prints is no reply.
    sys.stdout = open(os.devnull, "w")
    os.dup2(sys.stdout.fileno(), 1)
    limit_memory()
    for line in sys.stdin.buffer:
        job, state = json.loads(line), sys.stdin.buffer.readline().decode()
        signal.setitimer(signal.ITIMER_REAL, job["ends_after_s"])
        try:
            reply = {"verify": verify, "solve": solve}[job["do"]](job, state)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        signal.setitimer(signal.ITIMER_REAL, 0)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


main()
