// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/preamble.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "braintrace/codegen/c/c_text.h"

namespace braintrace {
std::string_view scalar_c();
std::string_view random_c();
}  // namespace braintrace

namespace braintrace::codegen {

namespace {

void add_words(std::string_view text, std::set<std::string, std::less<>>& words) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (text.substr(i, end - i).starts_with("bt_")) words.emplace(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
}

struct Snippet {
  std::string_view name, text;
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

std::vector<Snippet> pieces_of(std::string_view text) {
  std::vector<Snippet> out;
  std::string_view     name;
  for (size_t at = 0, begin = 0; at < text.size();) {
    const std::string_view line = next_line(text, at);
    if (line.starts_with("static")) name = word_before(line, line.find('('));
    if (line.starts_with("typedef")) name = word_before(line, line.size());
    if (name.empty() || line.empty() ||
        !(line == "}" || (line[0] != ' ' && (line.ends_with('}') || line.ends_with(';')))))
      continue;
    out.push_back({name, text.substr(begin, at - begin)});
    begin = at;
    name  = {};
  }
  return out;
}

// Functions that take the long way: double precision, then one rounding.
std::string by_double(std::string_view name, bool two) {
  const auto text = [&](std::string_view type, std::string_view f, std::string_view rounded, std::string_view wide) {
    return fmt::format("static inline {0} bt_{1}{2}({0} x{5}) {{ return {3}{1}({4}x{6}); }}\n", type, name, f, rounded,
                       wide, two ? fmt::format(", {} y", type) : "", two ? fmt::format(", {}y", wide) : "");
  };
  return text("double", "", "", "") + text("float", "f", "(float)", "(double)");
}

}  // namespace

const std::string& scalar_functions() {
  static const std::string text = [] {
    std::string t;
    for (const char* name : {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc",
                             "exp2", "expm1", "log2", "sin", "sinh", "tan"})
      t += by_double(name, false);
    for (const char* name : {"atan2", "fmod", "pow"}) t += by_double(name, true);
    return t + emitted_text(scalar_c());
  }();
  return text;
}

const std::string& random_functions() {
  static const std::string text = emitted_text(random_c());
  return text;
}

std::string emitted_text(std::string_view file) {
  std::string out;
  for (size_t at = file.starts_with('\n') ? 1 : 0; at < file.size();)
    if (const std::string_view line = next_line(file, at); !line.starts_with("//") && !line.starts_with("#include \""))
      out += std::string(line) + "\n";
  return out;
}

std::string needed_functions(std::string_view functions, std::string_view user) {
  std::set<std::string, std::less<>> words;
  add_words(user, words);
  const std::vector<Snippet> pieces = pieces_of(functions);
  std::string                out;
  for (size_t i = pieces.size(); i-- > 0;)
    if (words.contains(pieces[i].name)) {
      add_words(pieces[i].text, words);
      out.insert(0, pieces[i].text);
    }
  return out;
}

const std::string& portable_matrix_functions() {
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
  static const std::string text =
      "\n/* the columns [n0, n1) of C[m,n] = sum over k of A[m,k] B[k,n], in the order of k; rows of C are dense */\n" +
      filled(product, {{"name", "f32"}, {"T", "float"}, {"f", "f"}}) +
      filled(product, {{"name", "f64"}, {"T", "double"}, {"f", ""}});
  return text;
}

}  // namespace braintrace::codegen
