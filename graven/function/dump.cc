#include "graven/function/dump.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "graven/base/strings.h"
#include "graven/ir/text.h"

namespace graven::engine {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> g_has_failed{false};

// Where to write; empty if nothing is wanted. A relative folder is one of where the program was
// when it made its first Program.
const fs::path& wanted_folder() {
  static const auto* folder = [] {
    const char* text = std::getenv("GRAVEN_DUMP");
    if (!text || !*text) return new fs::path();
    std::error_code error;
    fs::path absolute = fs::absolute(text, error);
    return new fs::path(error ? fs::path(text) : absolute);
  }();
  return *folder;
}

void warn_once(const fs::path& path, const std::string& reason) {
  if (g_has_failed.exchange(true)) return;
  std::fprintf(stderr, "graven: GRAVEN_DUMP=%s: cannot write %s: %s. No graphs are written.\n",
               wanted_folder().c_str(), path.c_str(), reason.c_str());
}

// "__inference_f_12" is f_12; characters that some file systems refuse become "_".
std::string safe_name(std::string_view name) {
  constexpr size_t kMaxLength = 80;
  constexpr std::string_view kInference = "__inference_";
  if (name.starts_with(kInference)) name.remove_prefix(kInference.size());
  std::string safe(name.size() > kMaxLength ? name.substr(name.size() - kMaxLength) : name);
  for (char& c : safe) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!is_plain) c = '_';
  }
  return safe;
}

std::string two_digits(int number) { return str_cat(number < 10 ? "0" : "", number); }

// "  12.3 us"
std::string time_text(double microseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f us", microseconds);
  return text;
}

// The highest number that an earlier run gave a folder.
int last_number() {
  int last = 0;
  std::error_code error;
  for (fs::directory_iterator at(wanted_folder(), error), end; !error && at != end;
       at.increment(error)) {
    last = std::max(last, std::atoi(at->path().filename().c_str()));
  }
  return last;
}

// A new folder, behind those of earlier runs. Empty if there is none to be had.
fs::path new_folder(std::string_view body) {
  std::error_code error;
  fs::create_directories(wanted_folder(), error);
  if (error) {
    warn_once(wanted_folder(), error.message());
    return {};
  }
  static std::atomic<int> last{last_number()};
  for (;;) {  // another process may be quicker
    char number[16];
    std::snprintf(number, sizeof(number), "%04d_", last.fetch_add(1) + 1);
    fs::path folder = wanted_folder() / (number + safe_name(body));
    if (fs::create_directory(folder, error)) return folder;
    if (error) {
      warn_once(folder, error.message());
      return {};
    }
  }
}

}  // namespace

std::unique_ptr<Dump> Dump::begin(std::string_view body, const Graph& traced) {
  if (wanted_folder().empty() || g_has_failed.load(std::memory_order_relaxed)) return nullptr;
  fs::path folder = new_folder(body);
  if (folder.empty()) return nullptr;
  std::unique_ptr<Dump> dump(new Dump(std::move(folder)));
  dump->write("00_traced.txt", str_cat("# ", body, " as it was traced\n", print_graph(traced)));
  return dump;
}

void Dump::after_pass(const PassDone& pass, const Graph& graph) {
  const std::string time = time_text(pass.microseconds);
  times_ += str_cat(pass.name, ": ", time, pass.has_changed ? "" : ", nothing to do", "\n");
  if (!pass.has_changed) return;
  write(str_cat(two_digits(++num_graphs_), "_", pass.name, ".txt"),
        str_cat("# after ", pass.name, ", which took ", time, "\n", print_graph(graph)));
}

void Dump::end(const Program& program, double microseconds) {
  times_ += str_cat("planning: ", time_text(microseconds), "\n");
  write("program.txt", program.to_text(/*with_costs=*/true));
  write("times.txt", times_);
}

void Dump::write(const std::string& file, const std::string& text) const {
  if (g_has_failed.load(std::memory_order_relaxed)) return;
  const fs::path path = folder_ / file;
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) warn_once(path, std::strerror(errno));
}

}  // namespace graven::engine
