#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/hash.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/location.h"
#include "graven/ir/op.h"
#include "graven/ir/read.h"
#include "graven/ir/recorded_body.h"

namespace graven::engine {

// The content of a Fusion node: scalar bodies of ops, and reductions among them, that are computed
// together over one index space, so that intermediate values stay in registers or cache. The pass
// optimize/fuse.h makes them, a Compiler (runtime/compiler.h) makes kernels of them.
//
// It is data: it prints (ir/text.h), compares and hashes, and so is the key of machine code. Dims
// are numbers or symbols of the Fusion's own, d0, d1, ..., in the order in which they appear first;
// the types of the node's inputs and outputs give their values in a graph.
//
//   fusion @f = over [d0,3] reducing [1] {
//     x0: float32[d0,3]
//     x1: float32[3]
//     %0: float32 = AddV2(x0, x1)
//     %1: float32 = Sum(%0) {keep_dims=true}
//     return %0, %1
//   }
//
// A member has an element for each point of the space. A reduction, and a member whose inputs do
// not differ within the reduced axes, has one for each point of the other axes. A body over rows
// (Softmax) reduces the last axis within itself. All reductions reduce the same axes. Values are
// rounded to the dtype of their member, so that fusing changes no bit.
//
// Member 0 may be a library member: an op with .panels (a matrix product, a convolution), whose
// result has the shape of the space. It reads its inputs whole, and no other member reads these.
// The other members, then all elementwise, are computed on each rectangle of its result when that
// is done.
//
//   fusion @f = over [d0,3] {
//     x0: float32[d0,5] whole
//     x1: float32[5,3] whole
//     x2: float32[3]
//     %0: float32 = MatMul(x0, x1)
//     %1: float32 = AddV2(%0, x2)
//     return %1
//   }
struct FusionParts {
  struct Input {
    DType dtype = DType::kInvalid;
    Shape shape;
    Read read;
    // For an input of one element that is a known integer: its bits. Division by it is faster, and
    // cannot trap if it is not 0.
    std::optional<uint64_t> value = {};
    bool whole = false;  // read by the library member; `read` says nothing
    friend bool operator==(const Input&, const Input&) = default;
  };
  // An input, or an earlier member.
  struct Source {
    int member = -1;  // -1: an input
    int index = 0;    // of the input
    friend bool operator==(const Source&, const Source&) = default;
  };
  struct Member {
    const Op* op = nullptr;
    Attrs attrs{attrs_type<NoAttrs>()};
    DType dtype = DType::kInvalid;  // of the result
    std::vector<Source> sources;    // of a reduction: its operand
  };
  // The node that a member comes from, for errors. Not compared, hashed or printed.
  struct Origin {
    std::string node;
    Ref<Location> location;
  };
  Shape space;
  std::vector<int> reduced;  // axes, ascending; empty if nothing is reduced
  std::vector<Input> inputs;
  std::vector<Member> members;  // in the order of their nodes
  std::vector<int> outputs;     // members
  std::vector<Origin> origins;  // one for each member, or none at all
};

// Never changes. Any thread.
class GRAVEN_API Fusion : public RefCounted {
 public:
  // kInvalidArgument if the parts do not fit together. Only a text can hold such parts.
  static Result<Ref<const Fusion>> create(FusionParts parts);

  const FusionParts& parts() const { return parts_; }
  const Shape& space() const { return parts_.space; }
  std::span<const FusionParts::Input> inputs() const { return parts_.inputs; }
  std::span<const FusionParts::Member> members() const { return parts_.members; }
  std::span<const int> outputs() const { return parts_.outputs; }
  // Whether member 0 is a library member, which has no body.
  bool has_library() const { return !bodies_[0]; }
  const RecordedBody& body(int member) const { return *bodies_[member]; }
  bool is_reduction(int member) const { return bodies_[member] && bodies_[member]->reduction(); }
  bool is_rows(int member) const { return bodies_[member] && bodies_[member]->rows(); }
  // Whether the member has one element for each point of the axes that are not reduced.
  bool is_reduced(int member) const { return is_reduced_[member]; }
  // Whether an input is the same for all points that differ in reduced axes only.
  bool is_reduced_input(int input) const;
  // How many symbols its Dims have.
  int num_symbols() const { return num_symbols_; }

  uint64_t hash() const { return hash_; }
  int64_t bytes() const;

 private:
  Fusion() = default;
  Status finish();
  void mix(uint64_t word) { hash_ = hash_combine(hash_, word); }
  Status count_symbols(const Shape& shape);
  Status check_input(const FusionParts::Input& input);
  Status add_member(int number);
  Status check_library_member(const FusionParts::Member& member, std::span<const DType> dtypes);
  FusionParts parts_;
  std::vector<Ref<const RecordedBody>> bodies_;
  std::vector<bool> is_reduced_;
  int num_symbols_ = 0;
  uint64_t hash_ = 0;
};

GRAVEN_API bool operator==(const Fusion& a, const Fusion& b);

// The size of a Dim of a Fusion, given the values of its symbols.
inline int64_t fusion_size(Dim dim, std::span<const int64_t> symbols) {
  return dim.is_number() ? dim.number() : symbols[static_cast<size_t>(dim.term_index())];
}
GRAVEN_API std::string fusion_dim_text(Dim dim);  // "3", "d0"

// Limits of one Fusion: what tier 0 can take. Constants, not properties of the machine, so that
// texts and bits are the same everywhere.
struct FusionLimits {
  // Longer rows do not stay in a cache while several members go over them.
  static constexpr int64_t kMaxRow = 65536;
  // Values that live between members stay in L1, beside the data streamed through it.
  static constexpr int64_t kMaxLiveBytes = 20 << 10;
  // Elements of each value that live at a time.
  static constexpr int64_t kBlockElements = 512;
  // Nodes of all expressions: well below the limit of an Expression.
  static constexpr size_t kMaxExpressionNodes = 16384;
  static constexpr int kMaxRank = 64;
  // Longer rows of a transposed operand are not gathered several at a time in a core's cache.
  static constexpr int64_t kMaxGatheredRowBytes = 64 << 10;
};

}  // namespace graven::engine
