"""Logs of traces and caches (Graven's own)."""

from collections.abc import Iterable as _Iterable

from graven import _engine, _public


def set_logs(topics: str | _Iterable[str]) -> None:
    """Logs what happens to traces, as the environment variable GRAVEN_LOGS does.

    Lines begin with the trace that they are about, "f#2: ". They go to the loggers
    "graven.trace", "graven.cache" and "graven.captures", and to standard error where nobody has
    set up logging.

    Args:
      topics: "trace,cache", or a list of names. "trace" is each trace, with its reason, its price
        and advice; "cache" each trace that goes; "captures" what each trace uses beside its
        arguments. None of them ends logging.

    Raises:
      ValueError: A name is not one of these.

    Source: Graven's own.
    """
    _engine.set_logs(topics if isinstance(topics, str) else ",".join(topics))


def get_logs() -> tuple[str, ...]:
    """Returns the topics that are logged.

    Source: Graven's own.
    """
    return tuple(name for name in _engine.logs().split(",") if name)


_public.complete(__name__)
