"""Passes over the graphs of functions (tf.config.optimizer).

They change how long a function takes, not what it computes. A trace that ran before keeps the
passes that it had.
"""

from collections.abc import Mapping as _Mapping
from typing import Any as _Any

from graven import _engine, _public

# TensorFlow's options that are passes of ours, on unless they are switched off.
_PASSES = {
    "constant_folding": ("fold_constants",),
    "shape_optimization": ("fold_shapes",),
    "arithmetic_optimization": ("simplify", "merge_common_subexpressions"),
    "dependency_optimization": ("drop_unused_control_edges",),
    "function_optimization": ("inline_calls",),
    "loop_optimization": (
        "choose_branches",
        "constants_into_bodies",
        "trim_bodies",
        "unify_sizes",
        "hoist_invariants",
    ),
}
# What Graven always does, or has no use for; it cannot be switched the other way.
_FIXED = {
    "layout_optimizer": False,
    "remapping": True,
    "debug_stripper": False,
    "disable_model_pruning": False,
    "scoped_allocator_optimization": False,
    "pin_to_host_optimization": False,
    "implementation_selector": False,
    "auto_mixed_precision": False,
    "auto_mixed_precision_onednn_bfloat16": False,
}
_options: dict[str, bool] = {}


def set_experimental_options(options: _Mapping[str, _Any]) -> None:
    """Switches passes over the graphs of functions on or off.

    Args:
      options: Booleans by name: constant_folding, shape_optimization, arithmetic_optimization,
        dependency_optimization, function_optimization, loop_optimization, and
        disable_meta_optimizer for all of them. Names that are left out stay as they are.

    Raises:
      ValueError: There is no such option in TensorFlow.
      NotImplementedError: Graven cannot do without, or does not have, such a pass.

    Source: tf.config.optimizer.set_experimental_options.
    """
    for name, value in options.items():
        if name in _FIXED:
            if bool(value) != _FIXED[name]:
                raise NotImplementedError(f"Graven does not have the option {name}={value!r}")
        elif name not in _PASSES and name != "disable_meta_optimizer":
            raise ValueError(f"There is no option {name!r} of the graph optimizer.")
    _options.update({name: bool(value) for name, value in options.items()})
    none_at_all = _options.get("disable_meta_optimizer", False)
    for option, passes in _PASSES.items():
        for name in passes:
            _engine.set_pass_enabled(name, _options.get(option, True) and not none_at_all)


def get_experimental_options() -> dict[str, bool]:
    """Returns the options that were set, and two more that are off by default, by name.

    Source: tf.config.optimizer.get_experimental_options.
    """
    return {"disable_model_pruning": False, "disable_meta_optimizer": False, **_options}


def set_jit(enabled: bool | str) -> None:
    """Says whether parts of functions without jit_compile are compiled to machine code.

    Args:
      enabled: False or "". True and "autoclustering" are refused until there is a compiler.

    Source: tf.config.optimizer.set_jit.
    """
    if enabled:
        raise NotImplementedError(f"Graven does not have set_jit({enabled!r}): no machine code yet")


def get_jit() -> str:
    """Returns what set_jit was given last: "", which is off.

    Source: tf.config.optimizer.get_jit.
    """
    return ""


_public.complete(__name__)
