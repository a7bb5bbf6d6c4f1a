#include "graven/base/json.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "graven/base/strings.h"

namespace graven::engine {
namespace {

constexpr int kMaxDepth = 64;

// The bytes of the character of UTF-8 at the front; 0 if there is none.
size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Too long a form, a surrogate, beyond U+10FFFF.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

void append_quoted(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      out += {'\\', text[0]};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20) {
      out += {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

void append_utf8(std::string& out, uint32_t code) {
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Json> parse() {
    ASSIGN_OR_RETURN(Json value, this->value(0));
    skip_spaces();
    if (at_ < text_.size()) return error("the end");
    return value;
  }

 private:
  Status error(std::string_view wanted) const {
    return invalid_argument("no JSON: ", wanted, " is missing at character ", at_);
  }
  void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool take(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Result<Json> value(int depth) {
    if (depth > kMaxDepth) return error("an end of nesting");
    if (take("null")) return Json();
    if (take("true")) return Json(true);
    if (take("false")) return Json(false);
    if (take("[")) return list(depth);
    if (take("{")) return members(depth);
    if (at_ < text_.size() && text_[at_] == '"') {
      ASSIGN_OR_RETURN(std::string text, string());
      return Json(std::move(text));
    }
    return number();
  }

  Result<Json> list(int depth) {
    Json::Array items;
    if (take("]")) return Json(std::move(items));
    do {
      ASSIGN_OR_RETURN(Json item, value(depth + 1));
      items.push_back(std::move(item));
    } while (take(","));
    if (!take("]")) return error("]");
    return Json(std::move(items));
  }

  Result<Json> members(int depth) {
    Json::Object all;
    if (take("}")) return Json(std::move(all));
    do {
      skip_spaces();
      ASSIGN_OR_RETURN(std::string key, string());
      if (!take(":")) return error(":");
      ASSIGN_OR_RETURN(Json member, value(depth + 1));
      all.emplace_back(std::move(key), std::move(member));
    } while (take(","));
    if (!take("}")) return error("}");
    return Json(std::move(all));
  }

  Result<Json> number() {
    const size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    const char *begin = text_.data() + at_, *stop = text_.data() + end;
    int64_t integer = 0;
    if (auto read = std::from_chars(begin, stop, integer);
        begin < stop && read.ec == std::errc() && read.ptr == stop) {
      at_ = end;
      return Json(integer);
    }
    double number = 0;
    auto read = std::from_chars(begin, stop, number);
    if (begin == stop || read.ec != std::errc() || read.ptr != stop) return error("a value");
    at_ = end;
    return Json(number);
  }

  std::optional<uint32_t> hex4() {
    uint32_t code = 0;
    if (text_.size() - at_ < 4) return std::nullopt;
    auto read = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16);
    if (read.ptr != text_.data() + at_ + 4) return std::nullopt;
    at_ += 4;
    return code;
  }

  Result<std::string> string() {
    if (at_ >= text_.size() || text_[at_] != '"') return error("a string");
    ++at_;
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return error("an escape");
      if (text_[at_] != '\\') {
        out += text_[at_++];
        continue;
      }
      if (++at_ >= text_.size()) break;
      const char escaped = text_[at_++];
      constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
      if (const size_t which = kEscapes.find(escaped); which != kEscapes.npos) {
        out += kMeanings[which];
        continue;
      }
      auto code = escaped == 'u' ? hex4() : std::nullopt;
      if (code && *code >= 0xd800 && *code < 0xdc00) {  // the first half of a pair
        auto second = text_.substr(at_).starts_with("\\u") ? (at_ += 2, hex4()) : std::nullopt;
        if (!second || *second < 0xdc00 || *second > 0xdfff) return error("a surrogate");
        code = 0x10000 + ((*code - 0xd800) << 10) + (*second - 0xdc00);
      }
      if (!code) return error("an escape");
      append_utf8(out, *code);
    }
    if (at_ >= text_.size()) return error("\"");
    ++at_;
    return out;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  const Object* members = object();
  if (!members) return nullptr;
  for (const auto& [name, value] : *members) {
    if (name == key) return &value;
  }
  return nullptr;
}

void Json::append_to(std::string& out) const {
  auto append = [&](const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::monostate>) {
      out += "null";
    } else if constexpr (std::is_same_v<T, double>) {
      out += std::isfinite(value) ? shortest(value) : "null";
    } else if constexpr (std::is_same_v<T, std::string>) {
      append_quoted(out, value);
    } else if constexpr (std::is_same_v<T, Array>) {
      out += '[';
      for (const Json& item : value) {
        if (&item != &value.front()) out += ", ";
        item.append_to(out);
      }
      out += ']';
    } else if constexpr (std::is_same_v<T, Object>) {
      out += '{';
      for (const auto& member : value) {
        if (&member != &value.front()) out += ", ";
        append_quoted(out, member.first);
        out += ": ";
        member.second.append_to(out);
      }
      out += '}';
    } else {
      out += str_cat(value);
    }
  };
  std::visit(append, value_);
}

std::string Json::to_text() const {
  std::string out;
  append_to(out);
  return out;
}

Result<Json> Json::parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace graven::engine
