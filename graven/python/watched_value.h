#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graven/python/object.h"

namespace graven::python {

struct WatchedItems;

// What a value that a trace read was. Plain data (None, numbers, strings, bytes) is compared by
// identity, then type and value; a list, dict, set or tuple by its type and by what was read of it;
// all else by identity, weakly held where Python can. No code of the user's is called by
// comparisons, but Python's collector, or a dict with keys of the user's, may run some. Then other
// threads go on: what is compared is owned meanwhile, and this changes in nothing but the object
// that it remembers of equal plain ones.
//
// The owner lets Python's cycle collector see what it holds (traverse). Under the GIL.
class WatchedValue {
 public:
  // A value, null for one that was not there. `reads` says what was read of a container: None for
  // all of it, or (has_length, {index or key: reads}).
  static WatchedValue of(PyObject* value, PyObject* reads);

  // True if `now`, which may be null, is the same. An equal number or string takes the place of the
  // one before, so that it is found by identity the next time.
  bool is(PyObject* now) {
    return (kind_ <= Kind::kSame && now && now == object_.get()) || is_otherwise(now);
  }
  // The first difference: the way to it ("[0]['lr']"), what was there and what is. Only after `is`
  // has said false.
  struct Change {
    std::string path, before, after;
  };
  Change change(PyObject* now) const;
  // True for what can change without a change of the place that it is in: containers.
  bool is_container() const { return items_ != nullptr; }
  // Appends the containers, of the value as it is now, of which something was read; with doubles.
  void append_containers(PyObject* now, std::vector<Object>& containers) const;
  // Takes `now` for the value, with the same reads.
  WatchedValue renewed(PyObject* now) const;

  int traverse(visitproc visit, void* arg) const;
  int64_t bytes() const;

  WatchedValue();
  WatchedValue(WatchedValue&&) noexcept;
  WatchedValue& operator=(WatchedValue&&) noexcept;
  ~WatchedValue();
  std::string text() const;  // of the value that was read
  // Appends the plain values in it, and lengths of containers, by their paths from `name`; all
  // else only with `all`, as its class.
  using Texts = std::vector<std::pair<std::string, std::string>>;
  void append_plain(const std::string& name, bool all, Texts& texts) const;

 private:
  enum class Kind : uint8_t { kPlain, kSame, kAbsent, kWeak, kContainer };
  static WatchedValue of_leaf(PyObject* value);
  bool is_otherwise(PyObject* now);
  bool are_items_of(PyObject* now);

  Kind kind_ = Kind::kAbsent;
  Object object_;  // itself; a weak reference to it; the type of a container
  std::unique_ptr<WatchedItems> items_;
};

// True for keys that are one object, or equal plain data. Runs no code of the program's.
bool is_same_key(PyObject* a, PyObject* b);

// A value for a message: plain data as Python writes it, short; of all else the class.
std::string watched_text(PyObject* value);

}  // namespace graven::python
