"""What is known about the machine that measures, and about who else used it meanwhile."""

import os
import platform
import resource
import time


def describe_machine() -> str:
    """One line: processor, CPUs that may be used, operating system."""
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                model = value.strip()
                break
    cpus = len(os.sched_getaffinity(0))
    return f"{model}, {cpus} CPUs, {platform.system()} {platform.release()}"


def busy_seconds(first_line_of_stat: str, ticks_per_second: int) -> float:
    """Seconds for which the CPUs of the machine ran something, or a hypervisor took them away.

    Source: proc(5), /proc/stat: user nice system idle iowait irq softirq steal guest guest_nice,
    where user and nice contain the guests.
    """
    user, nice, system, _idle, _iowait, irq, softirq, steal, *_ = (
        int(word) for word in first_line_of_stat.split()[1:]
    )
    return (user + nice + system + irq + softirq + steal) / ticks_per_second


class Neighbours:
    """Measures how much of the CPUs went to programs that are not ours, from its making on.

    A process of ours counts as ours once it has ended.
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._others = self._now()

    def share(self) -> float:
        """The part of all CPUs that others used: 0 on a quiet machine, 1 when they had them all."""
        capacity = (time.monotonic() - self._start) * (os.cpu_count() or 1)
        return min(1.0, max(0.0, (self._now() - self._others) / capacity))

    @staticmethod
    def _now() -> float:
        with open("/proc/stat") as stat:
            busy = busy_seconds(stat.readline(), os.sysconf("SC_CLK_TCK"))
        usages = [
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        ]
        return busy - sum(usage.ru_utime + usage.ru_stime for usage in usages)
