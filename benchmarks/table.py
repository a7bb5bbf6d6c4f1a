"""Text tables and the reports made of them."""

from collections.abc import Sequence

from benchmarks.catalogue import BEST_PEER, Target, Workload
from benchmarks.compare import Measurement
from benchmarks.summary import best, format_bytes, format_ratio, format_seconds


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Aligns cells: the first of a row to the left, the others to the right.

    A row of two cells is a name and a text, which may run across the columns.
    """
    figures = [row for row in rows if len(row) > 2]
    columns = max((len(row) for row in figures), default=0)
    widths = [
        max((len(row[i]) for row in figures if i < len(row)), default=0) for i in range(columns)
    ]
    first = max((len(row[0]) for row in rows), default=0)
    lines = []
    for row in rows:
        cells = [row[0].ljust(first)]
        if len(row) == 2:
            cells.append(row[1])
        else:
            cells += [cell.rjust(widths[i]) for i, cell in enumerate(row[1:], 1)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def medians(results: Sequence[Measurement]) -> dict[str, float]:
    """The median of each column that has one."""
    return {r.column: summary.median for r in results if (summary := r.summary) is not None}


def best_peer(results: Sequence[Measurement]) -> tuple[str, float] | None:
    """The fastest peer and its median."""
    return best(medians([result for result in results if result.is_peer]).items())


def report(workload: Workload, results: Sequence[Measurement]) -> str:
    """The block of one workload: a line a system, with the error of a cell that failed."""
    rows = []
    fastest = best_peer(results)
    for result in results:
        summary = result.summary
        if summary is None:
            rows.append([result.column, result.error])
            continue
        row = [result.column, format_seconds(summary.median), f"spread {summary.spread:.0%}"]
        if fastest is not None:
            row.append(f"{format_ratio(summary.median / fastest[1])} best peer")
        if workload.shows_memory:
            row.append(format_bytes(result.memory))
        rows.append(row)
    body = format_table(rows)
    indented = "\n".join("  " + line for line in body.splitlines())
    return f"{workload.name}: {workload.title}\n{indented}"


def judge(target: Target, column: str, results: Sequence[Measurement]) -> list[str] | None:
    """A row about one target: what it asks, what was measured, whether it is met.

    None where a figure is missing, which the report of the workload has said.
    """
    times = medians(results)
    if column not in times:
        return None
    own = times[column]
    if target.against is None:
        met = own <= target.factor
        wanted, measured = format_seconds(target.factor), format_seconds(own)
    else:
        other = best_peer(results) if target.against == BEST_PEER else None
        name = other[0] if other is not None else target.against
        if name not in times:
            return None
        ratio = own / times[name]
        met = ratio <= target.factor
        label = f"{BEST_PEER} ({name})" if other is not None else name
        wanted, measured = f"{format_ratio(target.factor)} {label}", format_ratio(ratio)
    return [f"at most {wanted}", measured, "met" if met else "missed"]
