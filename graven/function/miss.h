#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/function/trace_type.h"

namespace graven::engine {

class Entry;

// The language in which advice is written.
enum class Language : uint8_t { kPython, kCpp };

// Why a call had to trace, and how to need fewer traces.
struct Miss {
  enum class Cause : uint8_t {
    kFirst,       // of the Function
    kDiffers,     // an argument, from the nearest trace's
    kObject,      // an argument is another object, which only code of the program can compare
    kParameters,  // another number, or other names, of arguments
    kVariables,   // the first trace created variables, and calls use the next one
    kGone,        // the trace of these arguments went
    kAllGone,     // all traces went
    kUnfinished,  // equal arguments, but another trace of them was not done
    kWatched,     // a value of the program's, which the trace had read, has changed
    kOther,       // `text` says it all
  };
  Cause cause = Cause::kOther;
  std::string text = {};  // never empty once it is known: "x: TensorSpec(...), was TensorSpec(...)"
  // Of kDiffers and kObject: the number of the nearest trace, the way to the first leaf that
  // differs ("x[1]['mask']"), its type in the call and in the trace, and how many more differ.
  int64_t nearest = 0;
  std::string path = {}, now = {}, before = {};
  int64_t num_more = 0;
  bool is_of_shapes = false;  // the leaf is a tensor of the same dtype in both
  bool is_of_sizes = false;   // all that differs is sizes of tensors
  std::string advice = {};    // with a ready TensorSpec or input_signature; may be empty
};

int64_t heap_bytes_of(const Miss& miss);

// Why arguments of this type have to be traced, beside these entries of the Function. Of equally
// near entries the last counts. Runs no code of the program: objects that such code compares are
// only named.
Miss explain_miss(const FunctionType& type, std::span<const Ref<Entry>> entries, Language language);

}  // namespace graven::engine
