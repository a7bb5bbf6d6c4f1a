#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graven/function/index.h"
#include "graven/python/object.h"

// Functions among the arguments of calls that are known by their code and what they have captured,
// not by identity, so that a fresh lambda finds the trace of an equal one. That is done only where
// it is proven that nobody can tell: graven._captures._closed reads all code that the trace runs,
// and what it returns is kept here for later calls, with what it rests on. All of it under the GIL.
namespace graven::python {

// What one Function knows of the functions that it gets.
class EqualFunctions {
 public:
  EqualFunctions();
  ~EqualFunctions();

  // True if functions of this one's code are known by identity.
  bool is_refused(PyObject* callable) const { return !refused_.empty() && why_refused(callable); }
  // Null if it is not.
  const std::string* why_refused(PyObject* callable) const;
  // From now on functions of this code are known by identity.
  void refuse(PyObject* callable, const std::string& why);

  // Whether there is a proof for functions of this structure, and nothing has been replaced that it
  // rests on and the trace does not watch. Quick.
  bool are_proven(std::span<const uint64_t> structure) const;
  // The same for a trace that is to be made: what it will watch is right, too.
  bool may_be_traced(std::span<const uint64_t> structure) const;
  // Looks for a proof: returns why there is none, else nothing. `arguments` is a dict of functions
  // by the names of parameters, `objects` are those that the structure names by address. Runs
  // Python code, but none of the program's.
  std::optional<std::string> prove(PyObject* owner, PyObject* arguments,
                                   std::span<const uint64_t> structure,
                                   std::span<const Object> objects);
  // What a trace for functions of this structure must watch: a list of (kind, owner, name); empty
  // if there is no proof any more.
  Object watched(std::span<const uint64_t> structure) const;

  // Notes a trace that was made for this function; the guard is of its row. Traces whose functions
  // are gone may find no use any more: at most 16 are kept of each code, so the guard of the oldest
  // ends. A function that has captured something else again and again is refused.
  void add_trace(PyObject* callable, engine::Ref<engine::LifeGuard> guard);
  // Notes that a call of this very function has run a trace, by its number.
  void note_use(PyObject* callable, int64_t trace);
  // The last one; 0 if the function was never here.
  int64_t last_trace_of(PyObject* callable) const;

 private:
  struct Proof;
  struct Refused;
  struct Made;
  const Proof* find(std::span<const uint64_t> structure) const;
  std::vector<std::unique_ptr<Proof>> proofs_;
  std::vector<Refused> refused_;
  std::vector<Made> made_;
  // The functions that were here and are not yet known to be gone, by address.
  struct Used {
    Object function;  // a weak reference
    int64_t trace;
  };
  std::unordered_map<PyObject*, Used> used_;
  size_t sweep_at_ = 64;  // the size of used_ at which those that are gone are taken out
};

// Says that the trace that goes on on this thread turns out to be for its functions alone.
void refuse_trace_for_equals(std::string why);
// What was said since it was asked last; empty if nothing.
std::string take_refusal_for_equals();

}  // namespace graven::python
