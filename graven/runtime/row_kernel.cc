// The stages of a step lie in levels. Level 0 needs no reduction. A reduction stands on the level
// of its operand, the users of its result on the next one. On each level the values per row come
// first, then the elements of the matrix, then the reductions.
#include <algorithm>
#include <optional>

#include "graven/base/heap_bytes.h"
#include "graven/expr/fuse.h"
#include "graven/kernels/row_program.h"
#include "graven/runtime/fused_kernels.h"

namespace graven::engine {
namespace {

class RowPlanner {
 public:
  RowPlanner(const Fusion& fusion, std::span<const RowInput> inputs)
      : fusion_(fusion), inputs_(inputs) {}

  struct Plan {
    std::shared_ptr<const RowProgram> program;
    InlineVector<uint64_t, 4> may_overwrite;  // of each output
  };
  Result<Plan> plan() {
    for (int m = 0; m < static_cast<int>(fusion_.members().size()); ++m) add_parts_of(m);
    for (int m : fusion_.outputs()) parts_[part_of_member_[m]].is_read = true;
    find_readers();
    find_levels();
    find_owners();
    for (int level = 0; level <= num_levels_; ++level) {
      for (bool is_per_row : {true, false}) {
        std::vector<int> stage;
        for (int p = 0; p < size(); ++p) {
          const Part& part = parts_[p];
          if (!part.reduction && part.level == level && part.owner < 0 &&
              part.is_per_row == is_per_row) {
            stage.push_back(p);
          }
        }
        add_elementwise(stage);
      }
      for (int p = 0; p < size(); ++p) {
        if (parts_[p].reduction && parts_[p].level == level) add_reduction(p);
      }
    }
    std::vector<RowStage::Source> outputs;
    for (int m : fusion_.outputs()) {
      outputs.push_back(parts_[part_of_member_[m]].value);
      plan_.may_overwrite.push_back(overwritable(parts_[part_of_member_[m]]));
    }
    ASSIGN_OR_RETURN(plan_.program, RowProgram::compile(inputs_, stages_, outputs));
    return std::move(plan_);
  }

 private:
  // A member, or a stage of a member that goes by rows itself.
  struct Part {
    const Expression* expression = nullptr;     // of a reduction, what it prepares
    const ReductionParts* reduction = nullptr;  // null: elementwise
    DType dtype = DType::kInvalid;
    int member = 0;
    bool is_per_row = false, is_read = false;  // an output of the Fusion
    std::vector<FusionParts::Source> sources;  // `member` is a part here
    int level = 0;
    int owner = -1;  // the reduction that alone needs it
    std::vector<int> readers;
    RowStage::Source value;  // once its stage is made
  };
  int size() const { return static_cast<int>(parts_.size()); }

  void add_parts_of(int m) {
    const FusionParts::Member& member = fusion_.members()[m];
    const RecordedBody& body = fusion_.body(m);
    std::vector<FusionParts::Source> sources = member.sources;
    for (FusionParts::Source& source : sources) {
      if (source.member >= 0) source.member = part_of_member_[source.member];
    }
    if (const RowsExpression* rows = body.rows()) {
      const int first = size();
      for (size_t s = 0; s < rows->stages.size(); ++s) {
        const RowStage& stage = rows->stages[s];
        Part part;
        part.reduction = stage.reduction ? &*stage.reduction : nullptr;
        part.expression = stage.reduction ? &stage.reduction->prepare : &*stage.expression;
        const Expression& result = stage.reduction ? stage.reduction->finish : *stage.expression;
        part.dtype = result.outputs()[0].dtype;
        part.member = m;
        part.is_per_row = rows->is_per_row[s];
        for (RowStage::Source source : stage.sources) {
          part.sources.push_back(source.stage < 0 ? sources[source.index]
                                                  : FusionParts::Source{first + source.stage, 0});
        }
        parts_.push_back(std::move(part));
      }
      part_of_member_.push_back(first + rows->outputs[0].stage);
      return;
    }
    Part part;
    part.expression = &body.per_element();
    part.reduction = body.reduction();
    part.dtype = member.dtype;
    part.member = m;
    part.is_per_row = fusion_.is_reduced(m);
    part.sources = std::move(sources);
    part_of_member_.push_back(size());
    parts_.push_back(std::move(part));
  }

  void find_readers() {
    for (int p = 0; p < size(); ++p) {
      for (FusionParts::Source source : parts_[p].sources) {
        if (source.member >= 0) parts_[source.member].readers.push_back(p);
      }
    }
  }

  void find_levels() {
    for (Part& part : parts_) {
      for (FusionParts::Source source : part.sources) {
        if (source.member < 0) continue;
        const Part& from = parts_[source.member];
        part.level = std::max(part.level, from.level + (from.reduction ? 1 : 0));
      }
      num_levels_ = std::max(num_levels_, part.level);
    }
    // As late as the first reader.
    for (int p = size(); p-- > 0;) {
      Part& part = parts_[p];
      if (part.reduction || part.readers.empty()) continue;
      int first = num_levels_;
      for (int reader : part.readers) first = std::min(first, parts_[reader].level);
      part.level = first;
    }
  }

  void find_owners() {
    for (int p = size(); p-- > 0;) {
      Part& part = parts_[p];
      if (part.reduction || part.is_read || part.is_per_row) continue;
      int owner = -1;
      for (int reader : part.readers) {
        int of_reader = parts_[reader].reduction ? reader : parts_[reader].owner;
        if (of_reader < 0 || (owner >= 0 && of_reader != owner)) {
          owner = -1;
          break;
        }
        owner = of_reader;
      }
      part.owner = owner;
    }
  }

  // The parts of one stage, as fuse_expressions takes them, and its inputs.
  struct Stage {
    std::vector<int> parts;
    std::vector<FusionMember> fused;
    std::vector<DType> inputs;
    RowStage stage;
  };

  FusionMember::Source source_in(Stage& stage, FusionParts::Source source) {
    auto inside = std::find(stage.parts.begin(), stage.parts.end(), source.member);
    if (source.member >= 0 && inside != stage.parts.end()) {
      return {static_cast<int>(inside - stage.parts.begin()), 0};
    }
    RowStage::Source from =
        source.member < 0 ? RowStage::Source{-1, source.index} : parts_[source.member].value;
    auto& known = stage.stage.sources;
    for (size_t i = 0; i < known.size(); ++i) {
      if (known[i].stage == from.stage && known[i].index == from.index) {
        return {-1, static_cast<int>(i)};
      }
    }
    known.push_back(from);
    stage.inputs.push_back(source.member < 0 ? inputs_[source.index].dtype
                                             : parts_[source.member].dtype);
    return {-1, static_cast<int>(known.size()) - 1};
  }

  void add_to(Stage& stage, int p) {
    FusionMember member{parts_[p].expression, {}, parts_[p].member};
    for (FusionParts::Source source : parts_[p].sources) {
      member.sources.push_back(source_in(stage, source));
    }
    stage.parts.push_back(p);
    stage.fused.push_back(std::move(member));
  }

  void add_elementwise(const std::vector<int>& parts) {
    if (parts.empty()) return;
    Stage stage;
    for (int p : parts) add_to(stage, p);
    std::vector<FusionMember::Source> outputs;
    for (size_t i = 0; i < parts.size(); ++i) {
      Part& part = parts_[parts[i]];
      bool is_needed = part.is_read;
      for (int reader : part.readers) is_needed |= !std::ranges::count(parts, reader);
      if (!is_needed) continue;
      part.value = {static_cast<int>(stages_.size()), static_cast<int>(outputs.size())};
      outputs.push_back({static_cast<int>(i), 0});
    }
    stage.stage.expression = fuse_expressions(stage.inputs, stage.fused, outputs);
    // Waited for, but not read.
    if (outputs.empty() && stage.stage.expression->traps().empty()) return;
    stages_.push_back(std::move(stage.stage));
  }

  void add_reduction(int p) {
    Stage stage;
    for (int other = 0; other < p; ++other) {
      if (parts_[other].owner == p) add_to(stage, other);
    }
    add_to(stage, p);
    ReductionParts parts = *parts_[p].reduction;
    FusionMember::Source prepared[] = {{static_cast<int>(stage.fused.size()) - 1, 0}};
    parts.prepare = fuse_expressions(stage.inputs, stage.fused, prepared);
    stage.stage.reduction = std::move(parts);
    parts_[p].value = {static_cast<int>(stages_.size()), 0};
    stages_.push_back(std::move(stage.stage));
  }

  // The inputs over which an output may be written: matrices that no stage reads after its own.
  uint64_t overwritable(const Part& part) const {
    if (part.is_per_row) return 0;
    uint64_t inputs = 0;
    for (size_t i = 0; i < std::min<size_t>(inputs_.size(), 64); ++i) {
      if (inputs_[i].extent != RowExtent::kMatrix ||
          dtype_size(inputs_[i].dtype) != dtype_size(part.dtype)) {
        continue;
      }
      int last = -1;
      for (size_t s = 0; s < stages_.size(); ++s) {
        for (RowStage::Source source : stages_[s].sources) {
          if (source.stage < 0 && source.index == static_cast<int>(i)) last = static_cast<int>(s);
        }
      }
      if (last <= part.value.stage) inputs |= uint64_t{1} << i;
    }
    return inputs;
  }

  const Fusion& fusion_;
  std::span<const RowInput> inputs_;
  std::vector<Part> parts_;
  std::vector<int> part_of_member_;  // that gives its result
  std::vector<RowStage> stages_;
  int num_levels_ = 0;
  Plan plan_;
};

class RowKernel final : public Kernel {
 public:
  RowKernel(const Fusion& fusion, RowPlanner::Plan plan)
      : plan_(std::move(plan)),
        space_(fusion.space()),
        first_column_(fusion.space().rank() - static_cast<int>(fusion.parts().reduced.size())) {}

  Status run(const Arguments& arguments, TrapNotes& traps) const override {
    int64_t rows = 1, columns = 1;
    for (int i = 0; i < space_.rank(); ++i) {
      (i < first_column_ ? rows : columns) *= fusion_size(space_[i], arguments.symbols);
    }
    return run_rows(*plan_.program, rows, columns, arguments.inputs, arguments.outputs, &traps);
  }
  uint64_t may_overwrite(int output) const override { return plan_.may_overwrite[output]; }
  double cost() const override { return plan_.program->cost(); }
  int64_t bytes() const override {
    return bytes_of_object<RowKernel>() + plan_.program->bytes() + heap_bytes(plan_.may_overwrite);
  }

 private:
  const RowPlanner::Plan plan_;
  const Shape space_;
  const int first_column_;
};

// The extent of an input, or none: it neither varies over all rows nor is the same for all of them.
std::optional<RowExtent> extent_of(const FusionParts::Input& input, const Shape& space,
                                   int first_column) {
  if (!input.read.only_broadcasts(input.shape, space)) return std::nullopt;
  auto varies = [&](int begin, int end) {
    int count = 0, all = 0;
    for (int i = begin; i < end; ++i) {
      if (space[i] == Dim(1)) continue;
      ++all;
      count += input.read.varies_with(i);
    }
    return count == 0 ? 0 : count == all ? 1 : -1;
  };
  const int rows = varies(0, first_column), columns = varies(first_column, space.rank());
  const bool may_be_one = std::ranges::any_of(input.read.axes, &Read::Axis::broadcasts);
  if (rows < 0 || columns < 0 || may_be_one) return std::nullopt;
  if (rows > 0) return columns > 0 ? RowExtent::kMatrix : RowExtent::kPerRow;
  return columns > 0 ? RowExtent::kPerColumn : RowExtent::kScalar;
}

int first_column_of(const Fusion& fusion) {
  return fusion.space().rank() - static_cast<int>(fusion.parts().reduced.size());
}

}  // namespace

bool can_go_by_rows(const Fusion& fusion) {
  const int first_column = first_column_of(fusion);
  return fusion.parts().reduced[0] == first_column &&
         std::ranges::all_of(fusion.inputs(), [&](const FusionParts::Input& input) {
           return extent_of(input, fusion.space(), first_column).has_value();
         });
}

Result<Ref<const Kernel>> compile_rows(const Fusion& fusion) {
  if (!can_go_by_rows(fusion)) {
    return unimplemented("row programs reduce the last axes, of inputs that are the same in all ",
                         "rows or are all rows");
  }
  std::vector<RowInput> inputs;
  for (const FusionParts::Input& input : fusion.inputs()) {
    inputs.push_back({input.dtype, *extent_of(input, fusion.space(), first_column_of(fusion))});
  }
  ASSIGN_OR_RETURN(RowPlanner::Plan plan, RowPlanner(fusion, inputs).plan());
  return Ref<const Kernel>(make_ref<RowKernel>(fusion, std::move(plan)));
}

}  // namespace graven::engine
