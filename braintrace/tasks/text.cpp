// SPDX-License-Identifier: Apache-2.0
// A character language model: windows of a text, one-hot characters in, the next character as target at every step. The
// vocabulary is the characters (bytes) of the text in order. The text is divided: training first, then validation, then
// test. Windows start anywhere, or are consecutive (`contiguous`).
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "braintrace/io/file.h"
#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sample.h"
#include "braintrace/tasks/text_data.h"

namespace braintrace::tasks {

namespace {

std::string text_of(const zoo::Fields& f) {
  if (f.has("file")) {
    const Buffer bytes = read_file(f.text("file"));
    return {reinterpret_cast<const char*>(bytes.data.get()), bytes.size};
  }
  if (f.choice("text", {"pangrams", "story"}) == "story") return std::string(story);
  std::string text;
  for (int i = 0; i < 6; ++i) text += pangrams;
  return text;
}

std::string name_of(unsigned char c) {
  return c == ' ' ? "space" : c > ' ' && c < 127 ? std::string(1, char(c)) : fmt::format("\\x{:02x}", c);
}

std::shared_ptr<Task> char_lm(const zoo::Fields& f, uint64_t seed) {
  const int64_t     T          = count(f, "length");
  const std::string text       = text_of(f);
  const double      validating = probability(f, "validation"), testing = probability(f, "test");
  if (validating + testing >= 1) f.refuse("test", "no text is left for training.");
  const auto part_of = [&](double share) {
    return static_cast<int64_t>(std::ceil(share * double(text.size()) - 1e-6));
  };
  const int64_t                end = std::ssize(text) - part_of(testing), cut = end - part_of(validating);
  const std::array<int64_t, 4> bounds = {0, cut, end, std::ssize(text)};
  for (size_t part = 0; part < 3; ++part)
    if (const int64_t n = bounds[part + 1] - bounds[part]; n <= T && (part < 2 || testing > 0))
      f.refuse("length", fmt::format("the {} part of the text has {} characters; a window needs {} and one to follow.",
                                     part == 0   ? "training"
                                     : part == 1 ? "validation"
                                                 : "test",
                                     n, T));
  const std::set<unsigned char> vocabulary(text.begin(), text.end());
  std::array<int32_t, 256>      id_of{};
  TaskFacts                     facts{.input = {}, .length = T};
  for (unsigned char c : vocabulary) {
    id_of[c] = static_cast<int32_t>(facts.class_names.size());
    facts.class_names.push_back(name_of(c));
  }
  facts.outputs = std::ssize(facts.class_names);
  facts.input   = {facts.outputs};
  std::vector<int32_t> ids;
  for (unsigned char c : text) ids.push_back(id_of[c]);

  facts.ahead        = 1;
  facts.has_test     = testing > 0;
  facts.contiguous   = f.flag("contiguous");
  const auto windows = [&](size_t part) { return (bounds[part + 1] - bounds[part] - 1) / T; };
  if (facts.contiguous) {
    facts.train_samples      = windows(0);
    facts.validation_samples = windows(1);
    facts.test_samples       = testing > 0 ? windows(2) : 0;
  }
  const auto read = [=, contiguous = facts.contiguous](Part part, int64_t which, Random& random, const Sample& s) {
    const auto    p    = static_cast<size_t>(part);
    const int64_t from = bounds[p], to = bounds[p + 1];
    auto          at = ids.begin() + from + (contiguous ? which * T : random.integer(to - from - T));
    for (int64_t t = 0; t < T; ++t) {
      s.input(t)[static_cast<size_t>(*at)] = 1;
      s.classes[static_cast<size_t>(t)]    = *++at;
    }
  };
  return sampled(facts, seed, read);
}

}  // namespace

std::vector<TaskType> text_tasks() {
  return {{"char_lm",
           "windows of a text, `\"pangrams\"`, `\"story\"` or a `file`; target at every step: the next character",
           "text=\"pangrams\" file? length=32 contiguous=false validation=0.1 test=0", char_lm}};
}

}  // namespace braintrace::tasks
