#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <typeindex>
#include <vector>

#include "graven/api/staged.h"
#include "graven/ir/value.h"

// The States and Statics of a body that asks staged(). Not for users.

namespace graven::internal {

// The states of a body that is run, which live now.
class States {
 public:
  // Adds a state and returns its number; states have the same numbers in each run.
  int64_t add(ListedState* state);
  void remove(int64_t number);

  struct Seen {
    std::vector<std::type_index> types;                // of all
    std::vector<int64_t> numbers;                      // of all
    std::vector<std::shared_ptr<const void>> statics;  // null for each State
    std::vector<engine::Value> values;                 // of the States, in order

    // Values for these States: `own`, or, where a State is one of the others, that of the other.
    std::vector<engine::Value> with(const Seen& other, const std::vector<engine::Value>& of_other,
                                    std::vector<engine::Value> own) const;
  };
  Seen see() const;
  // True if the same states live, and each Static is as it was.
  bool are_as(const Seen& seen) const;
  // Gives the States other values, as many as `see` told.
  void set(const std::vector<engine::Value>& values) const;

 private:
  std::map<int64_t, ListedState*> live_;
};

}  // namespace graven::internal
