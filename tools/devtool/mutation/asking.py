"""Asks the parts of the tests side by side whether they notice a fault."""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait

from devtool.mutation.processes import adopt_orphans

# Runs a part and names its first test that failed, if one did.
Run = Callable[[str], str | None]


class Question:
    """A process that runs one part, and leaves nothing behind when it is ended before."""

    _FORK = multiprocessing.get_context("fork")

    def __init__(self, part: str, run: Run, is_of_quick: bool) -> None:
        self.part = part
        self.is_of_quick = is_of_quick
        self.answer, told = self._FORK.Pipe(duplex=False)
        self._process = self._FORK.Process(target=self._work, args=(part, run, told))
        self._process.start()
        told.close()

    @staticmethod
    def _work(part: str, run: Run, told: Connection) -> None:
        adopt_orphans()
        try:
            told.send(run(part))
        except KeyboardInterrupt:  # which SIGTERM is here too, see verb.py
            os._exit(1)

    def noticed_by(self) -> str | None:
        """What `run` gave, once `answer` is ready."""
        try:
            by: str | None = self.answer.recv()
        except EOFError:
            raise RuntimeError(f"the process that ran {self.part} broke off") from None
        return by

    def end(self) -> None:
        """Ends the process and all that it has started."""
        self._process.terminate()
        self._process.join()


def first_to_notice(parts: Sequence[str], run: Run, processors: int) -> str | None:
    """Runs parts on processors up to the first that notices, and gives what noticed.

    One processor takes the first part that is left each time, as most faults are noticed by a
    quick one, and the others take the last, as a fault that none notices is done when all are.

    Args:
      parts: The quick ones first.
      run: Runs a part, in a process of its own.
      processors: How many parts run at a time.
    """
    left = deque(parts)
    asked: list[Question] = []
    try:
        while left or asked:
            while left and len(asked) < processors:
                is_of_quick = not any(question.is_of_quick for question in asked)
                part = left.popleft() if is_of_quick else left.pop()
                asked.append(Question(part, run, is_of_quick))
            ready = wait([question.answer for question in asked])
            for question in [question for question in asked if question.answer in ready]:
                by = question.noticed_by()
                if by is not None:
                    return by
                asked.remove(question)
                question.end()
    finally:
        for question in asked:
            question.end()
    return None
