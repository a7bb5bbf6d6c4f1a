#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/mutex.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/function/trace_type.h"
#include "graven/function/watch.h"

namespace graven::engine {

class Cache;
class Entry;
struct CreatedVariable;

// One trace that a call makes: because there is none of its type, or because values changed that
// the one there is watches (watch.h). Then it is a retrace, which may come to nothing:
// - If it makes an equal graph, the values have reached only side effects of the user's function.
//   The old entry is kept, with the new values.
// - If it fails, or creates variables, which later calls may not, then a system that watches
//   nothing would have run the old entry. So calls do, and what the retrace did to the values that
//   are watched is undone.
class GRAVEN_API Retrace {
 public:
  // `related` are entries of which some may serve a call of this type; `traced` is the type of the
  // trace to be made, and `context` that of its row.
  Retrace(std::span<const Ref<Entry>> related, const FunctionType& call, const FunctionType& traced,
          uint64_t context);

  // After the trace. Returns the old entry if it is kept; then nothing was created.
  Ref<Entry> end(const Result<Ref<Entry>>& traced, std::vector<CreatedVariable>& created);
  bool is_one() const { return static_cast<bool>(old_); }
  const Ref<Entry>& old() const { return old_; }
  const std::string& why() const { return why_; }  // what has changed
  // What the old entry watches; null if this is no retrace.
  Watches* watches() const;

 private:
  friend class StaleTraces;
  Ref<Entry> old_;  // the last one, of the same type if there is one; null if this is no retrace
  std::unique_ptr<Watches::Retracing> noted_;
  bool is_of_same_type_ = false;
  std::string why_;
};

// The entries of a Function that changes of watched values have left behind. A value may come back
// and find its entry; one that counts up does not. So at most kMax are kept, whatever types they
// are of: the oldest go first.
class GRAVEN_API StaleTraces {
 public:
  static constexpr size_t kMax = 16;
  // After a retrace that has made an entry.
  void add(const Retrace& retrace, Cache& cache);

 private:
  Mutex mutex_;
  std::deque<uint64_t> serials_ GUARDED_BY(mutex_);
};

}  // namespace graven::engine
