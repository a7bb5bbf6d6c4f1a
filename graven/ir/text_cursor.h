#pragma once
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "graven/base/status.h"
#include "graven/ir/graph_syntax.h"

namespace graven::engine::graph_syntax {

// The parser's position in the text, and the tokens read there. Errors say the line.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }

  // An error just behind the last token.
  template <typename... Args>
  Status error(const Args&... args) const {
    size_t at = std::min(at_, text_.size());
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\n')) --at;
    return error_at(at, args...);
  }
  // Something else should stand here.
  template <typename... Args>
  Status expected(const Args&... args) {
    skip_space();
    if (at_ == text_.size())
      return error_at(at_, "expected ", args..., ", got the end of the text");
    size_t end = std::min(text_.find('\n', at_), std::min(text_.size(), at_ + 20));
    return error_at(at_, "expected ", args..., ", got '", text_.substr(at_, end - at_), "'");
  }

  void skip_space() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        break;
      }
    }
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(std::string_view punctuation) {
    skip_space();
    if (!text_.substr(at_).starts_with(punctuation)) return false;
    at_ += punctuation.size();
    return true;
  }
  Status expect(std::string_view punctuation) {
    if (accept(punctuation)) return {};
    return expected("'", punctuation, "'");
  }
  // A word of letters, digits and _; empty if none stands here.
  std::string_view peek_word() {
    skip_space();
    size_t end = at_;
    while (end < text_.size() &&
           (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '_')) {
      ++end;
    }
    return text_.substr(at_, end - at_);
  }
  bool accept_word(std::string_view word) {
    if (peek_word() != word) return false;
    at_ += word.size();
    return true;
  }
  std::string_view word() {
    std::string_view found = peek_word();
    at_ += found.size();
    return found;
  }
  // The characters from here on that satisfy a condition.
  template <typename F>
  std::string_view take_while(F&& is_part) {
    skip_space();
    size_t begin = at_;
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Result<std::string> string() {
    if (!accept("\"")) return expected("a string in quotes");
    std::string out;
    for (;;) {
      if (at_ >= text_.size() || text_[at_] == '\n') return error("a string does not end");
      char c = text_[at_++];
      if (c == '"') return out;
      if (c != '\\') {
        out += c;
        continue;
      }
      char escaped = at_ < text_.size() ? text_[at_++] : '\0';
      if (escaped == 'n') {
        out += '\n';
      } else if (escaped == '"' || escaped == '\\') {
        out += escaped;
      } else if (escaped == 'x' && at_ + 2 <= text_.size()) {
        ASSIGN_OR_RETURN(unsigned char byte, hex_byte(text_.substr(at_, 2)));
        out += static_cast<char>(byte);
        at_ += 2;
      } else {
        return error("unknown escape in a string");
      }
    }
  }
  Result<std::string> name() {
    if (peek() == '"') return string();
    std::string_view found = take_while(is_name_char);
    if (found.empty()) return expected("a name");
    return std::string(found);
  }
  template <typename T>
  Result<T> number() {
    skip_space();
    T value = {};
    auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status == std::errc::result_out_of_range) return error("the number is out of range");
    if (status != std::errc()) return expected("a number");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  Result<unsigned char> hex_byte(std::string_view digits) const {
    unsigned char byte = 0;
    auto [end, status] = std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    if (status != std::errc() || end != digits.data() + 2) return error("expected two hex digits");
    return byte;
  }

 private:
  template <typename... Args>
  Status error_at(size_t at, const Args&... args) const {
    auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<int64_t>(at), '\n');
    return invalid_argument("line ", line, ": ", args...);
  }
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace graven::engine::graph_syntax
