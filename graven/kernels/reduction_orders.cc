#include "graven/kernels/reduction_orders.h"

#include <cstring>

namespace graven::engine {
namespace {

constexpr double kChunkElements = 131072;

size_t align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

}  // namespace

int64_t elements_of_chunk(Roots roots) {
  double cost = 1;
  for (const RootIteration& root : roots) {
    cost += std::max(root.rep().prepare->cost(), 1.0);
  }
  return static_cast<int64_t>(kChunkElements / cost);
}

int64_t bytes_of_partials(const RootIteration& root, int64_t accumulators) {
  return static_cast<int64_t>(align(static_cast<size_t>(accumulators) * root.rep().size));
}

int64_t bytes_of_partials(Roots roots, int64_t accumulators) {
  int64_t bytes = 0;
  for (const RootIteration& root : roots) bytes += bytes_of_partials(root, accumulators);
  return bytes;
}

std::byte* result_of(const RootIteration& root, int64_t number) {
  const DType dtype = root.rep().finish->expression().outputs()[0].dtype;
  return root.output + number * static_cast<int64_t>(dtype_size(dtype));
}

size_t ReductionMemory::scratch_bytes(const ReductionProgram::Rep& rep, const BlockReader& reader) {
  return ReductionCombiner::scratch_bytes(rep) + align(kPreparedValues * rep.size) +
         2 * align(kFinishedTogether * rep.size) + reader.staging_bytes();
}

ReductionMemory::ReductionMemory(const ReductionProgram::Rep& rep, const BlockReader& reader,
                                 std::byte* scratch, TrapNotes* traps)
    : rep_(rep),
      reader_(reader),
      combiner_(rep, scratch, traps),
      values_(scratch + ReductionCombiner::scratch_bytes(rep)),
      accumulators_(values_ + align(kPreparedValues * rep.size)),
      results_(accumulators_ + align(kFinishedTogether * rep.size)),
      state_(reader.start(results_ + align(kFinishedTogether * rep.size))),
      pointers_(rep.prepare->expression().inputs().size(), nullptr),
      scalars_(rep.prepare->expression().inputs().size(), false) {}

int64_t ReductionMemory::next_prepared(int64_t position, int64_t limit,
                                       const std::byte* const* bases, std::byte* to,
                                       const std::byte*& values) {
  const int64_t n = reader_.read(state_, bases, position, limit, pointers_.data(), scalars_.data());
  values = combiner_.prepare(n, pointers_.data(), scalars_.data(), to);
  return n;
}

const std::byte* ReductionMemory::prepared(int64_t position, int64_t count,
                                           const std::byte* const* bases) {
  for (int64_t done = 0; done < count;) {
    std::byte* to = values_ + done * rep_.size;
    const std::byte* values;
    const int64_t n = next_prepared(position + done, count - done, bases, to, values);
    if (n == count) return values;
    if (values != to) std::memcpy(to, values, n * rep_.size);
    done += n;
  }
  return values_;
}

}  // namespace graven::engine
