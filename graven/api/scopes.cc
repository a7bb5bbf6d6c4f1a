#include "graven/api/scopes.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "graven/base/strings.h"
#include "graven/ir/graph_builder.h"

namespace graven {

using engine::Frame;

// --- ControlDependencies.

ControlDependencies::ControlDependencies(const std::vector<Tensor>& control_inputs) {
  Frame& frame = Frame::current();
  if (!frame.is_graph()) return;
  frame_ = frame.id();
  saved_ = frame.graph_builder()->control_inputs;
  for (const Tensor& input : control_inputs) {
    // A tensor that is no node of this graph was computed already.
    if (input.is_none() || !input.is_symbolic()) continue;
    engine::Node& node = engine::symbolic(input).node();
    if (&node.graph() == frame.graph()) frame.graph_builder()->control_inputs.push_back(&node);
  }
}

ControlDependencies::~ControlDependencies() {
  Frame* frame = frame_ ? Frame::find(frame_) : nullptr;
  if (frame) frame->graph_builder()->control_inputs = saved_;
}

// --- DeviceScope.

namespace {

// job, replica, task and device ("GPU:1"); empty: not named.
using DeviceParts = std::array<std::string, 4>;
constexpr std::string_view kParts[] = {"job:", "replica:", "task:", "device:"};

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

// "gpu" or "gpu:1" as "GPU:*" or "GPU:1"; empty if it is neither.
std::string kind_and_number(std::string_view text) {
  size_t colon = std::min(text.find(':'), text.size());
  std::string kind(text.substr(0, colon));
  std::string_view number = colon < text.size() ? text.substr(colon + 1) : "*";
  bool is_kind = !kind.empty() && std::all_of(kind.begin(), kind.end(), [](unsigned char c) {
    return std::isalpha(c) || c == '_';
  });
  if (!is_kind || (number != "*" && !is_number(number))) return "";
  for (char& c : kind) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return engine::str_cat(kind, ":", number);
}

// Whether it is "cpu", "gpu" or "tpu", which need no "device:".
bool is_short(std::string_view kind) {
  return kind.starts_with("CPU:") || kind.starts_with("GPU:") || kind.starts_with("TPU:");
}

// Adds a piece between slashes; false if it is none.
bool add_piece(std::string_view piece, DeviceParts& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!piece.starts_with(kParts[i])) continue;
    std::string_view value = piece.substr(kParts[i].size());
    parts[i] = i == 3 ? kind_and_number(value) : std::string(value);
    bool is_counted = i == 1 || i == 2;
    return !parts[i].empty() && (!is_counted || is_number(value));
  }
  parts[3] = kind_and_number(piece);
  return is_short(parts[3]);
}

bool parse(std::string_view text, DeviceParts& parts) {
  while (!text.empty()) {
    size_t end = std::min(text.find('/'), text.size());
    if (end > 0 && !add_piece(text.substr(0, end), parts)) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

DeviceScope::DeviceScope(std::string_view device_name, std::source_location location)
    : frame_(Frame::current().id()), saved_(Frame::current().device) {
  DeviceParts parts;
  parse(saved_, parts);
  if (!parse(device_name, parts)) {
    throw_error(engine::value_error("Unknown attribute is encountered while parsing the device "
                                    "spec: '",
                                    device_name, "'."),
                location);
  }
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].empty()) text += engine::str_cat("/", kParts[i], parts[i]);
  }
  Frame::current().device = text;
}

DeviceScope::~DeviceScope() {
  if (Frame* frame = Frame::find(frame_)) frame->device = saved_;
}

}  // namespace graven
