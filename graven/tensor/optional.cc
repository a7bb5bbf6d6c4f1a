#include "graven/tensor/optional.h"

#include "graven/tensor/tensor_sums.h"

namespace graven::engine {

std::vector<std::pair<DType, Shape>> Optional::components() const {
  std::vector<std::pair<DType, Shape>> found;
  if (!values_) return found;
  for (const Tensor& value : *values_) found.emplace_back(value.dtype(), value.shape());
  return found;
}

Result<Ref<Resource>> Optional::zeros_like() const {
  if (!values_) return Ref<Resource>(make_ref<Optional>());
  std::vector<Tensor> zeros;
  for (const Tensor& value : *values_) {
    ASSIGN_OR_RETURN(Tensor zero, zeros_of(value));
    zeros.push_back(std::move(zero));
  }
  return Ref<Resource>(make_ref<Optional>(std::move(zeros)));
}

Status Optional::add(const Variant& other) {
  const auto* optional = dynamic_cast<const Optional*>(&other);
  if (!optional) return Variant::add(other);
  if (!optional->values_) return {};
  if (!values_) {
    values_ = optional->values_;
    return {};
  }
  if (values_->size() != optional->values_->size()) {
    return invalid_argument("Cannot add optionals of ", values_->size(), " and ",
                            optional->values_->size(), " components");
  }
  for (size_t i = 0; i < values_->size(); ++i) {
    Tensor& own = (*values_)[i];
    const Tensor& theirs = (*optional->values_)[i];
    if (own.dtype() != theirs.dtype()) {
      return invalid_argument("Cannot add optionals whose component ", i, " is of ",
                              dtype_name(own.dtype()), " and of ", dtype_name(theirs.dtype()));
    }
    if (!is_plain(own.dtype()) && own.dtype() != DType::kVariant) continue;
    ASSIGN_OR_RETURN(own, sum_of(own, theirs));
  }
  return {};
}

Ref<Variant> Optional::clone() const {
  return values_ ? make_ref<Optional>(*values_) : make_ref<Optional>();
}

}  // namespace graven::engine
