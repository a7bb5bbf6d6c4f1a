"""The include check finds what the house forbids, and nothing else."""

from pathlib import Path

import pytest
from check_includes import HOUSE, check_file, check_tree, rooms_below


@pytest.mark.parametrize(
    ("path", "line", "finding"),
    [
        ("graven/base/a.h", '#include "graven/tensor/b.h"', "base may not include tensor"),
        ("graven/autodiff/a.cc", '#include "graven/optimize/b.h"', "autodiff may not include"),
        ("graven/ops/a.cc", '#  include "graven/function/b.h"', "ops may not include function"),
        ("graven/python/a.cc", '#include "graven/jit/b.h"', "python may not include jit"),
        ("graven/ops/a.cc", "#include <graven/graven.h>", "ops may not include api"),
        ("graven/graven.h", '#include "graven/python/b.h"', "api may not include python"),
        ("graven/base/a_test.cc", '#include "graven/ir/b.h"', "base may not include ir"),
        ("graven/ir/a.cc", '#include "graven/ops/b.h"', "ir may not include ops"),
        ("graven/ir/a_test.cc", '#include "graven/library/b.h"', "ir may not include library"),
        ("graven/ir/latest.h", '#include "graven/ops/b.h"', "ir may not include ops"),
        ("graven/tensor/a.cc", '#include "dtype.h"', 'write the path from the root, "graven/'),
        ("graven/kernels/a.cc", '#include "onednn/plugin.h"', 'from the root, "graven/kernels/'),
        ("graven/tensor/a.cc", "#include <Python.h>", "only python may include Python.h"),
        ("graven/runtime/a.cc", "#include <oneapi/dnnl/dnnl.hpp>", "only kernels may include"),
        ("graven/attic/a.h", "", "no room of the house is named attic"),
    ],
)
def test_a_forbidden_include_is_found(path: str, line: str, finding: str) -> None:
    (found,) = check_file(path, f"#pragma once\n{line}\n")
    assert finding in found


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("graven/tensor/a.cc", '#include "graven/base/status.h"'),
        ("graven/data/a.cc", '#include "graven/tensor/dtype.h"'),
        ("graven/function/a.cc", '#include "graven/autodiff/tape.h"'),
        ("graven/ir/a_test.cc", '#include "graven/ops/math_ops.h"'),
        ("graven/optimize/pass_test.h", '#include "graven/ops/math_ops.h"'),
        ("graven/autodiff/testing.h", '#include "graven/runtime/eager_builder.h"'),
        ("graven/kernels/a.cc", "#include <hwy/highway.h>"),
        ("graven/graven.h", '#include "graven/api/tensor.h"'),
        ("graven/kernels/a.cc", '#include "hwy/foreach_target.h"'),
        ("graven/base/a.cc", "#include <vector>"),
        ("graven/base/a.cc", '// #include "graven/api/tensor.h"'),
    ],
)
def test_an_include_that_goes_down_is_accepted(path: str, line: str) -> None:
    assert list(check_file(path, line)) == []


def test_no_room_of_the_house_stands_above_itself() -> None:
    for room, direct in HOUSE.items():
        assert all(room not in rooms_below(below) for below in direct)


def test_a_source_with_another_ending_is_found(tmp_path: Path) -> None:
    room = tmp_path / "graven" / "base"
    room.mkdir(parents=True)
    (room / "status.cpp").touch()
    (room / "status.h").touch()
    assert check_tree(tmp_path) == ["graven/base/status.cpp: sources end in .h or .cc"]
