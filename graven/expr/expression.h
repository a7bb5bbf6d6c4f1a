#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {

// The function of one node of an expression, applied to its operands a, b, c (each the index of an
// earlier node). Operands and result have the node's type unless stated otherwise.
//
// Numbers: integers wrap around; floats follow IEEE 754, rounded to nearest, denormals flushed.
// No instruction fails: a body that must refuse a value (division by an integer zero) says so by a
// Trap.
enum class Instruction : uint8_t {
  // Leaves.
  kInput,     // a: number of the input; b: 0, or 1 for the imaginary part of a complex input.
              // half and bfloat16 inputs arrive as float32.
  kConstant,  // constant(): the bits of a value of the type

  // Conversion from the operand's type. Float to integer truncates towards zero; NaN and values
  // out of range give what x86 gives (the smallest integer of 32 or 64 bits, then cut).
  // Anything to bool: is it not zero? bool to number: 0 or 1. To float16 and bfloat16 and back
  // stays float32 and rounds to their precision: see kRoundToHalf.
  kCast,
  kBitCast,          // the bits of an operand of the same size, 32 or 64, read as the type
  kRoundToHalf,      // float32 rounded to the nearest half, still a float32
  kRoundToBFloat16,  // the same for bfloat16

  // Two numbers.
  kAdd,
  kSub,
  kMul,
  kDiv,       // integers: truncated towards zero; 0 for a divisor of 0
  kRem,       // sign of the dividend (C's % and fmod); 0 for an integer divisor of 0
  kFloorDiv,  // rounded towards minus infinity; 0 for an integer divisor of 0
  kFloorMod,  // sign of the divisor (Python's %); 0 for an integer divisor of 0
  kMin,       // NaN if one of them is
  kMax,
  kPow,  // floats: C's pow. Integers: by squaring, wraps; a negative exponent gives 0 unless the
         // base is 1 or -1
  kAtan2,
  kNextAfter,
  kFma,     // a * b + c, rounded once (floats)
  kMulAdd,  // a * b + c, rounded once if the CPU has an instruction for it, else twice (floats)

  // One number.
  kNeg,
  kAbs,
  kSign,  // -1, 0, 1; NaN stays NaN
  kFloor,
  kCeil,
  kTrunc,
  kRound,  // to nearest, halves to even
  kSqrt,
  kRsqrt,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kSigmoid,
  kSoftplus,
  kErf,
  kErfc,
  kErfinv,
  kNdtri,
  kLgamma,
  kDigamma,

  // Calls of the C library (float64) for arguments without a formula over vectors. For other
  // arguments the result is 0.
  kSinOfLarge,  // for |x| >= kTrigonometricLimit, infinities and NaN
  kCosOfLarge,
  kTanOfLarge,
  kLgammaOfOthers,   // for x outside (0, infinity)
  kDigammaOfOthers,  // for x that is not positive

  // Comparisons: operands of one type, result bool.
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kIsNan,
  kIsInf,
  kIsFinite,

  // Bits of integers; of bools they are the logical operations.
  kAnd,
  kOr,
  kXor,
  kNot,
  kShiftLeft,   // shifts by the type's bits or more give 0 (right shift of negatives: -1)
  kShiftRight,  // arithmetic for signed types

  kSelect,  // a (bool) ? b : c
};
inline constexpr double kTrigonometricLimit = 1e6;
inline constexpr int kNumInstructions = static_cast<int>(Instruction::kSelect) + 1;
GRAVEN_API std::string_view instruction_name(Instruction instruction);
// The number of operands among a, b and c: 0 for leaves.
GRAVEN_API int num_operands(Instruction instruction);
// Whether the instruction exists for operands of the type. The condition of kSelect is bool, and
// the type here is that of its branches.
GRAVEN_API bool instruction_takes(Instruction instruction, DType operand_type);
// The type in which elements of a dtype are computed: float32 for half and bfloat16, the type of
// the parts for complex dtypes, otherwise the dtype itself.
GRAVEN_API DType computing_type(DType dtype);
// kRoundToHalf or kRoundToBFloat16 for these dtypes, kInput (nothing to do) for others.
GRAVEN_API Instruction rounding_instruction(DType dtype);

struct ExprNode {
  Instruction instruction;
  DType type;  // of the result; never half, bfloat16 or complex
  uint16_t a = 0, b = 0, c = 0;
  friend bool operator==(const ExprNode&, const ExprNode&) = default;
};

// A refusal of a body: the op fails with the message (kInvalidArgument) if the condition holds for
// any element. All elements are computed all the same. The condition is a root of its expression,
// as outputs are.
struct Trap {
  uint16_t condition = 0;  // the node, of type bool
  uint16_t member = 0;     // of a fused group, the member that the trap belongs to
  std::string message;
  friend bool operator==(const Trap&, const Trap&) = default;
};

// The body of an elementwise op (or of a chain of them that fused) for given dtypes: nodes in an
// order in which operands come first, equal nodes merged. Complex numbers are two nodes, real
// and imaginary. half and bfloat16 are computed as float32 and rounded where a body ends, fused
// or not.
class GRAVEN_API Expression {
 public:
  static constexpr int kMaxNodes = 0xffff;
  struct Output {
    DType dtype;             // of the stored element
    uint16_t real = 0;       // the node
    uint16_t imaginary = 0;  // complex dtypes only
    friend bool operator==(const Output&, const Output&) = default;
  };

  std::span<const DType> inputs() const { return inputs_; }  // dtypes of the stored elements
  std::span<const Output> outputs() const { return outputs_; }
  std::span<const ExprNode> nodes() const { return nodes_; }
  std::span<const Trap> traps() const { return traps_; }  // by member, then in its body's order
  uint64_t constant(const ExprNode& node) const { return constants_[node.a]; }

  // --- Building, in order of operands. Equal nodes are merged; nodes over constants are not folded
  // (the graph's passes do that), so that an expression says the same as its body.
  uint16_t add_input(DType dtype);  // the number of the input
  uint16_t add_node(ExprNode node);
  uint16_t add_constant(DType type, uint64_t bits);
  void add_output(Output output) { outputs_.push_back(output); }
  // Adds nothing if constants alone make the condition false. Members come in order.
  void add_trap(Trap trap);
  bool is_full() const { return nodes_.size() >= kMaxNodes; }  // then add nothing more

  // "%2 = mul.float32 %0, %1" lines, one 'trap %4 in member 1: "message"' for each trap, and one
  // "return %2 : float32"; for tests and dumps.
  std::string to_text() const;
  // Estimated cost per element, in units of one addition.
  double cost() const;
  uint64_t hash() const;
  friend bool operator==(const Expression&, const Expression&) = default;

 private:
  // The value of a node of type bool, if it is made of constants.
  std::optional<bool> known_condition(uint16_t node) const;
  bool divides_by_constant(const ExprNode& node) const;

  std::vector<DType> inputs_;
  std::vector<ExprNode> nodes_;
  std::vector<uint64_t> constants_;
  std::vector<Output> outputs_;
  std::vector<Trap> traps_;
};

}  // namespace graven::engine
