#include "graven/api/staged.h"

#include "graven/api/decision_oracle.h"
#include "graven/api/error.h"
#include "graven/api/location.h"
#include "graven/api/op_functions.h"
#include "graven/base/strings.h"
#include "graven/ir/frame.h"

namespace graven {
namespace {

bool ask(const Operand& condition, const std::source_location& where) {
  if (condition.is_number()) return condition.number() != 0;
  Tensor truth = condition.as_tensor();
  if (truth.dtype() != DType::kBool) truth = cast(Operand(truth, where), DType::kBool);
  if (!truth.is_symbolic()) return truth.item<bool>(where);
  internal::DecisionOracle* oracle = internal::DecisionOracle::current();
  if (!oracle) {
    throw_error(engine::Status(engine::Code::kFailedPrecondition,
                               "staged() asks about a tensor of a graph, and no body is traced",
                               engine::ErrorKind::kRuntimeError),
                where);
  }
  return oracle->decide(truth, where);
}

}  // namespace

bool staged(const Operand& condition, std::source_location location) {
  return ask(condition, location);
}

StagedRange staged_range(const Operand& limit, std::source_location location) {
  const Tensor end = limit.as_tensor();
  return staged_range(Operand(cast(Operand(0, location), end.dtype()), location),
                      Operand(end, location), 1, location);
}

StagedRange staged_range(const Operand& begin, const Operand& limit, int64_t delta,
                         std::source_location location) {
  if (delta == 0) throw_error(engine::value_error("delta must not be 0"), location);
  // A number takes the dtype of the other.
  const DType dtype = begin.is_number() ? limit.dtype() : begin.dtype();
  const Tensor first = begin.as_tensor(begin.is_number() ? dtype : DType::kInvalid);
  const Tensor last = limit.as_tensor(limit.is_number() ? first.dtype() : DType::kInvalid);
  if (!engine::is_integer(first.dtype()) || first.dtype() != last.dtype()) {
    throw_error(engine::type_error("staged_range takes integers of one dtype, not ",
                                   engine::dtype_name(first.dtype()), " and ",
                                   engine::dtype_name(last.dtype())),
                location);
  }
  return StagedRange(first, last, delta, location);
}

StagedRange::Iterator& StagedRange::Iterator::operator++() {
  number_ = Operand(number_, range_.location_) + Operand(range_.delta_, range_.location_);
  return *this;
}

bool StagedRange::Iterator::operator!=(End) const {
  const Operand number(number_, range_.location_), limit(range_.limit_, range_.location_);
  return ask(range_.delta_ > 0 ? number < limit : number > limit, range_.location_);
}

}  // namespace graven
