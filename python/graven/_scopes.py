"""Scopes of names, devices and control dependencies."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from graven import _devices, _engine
from graven._device_spec import DeviceSpec, device_text, parse_device

# Of names in a graph, and of those that do not stand within another scope.
_SCOPE = r"^[A-Za-z0-9_.\\/>-]*$"
_ROOT_SCOPE = r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$"


class _Entered(threading.local):
    """What a thread has entered and not yet left, the innermost last."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []


class name_scope:  # noqa: N801 (TensorFlow's name)
    """Puts a prefix before the names of the ops that are made in it.

    Args:
      name: The scope's name, made unique; one that ends in "/" is entered exactly; "" goes to the
        root.

    Raises:
      ValueError: The name is no string; while a function is traced also where names of ops cannot
        have it as a prefix.

    Source: tf.name_scope.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._entered = _Entered()

    def __reduce__(self) -> tuple[Any, ...]:
        return name_scope, (self._name,)

    @property
    def name(self) -> str:
        """What was asked for."""
        return self._name

    def __enter__(self) -> str:
        if self._name and not _engine.executing_eagerly():
            is_root = not _engine.current_name_scope()
            pattern, kind = (_ROOT_SCOPE, "root scope") if is_root else (_SCOPE, "scope")
            if not re.match(pattern, self._name):
                raise ValueError(
                    f"'{self._name}' is not a valid {kind} name. A {kind} name has to match the "
                    f"following pattern: {pattern}"
                )
        scope = _engine.NameScope(self._name)
        self._entered.scopes.append(scope)
        return scope.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._entered.scopes.pop().__exit__(kind, error, traceback)


class init_scope:  # noqa: N801
    """Leaves the function that is being traced: ops in it compute at once.

    Source: tf.init_scope.
    """

    def __enter__(self) -> None:
        self._scope = _engine.InitScope()
        self._scope.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._scope.__exit__(kind, error, traceback)


def control_dependencies(control_inputs: Iterable[Any] | None) -> _engine.ControlDependencies:
    """Makes the ops of a `with` block wait for others, while a function is traced.

    Args:
      control_inputs: Operations and tensors; None forgets those of the blocks around. A function
        without arguments among them is called, unless a function is being traced.

    Returns:
      A context manager.

    Source: tf.control_dependencies.
    """
    if control_inputs is None:
        return _engine.ControlDependencies(None)
    if isinstance(control_inputs, (_engine.Tensor, _engine.Operation)) or callable(control_inputs):
        raise TypeError(
            f"control_dependencies takes a list of operations and tensors, not {control_inputs!r}"
        )
    inputs = list(control_inputs)
    if _engine.executing_eagerly():
        for pending in inputs:
            if callable(pending):
                pending()
    return _engine.ControlDependencies(inputs)


_entered_devices = _Entered()


class device:  # noqa: N801
    """Asks for a device for the ops that are made in it.

    There are the logical CPUs of tf.config.set_logical_device_configuration, one if it was not
    called. They share memory and threads. What asks for another device runs on the first of them,
    as TensorFlow's soft placement does; nodes keep the request as it was written.

    Args:
      device_name: Such as "/cpu:0", or a tf.DeviceSpec; None forgets the requests around.

    Raises:
      ValueError: It is no name of a device.
      InvalidArgumentError: Entered where there is no such device: with soft placement off, or for
        another job, replica or task while ops are computed at once.

    Source: tf.device.
    """

    def __init__(self, device_name: str | DeviceSpec | Callable[..., Any] | None) -> None:
        if callable(device_name):
            raise RuntimeError("tf.device does not support functions.")
        self._parts = None if device_name is None else parse_device(str(device_name))

    def __enter__(self) -> None:
        if self._parts is None:
            text = ""
        else:
            text = device_text({**parse_device(_engine.current_device()), **self._parts})
            _devices.check_request(text, _engine.executing_eagerly())
        scope = _engine.DeviceScope(text)
        _entered_devices.scopes.append((self, scope))
        scope.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        entered = _entered_devices.scopes
        if not entered or entered[-1][0] is not self:
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        entered.pop()[1].__exit__(kind, error, traceback)
