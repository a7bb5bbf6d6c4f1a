#pragma once
#include <cstddef>
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/ref.h"
#include "graven/tensor/buffer.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The memory of tensors that an iteration of a loop is done with, for those that the next one
// makes: plain tensors of the host, whole or what is left of them. Tensors that are made on the
// thread on which it lives take theirs from here first, so that a loop in steady state asks no
// allocator. Scopes nest as loops do; an inner one leaves what it has to the outer one.
//
// What no one takes for two iterations is freed, and where memory is short all is. Large buffers
// are left to the allocator.
class GRAVEN_API SpareMemory {
 public:
  SpareMemory();
  ~SpareMemory();
  SpareMemory(const SpareMemory&) = delete;
  void end_iteration();

  // Empties a handle. The memory of a tensor that has no other owner goes to the innermost scope of
  // this thread, if there is one.
  static void keep(Tensor& tensor) {
    if (tensor) keep_or_drop(tensor);
  }

  // --- For those who make tensors. Each is empty if no scope of this thread has one.

  // A tensor of the host without another owner. Its elements are anything.
  static Tensor take(DType dtype, const Shape& shape);
  // A buffer of the host of this size.
  static Ref<Buffer> take_buffer(size_t bytes);
  // A tensor without a buffer, of any dtype and shape.
  static Tensor take_object();
  // Frees what the scopes of this thread have.
  static void free_all();

 private:
  // Iterations that are done with more or larger ones are long beside what the allocator takes,
  // which may give their memory to tensors of other sizes.
  static constexpr size_t kMaxSpares = 32, kMaxBytes = 1 << 20;
  struct Spare {
    Tensor tensor;
    int64_t since;  // the iteration
  };
  static void keep_or_drop(Tensor& tensor);
  void add_whole(Tensor tensor);
  void add_object(Tensor object);

  SpareMemory* const outer_;
  int64_t iteration_ = 0;
  InlineVector<Spare, kMaxSpares> whole_;     // the oldest first
  InlineVector<Tensor, kMaxSpares> objects_;  // without a buffer, whose elements are not in them
};

}  // namespace graven::engine
