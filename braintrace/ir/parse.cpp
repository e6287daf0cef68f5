// SPDX-License-Identifier: Apache-2.0
// Reader of the text form (print.cpp). Accepts any text without crashing; errors carry line and column.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "braintrace/base/ascii.h"
#include "braintrace/ir/op.h"
#include "braintrace/ir/program.h"

namespace braintrace {

namespace {

constexpr int     max_depth    = 64;       // of nested programs
constexpr int64_t max_elements = 1 << 22;  // of one array written as text

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Program document() {
    Program p = program(0);
    skip();
    if (at_ < text_.size()) error("nothing more was expected after the program");
    return p;
  }

 private:
  template <class... Args>
  [[noreturn]] void error(fmt::format_string<Args...> what, Args&&... args) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) {
      if (text_[i] == '\n')
        ++line, column = 1;
      else
        ++column;
    }
    const auto end = text_.find('\n', at_);
    fail("program text, line {}, column {}: {}.\n  near: {}", line, column,
         fmt::vformat(what, fmt::make_format_args(args...)),
         text_.substr(std::min(at_, text_.size()), std::min<size_t>(60, end == text_.npos ? text_.npos : end - at_)));
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  void skip() {  // white space and line ends
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
      ++at_;
  }
  bool peek(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) error("expected '{}'", c);
  }
  std::string word() {
    skip();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    if (at_ == start) error("expected a name");
    return std::string(text_.substr(start, at_ - start));
  }

  int64_t integer() {
    skip();
    int64_t value{};
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc{}) error("expected an integer");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  // A number; integral when it has neither point, exponent, inf nor nan.
  AttrValue numeric() {
    skip();
    const size_t start = at_;
    double       value{};
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc{}) error("expected a number");
    at_               = static_cast<size_t>(end - text_.data());
    const auto digits = text_.substr(start, at_ - start);
    if (digits.find_first_of(".einfa") != digits.npos) return value;
    at_ = start;
    return integer();
  }
  double real() {
    const AttrValue v = numeric();
    return std::holds_alternative<double>(v) ? std::get<double>(v) : static_cast<double>(std::get<int64_t>(v));
  }

  Ints integers() {
    Ints out;
    expect('[');
    while (!take(']')) {
      out.push_back(integer());
      if (!peek(']')) expect(',');
    }
    return out;
  }
  Type type() {
    const std::string name  = word();
    const auto        dtype = dtype_named(name);
    if (!dtype) error("'{}' is not an element type (f32 f64 f16 bf16 i32 i64 u32 bool)", name);
    Type    t{*dtype, integers()};
    int64_t n = 1;
    for (int64_t d : t.shape)
      if (d < 0 || __builtin_mul_overflow(n, d, &n)) error("shape {} is negative or too large", to_string(t.shape));
    return t;
  }
  // Text with escapes, up to the character `end` or the end of the input.
  std::string escaped(char end) {
    std::string out;
    while (at_ < text_.size() && text_[at_] != end) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        out += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        out += text_[at_];
      }
      ++at_;
    }
    return out;
  }
  std::string quoted() {
    expect('"');
    std::string out = escaped('"');
    expect('"');
    return out;
  }
  Array array() {
    const Type t = type();
    if (t.size() > max_elements) error("an array of {} elements is too large for the text form", t.size());
    std::vector<double>  reals;
    std::vector<int64_t> integers;
    expect('{');
    for (int64_t i = 0; i < t.size(); ++i) {
      if (i) expect(',');
      if (is_float(t.dtype))
        reals.push_back(real());
      else
        integers.push_back(integer());
    }
    expect('}');
    return is_float(t.dtype) ? from_doubles(t, reals) : from_integers(t, integers);
  }

  AttrValue value(int depth) {
    skip();
    if (at_ >= text_.size()) error("the text ends inside an attribute");
    const char c = text_[at_];
    if (c == '"') return quoted();
    if (c == '[') return integers();
    if (take('(')) {
      std::vector<double> out;
      while (!take(')')) {
        out.push_back(real());
        expect(',');
      }
      return out;
    }
    if (take('<')) {
      ProgramPtrs out;
      while (!take('>')) {
        out.push_back(std::make_shared<Program>(program(depth)));
        expect(',');
      }
      return out;
    }
    if (c == '-' || is_digit(c)) return numeric();
    const size_t      start = at_;
    const std::string name  = word();
    if (name == "true" || name == "false") return name == "true";
    if (name == "inf" || name == "nan") {
      at_ = start;
      return numeric();
    }
    if (name == "array") return array();
    if (name == "program") {
      at_ = start;
      return ProgramPtr(std::make_shared<Program>(program(depth)));
    }
    if (const auto t = dtype_named(name)) return *t;
    error("'{}' is not an attribute value", name);
  }

  // Values are renumbered densely in order of definition.
  struct Scope {
    std::unordered_map<int64_t, Var>         values;
    std::unordered_map<std::string, int32_t> notes;
  };
  Var define(Program& p, Scope& scope) {
    expect('%');
    const int64_t id = integer();
    if (scope.values.contains(id)) error("%{} is assigned twice", id);
    expect(':');
    return scope.values[id] = p.add_value(type());
  }
  Var use(const Scope& scope) {
    expect('%');
    const int64_t id = integer();
    const auto    it = scope.values.find(id);
    if (it == scope.values.end()) error("%{} is used before it is defined", id);
    return it->second;
  }

  Program program(int depth) {
    if (depth >= max_depth) error("programs are nested more than {} deep", max_depth);
    if (word() != "program") error("expected 'program'");
    Program p;
    Scope   scope;
    expect('(');
    while (peek('%')) {
      p.constants.push_back(define(p, scope));
      if (!peek(';')) expect(',');
    }
    expect(';');
    while (peek('%')) {
      p.args.push_back(define(p, scope));
      if (!peek(')')) expect(',');
    }
    expect(')');
    expect('{');
    while (peek('%')) equation(p, scope, depth);
    if (word() != "return") error("expected an equation or 'return'");
    while (peek('%')) {
      p.results.push_back(use(scope));
      if (!peek('}')) expect(',');
    }
    expect('}');
    return p;
  }

  void equation(Program& p, Scope& scope, int depth) {
    Eqn e;
    do e.out.push_back(define(p, scope));
    while (take(','));
    expect('=');
    const std::string name = word();
    e.op                   = find_op(name);
    if (!e.op) error("there is no operation '{}'", name);
    if (take('[')) {
      std::set<std::string> given;
      while (!take(']')) {
        std::string key = word();
        if (!given.insert(key).second) error("attribute '{}' is given twice", key);
        expect('=');
        e.attrs.set(Attr(std::move(key), value(depth + 1)));
        if (!peek(']')) expect(',');
      }
    }
    skip_spaces();
    while (at_ < text_.size() && text_[at_] == '%') {
      e.in.push_back(use(scope));
      skip_spaces();
    }
    if (at_ < text_.size() && text_[at_] == '#') note(p, scope, e);
    p.eqns.push_back(std::move(e));
  }

  void note(Program& p, Scope& scope, Eqn& e) {
    ++at_;
    skip_spaces();
    std::string text        = escaped('\n');
    const auto [it, is_new] = scope.notes.try_emplace(text, static_cast<int32_t>(p.notes.size()));
    e.note                  = it->second;
    if (is_new) p.notes.push_back(std::move(text));
  }

  std::string_view text_;
  size_t           at_ = 0;
};

}  // namespace

Program parse(std::string_view text) {
  Program p = Parser(text).document();
  verify(p);
  return p;
}

}  // namespace braintrace
