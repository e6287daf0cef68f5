// SPDX-License-Identifier: Apache-2.0
// Evidence accumulation (Bellec et al. 2020): cues on the left or the right, a delay, then a decision. Each cue is on
// the favored side with probability `bias`, which is chosen at random; the label is the side with more cues.
//
//   channels   left | right | recall | noise, `group` of each
//   time       `cues` × (gap, cue), delay, recall; scored at the recall
#include <fmt/format.h>

#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

namespace {

std::shared_ptr<Task> evidence(const zoo::Fields& f, uint64_t seed) {
  const int64_t cues = count(f, "cues"), group = count(f, "group"), gap = steps(f, "gap_ms"), cue = steps(f, "cue_ms");
  if (cues % 2 == 0) f.refuse("cues", fmt::format("an even number, {}, may end in a tie; take an odd one.", cues));
  const int64_t   recall_from = cues * (gap + cue) + steps(f, "delay_ms"), T = recall_from + steps(f, "recall_ms");
  const double    p = spike_chance(f, "rate_hz"), noise = spike_chance(f, "noise_hz"), bias = probability(f, "bias");
  const TaskFacts facts{.input = {4 * group}, .outputs = 2, .length = T, .class_names = {"right", "left"}};
  return generated(facts, seed, [=](Random& random, const Sample& s) {
    enum Group : int64_t { Left, Right, Recall, Noise };
    const auto fire = [&](int64_t t, Group which, double chance) {
      for (int64_t i = 0; i < group; ++i) s.input(t)[static_cast<size_t>(which * group + i)] = random.chance(chance);
    };
    const double to_the_left = random.chance(0.5) ? bias : 1 - bias;
    int64_t      lefts       = 0;
    for (int64_t c = 0; c < cues; ++c) {
      const bool left = random.chance(to_the_left);
      lefts += left;
      const int64_t from = c * (gap + cue) + gap;
      for (int64_t t = from; t < from + cue; ++t) fire(t, left ? Left : Right, p);
    }
    for (int64_t t = recall_from; t < T; ++t) fire(t, Recall, p);
    for (int64_t t = 0; t < T; ++t) fire(t, Noise, noise);
    s.label(2 * lefts > cues);
    s.score_only(recall_from);
  });
}

}  // namespace

std::vector<TaskType> evidence_tasks() {
  return {{"evidence",
           "cues on the left or right, a delay, a recall signal; target during recall: the side with more cues",
           "cues=7 gap_ms=50 cue_ms=100 delay_ms=1000 recall_ms=150 group=25 rate_hz=40 noise_hz=10 bias=0.7 dt_ms=1",
           evidence}};
}

}  // namespace braintrace::tasks
