// SPDX-License-Identifier: Apache-2.0
// A character language model: windows of a text, one-hot characters in, the next character as target at every step. The
// vocabulary is the characters (bytes) of the text in order. Training windows lie in the first 90% of the text,
// validation windows in the rest.
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
  const int64_t     T    = count(f, "length");
  const std::string text = text_of(f);
  const int64_t     cut  = std::ssize(text) * 9 / 10;
  if (std::ssize(text) - cut <= T)
    f.refuse("length", fmt::format("the last tenth of the text has {} characters; a window needs {} and one to follow.",
                                   std::ssize(text) - cut, T));
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

  const auto read = [=](Part part, int64_t, Random& random, const Sample& s) {
    const int64_t from = part == Part::Train ? 0 : cut, to = part == Part::Train ? cut : std::ssize(ids);
    auto          at = ids.begin() + from + random.integer(to - from - T);
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
           "text=\"pangrams\" file? length=32", char_lm}};
}

}  // namespace braintrace::tasks
