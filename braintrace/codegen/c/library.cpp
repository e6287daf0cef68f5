// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/library.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace braintrace {
std::string_view scalar_c();
std::string_view random_c();
}  // namespace braintrace

namespace braintrace::codegen {

namespace {

// A function, or a type that functions use.
struct Snippet {
  std::string_view    name;
  std::string_view    before, text;  // up to `static`, and from behind it; a type has only the first
  std::vector<size_t> calls = {};    // indices of others, which stand before it
};

// The last word before `end`.
std::string_view word_before(std::string_view line, size_t end) {
  while (end > 0 && !is_word(line[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && is_word(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

// The line at a position, which moves to the next.
std::string_view next_line(std::string_view text, size_t& at) {
  const size_t begin = at, end = std::min(text.find('\n', at), text.size());
  at = end + 1;
  return text.substr(begin, end - begin);
}

// Functions that take the long way: double precision, then one rounding.
std::string by_double(std::string_view name, bool two) {
  const auto text = [&](std::string_view type, std::string_view f, std::string_view rounded, std::string_view wide) {
    return fmt::format("static inline {0} bt_{1}{2}({0} x{5}) {{ return {3}{1}({4}x{6}); }}\n", type, name, f, rounded,
                       wide, two ? fmt::format(", {} y", type) : "", two ? fmt::format(", {}y", wide) : "");
  };
  return text("double", "", "", "") + text("float", "f", "(float)", "(double)");
}

// All functions. Each stands after those it calls, begins with a line `static …` and ends with a line `}` or within its
// line; a type is a line `typedef …;`.
std::string library_text() {
  constexpr std::string_view product =
      R"c(static void bt_matmul_$name(int64_t M, int64_t n0, int64_t n1, int64_t K, const $T* A, int64_t am, int64_t ak,
                          const $T* B, int64_t bk, int64_t bn, $T* C, int64_t cm) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = n0; n < n1; ++n) {
      $T s = 0;
      for (int64_t k = 0; k < K; ++k) s = bt_fma$f(A[m * am + k * ak], B[k * bk + n * bn], s);
      C[m * cm + n] = s;
    }
}
)c";
  std::string t;
  for (const char* name : {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc",
                           "exp2", "expm1", "log2", "sin", "sinh", "tan"})
    t += by_double(name, false);
  for (const char* name : {"atan2", "fmod", "pow"}) t += by_double(name, true);
  return t + emitted_text(scalar_c()) + emitted_text(random_c()) +
         "\n/* the columns [n0, n1) of C[m,n] = sum over k of A[m,k] B[k,n], in the order of k; rows of C are dense "
         "*/\n" +
         filled(product, {{"name", "f32"}, {"T", "float"}, {"f", "f"}}) +
         filled(product, {{"name", "f64"}, {"T", "double"}, {"f", ""}});
}

struct Snippets {
  std::vector<Snippet>               all;
  std::map<std::string_view, size_t> number;  // by name
};

Snippets snippets_of(std::string_view text) {
  Snippets         out;
  std::string_view name;
  for (size_t at = 0, begin = 0, body = 0; at < text.size();) {
    const size_t           start = at;
    const std::string_view line  = next_line(text, at);
    if (line.starts_with("static ")) name = word_before(line, line.find('(')), body = start + 7;
    if (line.starts_with("typedef ")) name = word_before(line, line.size()), body = at;
    if (name.empty() || line.empty() ||
        !(line == "}" || (line[0] != ' ' && (line.ends_with('}') || line.ends_with(';')))))
      continue;
    const bool is_type = body == at;
    Snippet    s{name, text.substr(begin, body - begin - (is_type ? 0 : 7)), text.substr(body, at - body)};
    for (size_t i = 0; i < s.text.size();) {
      size_t end = i;
      while (end < s.text.size() && is_word(s.text[end])) ++end;
      if (const auto known = out.number.find(s.text.substr(i, end - i)); known != out.number.end())
        s.calls.push_back(known->second);
      i = std::max(end, i + 1);
    }
    out.number.emplace(name, out.all.size());
    out.all.push_back(std::move(s));
    begin = at;
    name  = {};
  }
  return out;
}

const Snippets& snippets() {
  static const std::string text = library_text();
  static const Snippets    all  = snippets_of(text);
  return all;
}

}  // namespace

std::string Library::linked(std::string_view kernel, const Words& buffers) {
  return filled(
      kernel,
      [&](std::string_view name) -> std::string_view {
        if (const auto known = snippets().number.find(name); known != snippets().number.end()) {
          called_.insert(known->second);
          return name;
        }
        return buffers.empty() ? name : word(buffers, name);
      },
      '@');
}

std::string Library::text(std::string_view storage) const {
  const std::vector<Snippet>& all    = snippets().all;
  std::set<size_t>            needed = called_;
  for (size_t i = all.size(); i-- > 0;)
    if (needed.contains(i)) needed.insert(all[i].calls.begin(), all[i].calls.end());
  std::string out;
  for (size_t i : needed) {
    out += all[i].before;
    if (!all[i].text.empty()) out += fmt::format("{} {}", storage, all[i].text);
  }
  return out;
}

std::string emitted_text(std::string_view file) {
  std::string out;
  for (size_t at = file.starts_with('\n') ? 1 : 0; at < file.size();)
    if (const std::string_view line = next_line(file, at); !line.starts_with("//") && !line.starts_with("#include \""))
      out += std::string(line) + "\n";
  return out;
}

}  // namespace braintrace::codegen
