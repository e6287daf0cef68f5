// SPDX-License-Identifier: Apache-2.0
// Sound with one label each: a folder that has a folder of .wav files for every class.
#include "braintrace/data/wav.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sequence_files.h"

namespace braintrace::tasks {

namespace {

struct Clip {
  std::string        path;
  int32_t            label = 0;
  std::vector<float> values;  // [length, width]
};

// The input of one step: `samples` raw samples of every channel, or the energies of bands.
class Hearing {
 public:
  Hearing(const zoo::Fields& f, int64_t rate, int64_t channels) : rate_(rate), channels_(channels) {
    const auto samples_in = [&](const char* field) {
      const double n = std::round(f.number(field) * double(rate) / 1000);
      if (!(n >= 1 && n <= 1 << 20))
        f.refuse(field, fmt::format("expected from 1 to {} samples at {} per second, got {} ms.", 1 << 20, rate,
                                    f.number(field)));
      return static_cast<int64_t>(n);
    };
    if (f.choice("features", {"bands", "samples"}) == "samples")
      width_ = f.integer("samples") * channels;
    else
      bands_.emplace(rate, samples_in("frame_ms"), samples_in("hop_ms"), width_ = f.integer("bands"));
  }

  int64_t            width() const { return width_; }
  std::vector<float> operator()(const data::WavFile& file, const std::string& path) const {
    require(file.rate() == rate_ && file.channels() == channels_,
            "{}: expected {} samples per second and {} channels, as in the first file; found {} and {}.", path, rate_,
            channels_, file.rate(), file.channels());
    std::vector<float> samples = file.samples();
    if (!bands_) {  // the last step is filled up with silence
      samples.resize((samples.size() + static_cast<size_t>(width_) - 1) / static_cast<size_t>(width_) *
                     static_cast<size_t>(width_));
      return samples;
    }
    std::vector<float> mono(static_cast<size_t>(file.size()));
    for (size_t i = 0; i < samples.size(); ++i)
      mono[i / static_cast<size_t>(channels_)] += samples[i] / static_cast<float>(channels_);
    return (*bands_)(mono);
  }

 private:
  int64_t                       rate_, channels_, width_ = 0;
  std::optional<data::MelBands> bands_;
};

class Clips final : public SequenceFile {
 public:
  Clips(const std::string& folder, const zoo::Fields& f)
      : only_last_(f.choice("target_at", {"last", "every"}) == "last") {
    std::optional<Hearing>   hearing;
    std::vector<std::string> classes;
    for (const std::string& name : data::entries(folder)) {
      const std::string inside = folder + "/" + name;
      if (!data::is_folder(inside)) continue;
      for (const std::string& file : data::entries(inside, ".wav")) {
        const std::string   path = inside + "/" + file;
        const data::WavFile wav(path);
        if (!hearing) hearing.emplace(f, wav.rate(), wav.channels());
        if (classes.empty() || classes.back() != name) classes.push_back(name);
        clips_.push_back({path, static_cast<int32_t>(classes.size() - 1), (*hearing)(wav, path)});
      }
    }
    require(hearing.has_value(), "{}: expected a folder of .wav files for every class, found none.", folder);
    facts_ = {.input       = {hearing->width()},
              .targets     = TargetKind::Classes,
              .outputs     = std::ssize(classes),
              .class_names = classes};
    for (int64_t i = 0; i < size(); ++i) facts_.length = std::max(facts_.length, length(i));
  }

  const TaskFacts& facts() const override { return facts_; }
  bool             is_series() const override { return false; }
  int64_t          size() const override { return std::ssize(clips_); }
  int64_t          length(int64_t i) const override {
    return std::ssize(clips_[static_cast<size_t>(i)].values) / facts_.input[0];
  }
  void read(int64_t i, const Sample& s) const override {
    const Clip& clip = clips_[static_cast<size_t>(i)];
    std::copy(clip.values.begin(), clip.values.end(), s.inputs.begin());
    s.label(clip.label);
    if (only_last_) s.score_only(length(i) - 1);
    s.end_at(length(i));
  }
  std::string place(int64_t i, int64_t t, const std::string& what) const override {
    return fmt::format("{}: step {}, {}", clips_[static_cast<size_t>(i)].path, t, what);
  }

 private:
  bool              only_last_;
  std::vector<Clip> clips_;
  TaskFacts         facts_;
};

std::shared_ptr<Task> wav(const zoo::Fields& f, uint64_t seed) {
  return task_of_files(f, seed, [&](const std::string& folder) { return std::make_shared<Clips>(folder, f); });
}

}  // namespace

std::vector<TaskType> wav_tasks() {
  return {
      {"wav",
       "sound; `file` is a folder with one subfolder of `.wav` files per class; `features`: log energies of mel "
       "`\"bands\"` in frames of `frame_ms` every `hop_ms`, or raw `\"samples\"`, `samples` of each channel per step; "
       "target at the `\"last\"` step or at `\"every\"` step (`target_at`): the class",
       with_file_fields("file features=\"bands\" bands=20 frame_ms=25.0 hop_ms=10.0 samples=1 target_at=\"last\""),
       wav}};
}

}  // namespace braintrace::tasks
