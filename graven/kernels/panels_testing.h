#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "graven/base/strings.h"
#include "graven/kernels/panels.h"

// Helpers of this room's tests.
namespace graven::engine {

// The log of a kernel's reports: how often each element was in a panel, and its value then.
class PanelLog {
 public:
  PanelLog(const void* result, int64_t rows, int64_t columns, size_t element_size)
      : result_(static_cast<const std::byte*>(result)),
        rows_(rows),
        columns_(columns),
        size_(element_size),
        times_(static_cast<size_t>(rows * columns)),
        seen_(static_cast<size_t>(rows * columns) * element_size) {}
  PanelLog(const PanelLog&) = delete;

  const PanelDone* done() const { return &done_; }
  void operator()(const Panel& panel) {
    ++num_panels;
    if (panel.row < 0 || panel.rows <= 0 || panel.row + panel.rows > rows_ || panel.column < 0 ||
        panel.columns <= 0 || panel.column + panel.columns > columns_) {
      is_outside_ = true;
      return;
    }
    for (int64_t row = panel.row; row < panel.row + panel.rows; ++row) {
      const auto first = static_cast<size_t>(row * columns_ + panel.column);
      for (int64_t i = 0; i < panel.columns; ++i) ++times_[first + static_cast<size_t>(i)];
      std::memcpy(seen_.data() + first * size_, result_ + first * size_,
                  static_cast<size_t>(panel.columns) * size_);
    }
  }

  // Empty if each element was reported once, with its final value.
  std::string error() const {
    if (is_outside_) return "a panel is empty, or outside of the result";
    for (size_t i = 0; i < times_.size(); ++i) {
      if (times_[i] != 1)
        return str_cat("element ", i, " was told of ", times_[i].load(), " times");
    }
    if (seen_.empty() || std::memcmp(seen_.data(), result_, seen_.size()) == 0) return "";
    return "an element changed after it was told of";
  }

  std::atomic<int> num_panels{0};

 private:
  const std::byte* result_;
  const int64_t rows_, columns_;
  const size_t size_;
  std::vector<std::atomic<int>> times_;
  std::vector<std::byte> seen_;
  std::atomic<bool> is_outside_{false};
  const PanelDone done_{*this};
};

}  // namespace graven::engine
