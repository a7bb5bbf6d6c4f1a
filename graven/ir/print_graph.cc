#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <unordered_map>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/body.h"
#include "graven/ir/fusion.h"
#include "graven/ir/graph_syntax.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/text.h"

namespace graven::engine {
namespace {

using namespace graph_syntax;

constexpr size_t kMaxLine = 100;

std::string quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += {'\\', 'x', kHex[c >> 4 & 15], kHex[c & 15]};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string name_text(std::string_view name) {
  for (char c : name) {
    if (!is_name_char(c)) return quoted(name);
  }
  return name.empty() ? quoted(name) : std::string(name);
}

template <typename T>
std::string number_text(T value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
    return shortest(value);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return number_text(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    return str_cat(number_text(value.real()), std::signbit(value.imag()) ? "-" : "+",
                   number_text(std::abs(value.imag())), "i");
  } else {
    return str_cat(value);
  }
}

// A floating attribute shows that it is one.
std::string double_text(double value) {
  if (std::isnan(value)) {
    uint64_t bits = std::bit_cast<uint64_t>(value);
    uint64_t plain = std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
    // A NaN of other bits is written by its bits.
    if ((bits & ~(uint64_t{1} << 63)) != plain) return str_cat("nan(", bits, ")");
  }
  std::string text = number_text(value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

// True if the numbers, as text, do not give back the bits: NaNs with a payload.
bool needs_bytes(const Tensor& value) {
  if (value.num_elements() > kMaxElementsAsNumbers) return true;
  bool unusual = false;
  visit_plain(value.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto check = [&](auto part) {
      using P = decltype(part);
      if constexpr (std::is_floating_point_v<P>) {
        if (!std::isnan(part)) return;
        P plain = std::copysign(std::numeric_limits<P>::quiet_NaN(), part);
        unusual |= std::memcmp(&part, &plain, sizeof(P)) != 0;
      }
    };
    for (T element : value.data<T>()) {
      if constexpr (std::is_same_v<T, std::complex<float>> ||
                    std::is_same_v<T, std::complex<double>>) {
        check(element.real());
        check(element.imag());
        // The sign of a NaN in the imaginary part is not told from that of the sum.
        unusual |= std::isnan(element.imag());
      } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        unusual |= std::isnan(static_cast<float>(element)) &&
                   T(static_cast<float>(element)).bits != element.bits;
        check(static_cast<float>(element));
      } else {
        check(element);
      }
    }
  });
  return unusual;
}

// The elements, or hex "..." of their bytes.
std::string elements_text(const Tensor& value) {
  std::string out;
  auto list = [&](auto elements, auto&& one) {
    for (const auto& element : elements) {
      if (!out.empty()) out += ", ";
      out += one(element);
    }
  };
  if (value.dtype() == DType::kString) {
    list(value.data<std::string>(), [](const std::string& text) { return quoted(text); });
  } else if (!is_plain(value.dtype())) {
    out = "object";  // Cannot be read back.
  } else if (needs_bytes(value)) {
    constexpr char kHex[] = "0123456789abcdef";
    const auto* bytes = static_cast<const unsigned char*>(value.raw_data());
    out.reserve(value.bytes() * 2 + 8);
    out = "hex \"";
    for (size_t i = 0; i < value.bytes(); ++i) out += {kHex[bytes[i] >> 4], kHex[bytes[i] & 15]};
    out += '"';
  } else {
    visit_plain(value.dtype(), [&](auto zero) {
      using T = decltype(zero);
      list(value.data<T>(), [](T element) { return number_text(element); });
    });
  }
  return out;
}

// Names for the bodies and fusions that a text mentions, in the order of mention.
class Sections {
 public:
  std::string name(const Fusion* fusion) {
    auto at = std::find(fusions.begin(), fusions.end(), fusion);
    if (at == fusions.end()) at = fusions.insert(at, fusion);
    return str_cat("fused", at - fusions.begin());
  }
  const std::string& name(const Body* body) {
    auto [at, is_new] = names_.try_emplace(body);
    if (is_new) {
      std::string name = body->name();
      for (int i = 1; !used_.insert(name).second; ++i) name = str_cat(body->name(), "_", i);
      at->second = name_text(name);
      order.push_back(body);
    }
    return at->second;
  }
  std::vector<const Body*> order;
  std::vector<const Fusion*> fusions;

 private:
  std::unordered_map<const Body*, std::string> names_;
  std::set<std::string> used_;
};

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, Sections& sections) : graph_(graph), sections_(sections) {
    is_input_.resize(graph.id_bound());
    for (const Node* node : graph.inputs()) is_input_[node->id()] = true;
  }

  // `begin` stands before the first line.
  void print(const std::string& begin, std::vector<PrintedLine>& lines) {
    std::vector<std::string> inputs;
    size_t width = 0;
    for (const Node* node : graph_.inputs()) {
      inputs.push_back(input_text(*node));
      width += inputs.back().size() + 2;
    }
    std::string first = str_cat("graph ", name_text(graph_.name()), "(");
    if (inputs.empty() || first.size() + width <= kMaxLine) {
      lines.push_back({str_cat(begin, first, str_join(inputs, ", "), ") {")});
    } else {
      lines.push_back({begin + first});
      for (size_t i = 0; i < inputs.size(); ++i) {
        const bool is_last = i + 1 == inputs.size();
        lines.push_back({str_cat("    ", inputs[i], is_last ? ") {" : ","), graph_.inputs()[i]});
      }
    }
    for (const Node* node : graph_.nodes()) {
      if (!is_input_[node->id()]) lines.push_back({"  " + node_text(*node), node});
    }
    if (!graph_.outputs().empty() || !graph_.control_outputs().empty()) {
      std::string last = "  return";
      for (size_t i = 0; i < graph_.outputs().size(); ++i) {
        last += str_cat(i ? ", " : " ", ref_text(graph_.outputs()[i]));
      }
      lines.push_back({last + controls_text(graph_.control_outputs())});
    }
    lines.push_back({"}"});
  }

  std::string fusion_text(const Fusion& fusion) {
    const FusionParts& parts = fusion.parts();
    std::string out = "over " + fusion_shape_text(parts.space);
    for (size_t i = 0; i < parts.reduced.size(); ++i) {
      out += str_cat(i ? "," : " reducing [", parts.reduced[i]);
    }
    out += parts.reduced.empty() ? " {\n" : "] {\n";
    for (size_t i = 0; i < parts.inputs.size(); ++i) {
      const FusionParts::Input& input = parts.inputs[i];
      out += str_cat("  x", i, ": ", dtype_name(input.dtype), fusion_shape_text(input.shape));
      if (input.whole) {
        out += " whole\n";
        continue;
      }
      auto usual = Read::broadcasting(input.shape, parts.space);
      if (!usual || !(*usual == input.read)) out += " at " + input.read.to_text();
      if (input.value) out += str_cat(" = ", *input.value);
      out += "\n";
    }
    auto source_text = [](FusionParts::Source source) {
      return source.member < 0 ? str_cat("x", source.index) : str_cat("%", source.member);
    };
    for (size_t m = 0; m < parts.members.size(); ++m) {
      const FusionParts::Member& member = parts.members[m];
      std::vector<std::string> sources;
      for (FusionParts::Source source : member.sources) sources.push_back(source_text(source));
      AttrsRef attrs = member.attrs;
      auto attributes = attribute_texts(attrs, Attrs(attrs.type()));
      out +=
          str_cat("  %", m, ": ", dtype_name(member.dtype), " = ", member.op->name(), "(",
                  str_join(sources, ", "), ")",
                  attributes.empty() ? "" : str_cat(" {", str_join(attributes, ", "), "}"), "\n");
    }
    out += "  return";
    for (size_t i = 0; i < parts.outputs.size(); ++i) {
      out += str_cat(i ? ", %" : " %", parts.outputs[i]);
    }
    return out + "\n}\n";
  }

 private:
  static std::string fusion_shape_text(const Shape& shape) {
    std::vector<std::string> texts;
    for (Dim dim : shape.dims()) texts.push_back(fusion_dim_text(dim));
    return str_cat("[", str_join(texts, ","), "]");
  }
  std::string node_name(const Node* node) const {
    if (!node || &node->graph() != &graph_) return "?";  // Broken: of no graph, or of another.
    if (is_input_[node->id()]) return name_text(node->name());
    return "%" + name_text(node->name());
  }
  std::string ref_text(OutputRef ref) const {
    return ref.index == 0 || !ref.node ? node_name(ref.node)
                                       : str_cat(node_name(ref.node), ":", ref.index);
  }
  std::string controls_text(std::span<Node* const> nodes) const {
    std::string out;
    for (const Node* node : nodes) out += " ^" + node_name(node);
    return out;
  }

  // Symbols are named uniquely, and with characters that can be read back.
  std::string symbol_text(int64_t symbol) {
    auto [at, is_new] = symbol_names_.try_emplace(symbol);
    if (is_new) {
      std::string wished = graph_.symbols().symbol_name(symbol);
      for (char& c : wished) c = is_symbol_char(c) ? c : '_';
      if (wished.empty() || !starts_symbol(wished[0])) wished.insert(0, "_");
      std::string name = wished;
      for (int i = 1; !used_symbol_names_.insert(name).second; ++i) name = str_cat(wished, "_", i);
      at->second = name;
    }
    return at->second;
  }
  std::string dim_text(Dim dim) {
    return graph_.symbols().to_text(dim, [&](int64_t symbol) { return symbol_text(symbol); });
  }
  std::string dims_text(std::span<const Dim> dims) {
    std::string out;
    for (size_t i = 0; i < dims.size(); ++i) out += str_cat(i ? "," : "", dim_text(dims[i]));
    return out;
  }
  std::string shape_text(const Shape& shape) {
    return shape.has_rank() ? str_cat("[", dims_text(shape.dims()), "]") : "[...]";
  }
  std::string type_text(const OutputType& type) {
    std::string out =
        str_cat(dtype_name(type.dtype), shape_text(type.shape), type.is_promised ? "!" : "");
    if (type.sizes) {
      out += str_cat("(", dims_text({type.sizes->data(), type.sizes->size()}), ")");
    }
    if (type.handle_data) {
      std::string all;
      for (const HeldType& held : type.handle_data->components) {
        all += str_cat(all.empty() ? "" : ", ", dtype_name(held.dtype), shape_text(held.shape));
      }
      out += str_cat("<", all, ">");
    }
    return out;
  }

  std::string tensor_text(const Tensor& value) {
    if (!value) return "none";
    if (value.is_symbolic()) return "symbolic";  // Cannot be read back.
    return str_cat(dtype_name(value.dtype()), shape_text(value.shape()), "(", elements_text(value),
                   ")");
  }
  std::string body_text(const Ref<Body>& body) {
    return body ? "@" + sections_.name(body.get()) : "none";
  }
  template <typename T, typename F>
  static std::string list_text(const std::vector<T>& values, F&& one) {
    std::vector<std::string> texts;
    for (const T& value : values) texts.push_back(one(value));
    return str_cat("[", str_join(texts, ", "), "]");
  }
  std::string value_text(const AttrValue& value) {
    auto text = [this](const auto& v) -> std::string {
      using T = std::remove_cvref_t<decltype(v)>;
      auto dtype = [](DType x) { return std::string(dtype_name(x)); };
      if constexpr (std::is_same_v<T, std::monostate>)
        return "";
      else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t>)
        return str_cat(v);
      else if constexpr (std::is_same_v<T, double>)
        return double_text(v);
      else if constexpr (std::is_same_v<T, std::string>)
        return quoted(v);
      else if constexpr (std::is_same_v<T, DType>)
        return dtype(v);
      else if constexpr (std::is_same_v<T, Shape>)
        return shape_text(v);
      else if constexpr (std::is_same_v<T, Tensor>)
        return tensor_text(v);
      else if constexpr (std::is_same_v<T, Ref<Body>>)
        return body_text(v);
      else if constexpr (std::is_same_v<T, std::vector<double>>)
        return list_text(v, double_text);
      else if constexpr (std::is_same_v<T, std::vector<std::string>>)
        return list_text(v, quoted);
      else if constexpr (std::is_same_v<T, std::vector<DType>>)
        return list_text(v, dtype);
      else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
        return list_text(v, [](int64_t x) { return str_cat(x); });
      else if constexpr (std::is_same_v<T, std::vector<Shape>>)
        return list_text(v, [this](const Shape& x) { return shape_text(x); });
      else if constexpr (std::is_same_v<T, Ref<const Fusion>>)
        return v ? "@" + sections_.name(v.get()) : "none";
      else
        return list_text(v, [this](const Ref<Body>& x) { return body_text(x); });
    };
    return std::visit(text, value);
  }

  std::vector<std::string> attribute_texts(AttrsRef attrs, AttrsRef usual) {
    std::vector<std::string> all;
    for (const AttrField& field : attrs.type().fields) {
      AttrValue value = field.get(attrs.data());
      if (equal(value, field.get(usual.data()))) continue;
      all.push_back(str_cat(field.name, "=", value_text(value)));
    }
    return all;
  }
  // The attributes that differ from `usual`, then those of this node only.
  std::string attributes_text(const Node& node, AttrsRef usual) {
    std::vector<std::string> all = attribute_texts(node.attrs(), usual);
    for (const auto& [name, value] : node.extra_attributes()) {
      std::string_view word = kKindWords[value.index()];
      std::string text = value_text(value);
      all.push_back(
          str_cat(name_text(name), "=", word, word.empty() || text.empty() ? "" : " ", text));
    }
    return all.empty() ? "" : str_cat(" {", str_join(all, ", "), "}");
  }
  static std::string device_text(const Node& node) {
    return node.device().empty() ? "" : str_cat(" on ", quoted(node.device()));
  }

  // " = 1.5", if the node is a constant that is fully said by its type and elements.
  std::string constant_text(const Node& node) {
    if (&node.op() != kConst.op || node.num_outputs() != 1 || !node.inputs().empty()) return "";
    const auto& attrs = node.attrs().as<ConstAttrs>();
    const OutputType& type = node.output(0);
    if (!attrs.value || attrs.value.is_symbolic() || attrs.dtype != type.dtype) return "";
    if (attrs.value.dtype() != type.dtype || !(attrs.value.shape() == type.shape)) return "";
    std::string elements = elements_text(attrs.value);
    return type.shape.rank() == 0 ? " = " + elements : str_cat(" = [", elements, "]");
  }

  std::string input_text(const Node& node) {
    std::string out = name_text(node.name());
    if (node.num_outputs() == 1) out += ": " + type_text(node.output(0));
    if (std::string constant = constant_text(node); !constant.empty()) {
      return str_cat(out, constant, attributes_text(node, node.attrs()), device_text(node));
    }
    if (&node.op() != kPlaceholder.op || node.num_outputs() != 1) {
      return str_cat(out, " = ", node.op().name());  // Broken: inputs are one of these.
    }
    PlaceholderAttrs usual = usual_placeholder(node.output(0));
    return str_cat(out, attributes_text(node, usual), device_text(node));
  }
  static PlaceholderAttrs usual_placeholder(const OutputType& type) {
    PlaceholderAttrs attrs{type.dtype, type.shape};
    for (int i = 0; i < attrs.shape.rank(); ++i) {
      if (!attrs.shape[i].is_number()) attrs.shape.set(i, Dim::unknown());
    }
    return attrs;
  }

  std::string node_text(const Node& node) {
    std::vector<std::string> types, inputs;
    for (int i = 0; i < node.num_outputs(); ++i) types.push_back(type_text(node.output(i)));
    std::string out = "%" + name_text(node.name());
    if (!types.empty()) out += ": " + str_join(types, ", ");
    std::string constant = constant_text(node);
    if (constant.empty()) {
      for (OutputRef input : node.inputs()) inputs.push_back(ref_text(input));
      out += str_cat(" = ", node.op().name(), "(", str_join(inputs, ", "), ")",
                     attributes_text(node, Attrs(node.attrs().type())));
    } else {
      out += constant + attributes_text(node, node.attrs());
    }
    return out + controls_text(node.control_inputs()) + device_text(node);
  }

  const Graph& graph_;
  Sections& sections_;
  std::vector<bool> is_input_;
  std::unordered_map<int64_t, std::string> symbol_names_;
  std::set<std::string> used_symbol_names_;
};

}  // namespace

std::vector<PrintedLine> print_lines(const Graph& graph) {
  Sections sections;
  std::vector<PrintedLine> lines;
  GraphPrinter(graph, sections).print("", lines);
  for (size_t i = 0; i < sections.order.size(); ++i) {  // Grows as bodies mention others.
    const Body* body = sections.order[i];
    lines.push_back({});
    GraphPrinter(*body->graph(), sections)
        .print(str_cat("body @", sections.name(body), " = "), lines);
  }
  for (const Fusion* fusion : sections.fusions) {
    lines.push_back({});
    lines.push_back({str_cat("fusion @", sections.name(fusion), " = ",
                             GraphPrinter(graph, sections).fusion_text(*fusion))});
    lines.back().text.pop_back();  // the end of the line
  }
  return lines;
}

std::string print_graph(const Graph& graph) {
  std::string out;
  for (const PrintedLine& line : print_lines(graph)) out += line.text + "\n";
  return out;
}

}  // namespace graven::engine
