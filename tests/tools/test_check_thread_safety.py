"""The check of thread safety finds what is touched without its lock."""

import shutil
from pathlib import Path

import pytest
from check_thread_safety import COMPILER, ROOT, check, needs_check

COUNTER = """#include "graven/base/mutex.h"
namespace graven::engine {{
class Counter {{
 public:
  void count() {{ {lock}++count_; }}
 private:
  Mutex mutex_;
  int count_ GUARDED_BY(mutex_) = 0;
}};
void use(Counter& counter) {{ counter.count(); }}
}}  // namespace graven::engine
"""


def findings(folder: Path, lock: str) -> str:
    """What the check says of a counter that takes this lock."""
    source = folder / "counter.cc"
    source.write_text(COUNTER.format(lock=lock))
    assert needs_check(source)
    command = f"c++ -I{ROOT} -std=c++20 -O2 -o counter.o -c {source}"
    return check({"directory": str(folder), "command": command, "file": str(source)})


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="the compiler is not installed")
def test_what_is_touched_without_its_lock_is_found(tmp_path: Path) -> None:
    assert "requires holding mutex 'mutex_'" in findings(tmp_path, "")
    assert findings(tmp_path, "MutexLock lock(mutex_); ") == ""


def test_sources_are_checked_that_speak_of_locks_or_whose_header_does(tmp_path: Path) -> None:
    source = tmp_path / "a.cc"
    source.write_text("int x;\n")
    assert not needs_check(source)
    (tmp_path / "a.h").write_text("int x_ GUARDED_BY(mutex_);\n")
    assert needs_check(source)
