// The stages of a step lie in levels. Level 0 needs no reduction; a reduction stands on the level
// of what it reduces, what needs its result on the next one. On each level come first the values
// per row, then the elements of the matrix, then the reductions.
#include "graven/runtime/plan_rows.h"

#include <algorithm>

#include "graven/expr/fuse.h"
#include "graven/runtime/compiled_body.h"

namespace graven::engine {
namespace {

bool is_one_element(const Shape& shape) {
  return shape.has_rank() && std::ranges::all_of(shape.dims(), [](Dim d) { return d == Dim(1); });
}

class RowPlanner {
 public:
  RowPlanner(std::span<const RowInput> inputs, std::span<const RowMember> members)
      : inputs_(inputs), members_(members), places_(members.size()) {}

  Result<RowPlan> plan() {
    find_readers();
    find_levels();
    find_owners();
    for (int level = 0; level <= num_levels_; ++level) {
      for (bool is_per_row : {true, false}) {
        std::vector<int> stage;
        for (int m = 0; m < size(); ++m) {
          if (!members_[m].is_reduction && places_[m].level == level && places_[m].owner < 0 &&
              members_[m].is_per_row == is_per_row) {
            stage.push_back(m);
          }
        }
        add_elementwise(stage);
      }
      for (int m = 0; m < size(); ++m) {
        if (members_[m].is_reduction && places_[m].level == level) add_reduction(m);
      }
    }
    std::vector<RowStage::Source> outputs;
    for (int m = 0; m < size(); ++m) {
      if (!members_[m].is_read) continue;
      outputs.push_back(places_[m].value);
      plan_.outputs.push_back({m, overwritable(m)});
    }
    ASSIGN_OR_RETURN(plan_.program, RowProgram::compile(inputs_, stages_, outputs));
    return std::move(plan_);
  }

 private:
  struct Place {
    int level = 0;
    int owner = -1;  // the reduction that alone needs it
    std::vector<int> readers;
    RowStage::Source value;  // once its stage is made
  };
  int size() const { return static_cast<int>(members_.size()); }

  void find_readers() {
    for (int m = 0; m < size(); ++m) {
      for (RowMember::Source source : members_[m].sources) {
        if (source.member >= 0) places_[source.member].readers.push_back(m);
      }
    }
  }

  void find_levels() {
    for (int m = 0; m < size(); ++m) {
      int& level = places_[m].level;
      for (RowMember::Source source : members_[m].sources) {
        if (source.member < 0) continue;
        int after = members_[source.member].is_reduction ? 1 : 0;
        level = std::max(level, places_[source.member].level + after);
      }
      num_levels_ = std::max(num_levels_, level);
    }
    // As late as the first reader.
    for (int m = size(); m-- > 0;) {
      if (members_[m].is_reduction || places_[m].readers.empty()) continue;
      int first = num_levels_;
      for (int reader : places_[m].readers) first = std::min(first, places_[reader].level);
      places_[m].level = first;
    }
  }

  void find_owners() {
    for (int m = size(); m-- > 0;) {
      const RowMember& member = members_[m];
      if (member.is_reduction || member.is_read || member.is_per_row) continue;
      int owner = -1;
      for (int reader : places_[m].readers) {
        int of_reader = members_[reader].is_reduction ? reader : places_[reader].owner;
        if (of_reader < 0 || (owner >= 0 && of_reader != owner)) {
          owner = -1;
          break;
        }
        owner = of_reader;
      }
      places_[m].owner = owner;
    }
  }

  // The members of one stage, as fuse_expressions takes them, and what it reads.
  struct Fusion {
    std::vector<int> members;
    std::vector<FusionMember> fused;
    std::vector<DType> inputs;
    RowStage stage;
  };

  FusionMember::Source source_in(Fusion& fusion, RowMember::Source source) {
    auto inside = std::find(fusion.members.begin(), fusion.members.end(), source.member);
    if (source.member >= 0 && inside != fusion.members.end()) {
      return {static_cast<int>(inside - fusion.members.begin()), 0};
    }
    RowStage::Source from =
        source.member < 0 ? RowStage::Source{-1, source.index} : places_[source.member].value;
    auto& known = fusion.stage.sources;
    for (size_t i = 0; i < known.size(); ++i) {
      if (known[i].stage == from.stage && known[i].index == from.index) {
        return {-1, static_cast<int>(i)};
      }
    }
    known.push_back(from);
    fusion.inputs.push_back(source.member < 0 ? inputs_[source.index].dtype
                                              : members_[source.member].body->output());
    return {-1, static_cast<int>(known.size()) - 1};
  }

  void add_to(Fusion& fusion, int m) {
    FusionMember member{&members_[m].body->block()->expression(), {}, m};
    for (RowMember::Source source : members_[m].sources) {
      member.sources.push_back(source_in(fusion, source));
    }
    fusion.members.push_back(m);
    fusion.fused.push_back(std::move(member));
  }

  void add_elementwise(const std::vector<int>& members) {
    if (members.empty()) return;
    Fusion fusion;
    for (int m : members) add_to(fusion, m);
    std::vector<FusionMember::Source> outputs;
    for (size_t i = 0; i < members.size(); ++i) {
      Place& place = places_[members[i]];
      bool is_needed = members_[members[i]].is_read;
      for (int reader : place.readers) is_needed |= !std::ranges::count(members, reader);
      if (!is_needed) continue;
      place.value = {static_cast<int>(stages_.size()), static_cast<int>(outputs.size())};
      outputs.push_back({static_cast<int>(i), 0});
    }
    fusion.stage.expression = fuse_expressions(fusion.inputs, fusion.fused, outputs);
    // Waited for, but not read.
    if (outputs.empty() && fusion.stage.expression->traps().empty()) return;
    stages_.push_back(std::move(fusion.stage));
  }

  void add_reduction(int m) {
    Fusion fusion;
    for (int other = 0; other < m; ++other) {
      if (places_[other].owner == m) add_to(fusion, other);
    }
    ReductionParts parts = members_[m].body->parts();
    FusionMember prepare{&members_[m].body->parts().prepare, {}, m};
    prepare.sources.push_back(source_in(fusion, members_[m].sources[0]));
    fusion.fused.push_back(std::move(prepare));
    FusionMember::Source prepared[] = {{static_cast<int>(fusion.fused.size()) - 1, 0}};
    parts.prepare = fuse_expressions(fusion.inputs, fusion.fused, prepared);
    fusion.stage.reduction = std::move(parts);
    places_[m].value = {static_cast<int>(stages_.size()), 0};
    stages_.push_back(std::move(fusion.stage));
  }

  // The inputs over which an output may be written: matrices that no stage reads after its own.
  uint64_t overwritable(int m) const {
    if (members_[m].is_per_row) return 0;
    uint64_t inputs = 0;
    for (size_t i = 0; i < std::min<size_t>(inputs_.size(), 64); ++i) {
      if (inputs_[i].extent != RowExtent::kMatrix ||
          dtype_size(inputs_[i].dtype) != dtype_size(members_[m].body->output())) {
        continue;
      }
      int last = -1;
      for (size_t s = 0; s < stages_.size(); ++s) {
        for (RowStage::Source source : stages_[s].sources) {
          if (source.stage < 0 && source.index == static_cast<int>(i)) last = static_cast<int>(s);
        }
      }
      if (last <= places_[m].value.stage) inputs |= uint64_t{1} << i;
    }
    return inputs;
  }

  std::span<const RowInput> inputs_;
  std::span<const RowMember> members_;
  std::vector<Place> places_;
  std::vector<RowStage> stages_;
  int num_levels_ = 0;
  RowPlan plan_;
};

}  // namespace

bool is_per_row(const Shape& shape, const Shape& matrix, int axes) {
  const int rows = matrix.rank() - axes;
  if (!shape.has_rank() || (shape.rank() != rows && shape.rank() != matrix.rank())) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!(shape[i] == (i < rows ? matrix[i] : Dim(1)))) return false;
  }
  return true;
}

std::optional<RowExtent> row_extent(const Shape& operand, const Shape& result, const Shape& matrix,
                                    int axes) {
  if (is_one_element(operand)) return RowExtent::kScalar;
  if (!(result == matrix)) {
    return operand == result ? std::optional(RowExtent::kPerRow) : std::nullopt;
  }
  if (!operand.has_rank() || operand.rank() > matrix.rank()) return std::nullopt;
  if (operand == matrix) return RowExtent::kMatrix;
  if (operand.rank() == matrix.rank() && is_per_row(operand, matrix, axes)) {
    return RowExtent::kPerRow;
  }
  // The same in all rows: the last axes, and perhaps ones before them.
  const int missing = matrix.rank() - operand.rank(), rows = matrix.rank() - axes;
  if (missing > rows) return std::nullopt;
  for (int i = 0; i < operand.rank(); ++i) {
    bool is_column = i + missing >= rows;
    if (!(operand[i] == (is_column ? matrix[i + missing] : Dim(1)))) return std::nullopt;
  }
  return RowExtent::kPerColumn;
}

Result<RowPlan> plan_rows(std::span<const RowInput> inputs, std::span<const RowMember> members) {
  return RowPlanner(inputs, members).plan();
}

}  // namespace graven::engine
