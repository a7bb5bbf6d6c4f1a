"""What is known about the machine that measures."""

import os
import platform


def describe_machine() -> str:
    """One line: processor, CPUs that may be used, load at the start, operating system."""
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                model = value.strip()
                break
    cpus = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    return f"{model}, {cpus} CPUs, load {load:.2f}, {platform.system()} {platform.release()}"
