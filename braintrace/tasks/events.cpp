// SPDX-License-Identifier: Apache-2.0
// Recordings of events as frames (data/events.h); target at every step: the class of the recording.
//
//   event_stream        a spot crosses the sensor in one of k directions: events at its front have polarity 1, at its
//                       back 0; one in ten is noise
//   nmnist, dvs_gesture, shd, ssc   recordings in files, one class each; with "synthetic": true, synthetic recordings
//                       of the same shape: spots, or for one row of channels tones that start at a different
//                       channel per class and rise (even classes) or fall
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "braintrace/data/aedat.h"
#include "braintrace/data/nmnist.h"
#include "braintrace/data/spike_file.h"
#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

namespace {

using data::Event;
using data::Events;
using data::Sensor;

constexpr double duration_us = 300'000;

Event spot(Random& random, const Sensor& sensor, double angle, double t) {
  const double dx = std::cos(angle), dy = std::sin(angle), spread = 0.08 * double(sensor.width);
  const double along = spread * random.normal(), across = spread * random.normal();
  const double middle = (t - 0.5) * 0.6 * double(sensor.width);
  return {.x        = static_cast<int32_t>(std::floor(double(sensor.width) / 2 + (middle + along) * dx - across * dy)),
          .y        = static_cast<int32_t>(std::floor(double(sensor.height) / 2 + (middle + along) * dy + across * dx)),
          .polarity = along > 0,
          .time_us  = static_cast<int64_t>(t * duration_us)};
}
Event tone(Random& random, const Sensor& sensor, double start, double slope, double t) {
  const double place = start + slope * t + 0.02 * random.normal();
  return {.x       = static_cast<int32_t>(std::floor((place - std::floor(place)) * double(sensor.width))),
          .time_us = static_cast<int64_t>(t * duration_us)};
}

Events made_up(Random& random, const Sensor& sensor, int64_t classes, int64_t label, int64_t count) {
  Events events;
  while (std::ssize(events) < count) {
    const double t = random.uniform(), turn = double(label) / double(classes);
    Event        e = sensor.height > 1 ? spot(random, sensor, 2 * std::numbers::pi * turn, t)
                                       : tone(random, sensor, turn, label % 2 == 0 ? 0.3 : -0.3, t);
    if (random.chance(0.1)) {
      e.x        = static_cast<int32_t>(random.integer(sensor.width));
      e.y        = static_cast<int32_t>(random.integer(sensor.height));
      e.polarity = static_cast<int32_t>(random.integer(sensor.polarities));
    }
    if (e.x >= 0 && e.x < sensor.width && e.y >= 0 && e.y < sensor.height) events.push_back(e);
  }
  return events;
}

// How frames become inputs: [polarity, y, x], [y, x, polarity], or one row of either size; [x] for one row of channels.
struct Layout {
  Sensor sensor;
  bool   channels_last = false, flat = false;

  Layout(const Sensor& s, const zoo::Fields* f) : sensor(s), flat(f == nullptr) {
    if (!f) return;
    const std::string layout = f->choice("layout", {"chw", "hwc", "flat"});
    channels_last            = layout == "hwc";
    flat                     = layout == "flat";
  }
  Shape input() const {
    if (flat) return {sensor.polarities * sensor.height * sensor.width};
    if (channels_last) return {sensor.height, sensor.width, sensor.polarities};
    return {sensor.polarities, sensor.height, sensor.width};
  }
  void fill(const Array& frames, const Sample& s) const {
    const float*  from   = frames.data<float>();
    const int64_t pixels = sensor.height * sensor.width, step = sensor.polarities * pixels;
    if (!channels_last) {
      std::copy_n(from, frames.size(), s.inputs.begin());
      return;
    }
    for (int64_t i = 0; i < frames.size(); ++i)
      s.inputs[static_cast<size_t>(i / step * step + i % pixels * sensor.polarities + i / pixels % sensor.polarities)] =
          from[i];
  }
};

struct Recording {
  int64_t                 label = 0;
  std::string             where;
  std::function<Events()> read;
};
using Recordings = std::vector<Recording>;

TaskFacts facts_of(const Layout& layout, int64_t classes, int64_t bins) {
  TaskFacts     facts{.input = layout.input(), .outputs = classes, .length = bins};
  const Sensor& s = layout.sensor;
  if (s.height > 1)
    facts.image = {
        .channels = s.polarities, .height = s.height, .width = s.width, .channels_last = layout.channels_last};
  return facts;
}

std::shared_ptr<Task> made_up_task(const Layout& layout, int64_t classes, int64_t bins, int64_t events, uint64_t seed) {
  return generated(facts_of(layout, classes, bins), seed, [=](Random& random, const Sample& s) {
    const int64_t label = random.integer(classes);
    layout.fill(event_frames(made_up(random, layout.sensor, classes, label, events), bins, layout.sensor, "made up"),
                s);
    s.label(static_cast<int32_t>(label));
  });
}

// Recordings that are listed once and read on demand. A fraction of the training recordings is for validation.
std::shared_ptr<Task> recorded_task(const zoo::Fields& f, const Layout& layout, int64_t classes, int64_t bins,
                                    uint64_t seed, const Recordings& learned, const Recordings& test) {
  const Split parts        = split(std::ssize(learned), f, "validation");
  TaskFacts   facts        = facts_of(layout, classes, bins);
  facts.train_samples      = std::ssize(parts.train);
  facts.validation_samples = std::ssize(parts.validation);
  facts.test_samples       = std::ssize(test);
  facts.has_test           = true;
  return sampled(facts, seed, [=](Part part, int64_t which, Random&, const Sample& s) {
    const Recording& r = part == Part::Test ? test[static_cast<size_t>(which)]
                                            : learned[static_cast<size_t>(parts.of(part)[static_cast<size_t>(which)])];
    layout.fill(event_frames(r.read(), bins, layout.sensor, r.where), s);
    s.label(static_cast<int32_t>(r.label));
  });
}

std::string folder_of(const zoo::Fields& f, const std::string& holds) {
  if (!f.has("folder")) f.refuse("folder", fmt::format("the folder with {} is needed, or \"synthetic\": true.", holds));
  return f.text("folder");
}

std::shared_ptr<Task> event_stream(const zoo::Fields& f, uint64_t seed) {
  const Layout  layout({2, count(f, "height"), count(f, "width")}, &f);
  const int64_t bins = count(f, "bins"), events = count(f, "events");
  if (layout.sensor.height < 2) f.refuse("height", "a direction needs at least 2 rows, got 1.");
  if (bins > 1000) f.refuse("bins", fmt::format("at most 1000 frames can be generated, got {}.", bins));
  if (events < 100 || events > 1'000'000)
    f.refuse("events", fmt::format("100 to 1000000 events can be generated, got {}.", events));
  return made_up_task(layout, count(f, "classes"), bins, events, seed);
}

Recordings nmnist_recordings(const std::string& folder, bool first_saccade) {
  Recordings out;
  for (int64_t digit = 0; digit < 10; ++digit) {
    const std::string of_digit = fmt::format("{}/{}", folder, digit);
    for (const std::string& name : data::entries(of_digit, ".bin")) {
      const std::string path = of_digit + "/" + name;
      out.push_back({digit, path, [=] {
                       Events events = data::read_nmnist(path);
                       if (first_saccade) std::erase_if(events, [](const Event& e) { return e.time_us >= 100'000; });
                       return events;
                     }});
    }
  }
  require(!out.empty(), "{}: there are no .bin files in 0/ … 9/.", folder);
  return out;
}

std::shared_ptr<Task> nmnist(const zoo::Fields& f, uint64_t seed) {
  const Layout  layout(data::nmnist_sensor, &f);
  const int64_t bins  = count(f, "bins");
  const bool    first = f.flag("first_saccade");
  if (f.flag("synthetic")) return made_up_task(layout, 10, bins, 1500, seed);
  const std::string folder = folder_of(f, "Train/ and Test/");
  return recorded_task(f, layout, 10, bins, seed, nmnist_recordings(folder + "/Train", first),
                       nmnist_recordings(folder + "/Test", first));
}

// Folders <person>/<class>.npy, as in the release with clips.
Recordings cut_gestures(const std::string& folder) {
  Recordings out;
  for (const std::string& person : data::entries(folder))
    for (const std::string& name : data::entries(folder + "/" + person, ".npy")) {
      const std::string path = folder + "/" + person + "/" + name, label = name.substr(0, name.size() - 4);
      require(!label.empty() && label.size() <= 2 && label.find_first_not_of("0123456789") == label.npos &&
                  std::stoi(label) < 11,
              "{}: expected a name from 0.npy to 10.npy, which is the class.", path);
      out.push_back({std::stoi(label), path, [=] { return data::read_gesture_npy(path); }});
    }
  require(!out.empty(), "{}: there are no .npy files in its folders.", folder);
  return out;
}

// Recordings named in a list, each with a table of its clips next to it.
Recordings raw_gestures(const std::string& folder, const std::string& list) {
  Recordings  out;
  const auto  bytes = read_file(folder + "/" + list);
  std::string names(reinterpret_cast<const char*>(bytes.data.get()), bytes.size);
  std::replace(names.begin(), names.end(), '\r', '\n');
  for (size_t from = 0; from < names.size();) {
    const size_t      end  = std::min(names.find('\n', from), names.size());
    const std::string name = names.substr(from, end - from);
    from                   = end + 1;
    if (name.empty()) continue;
    require(name.ends_with(".aedat"), "{}/{}: expected names that end in .aedat, found '{}'.", folder, list,
            name.substr(0, 80));
    const std::string path = folder + "/" + name;
    const auto        file = std::make_shared<data::AedatFile>(path);
    for (const data::Clip& c : data::read_clips(path.substr(0, path.size() - 6) + "_labels.csv", 11))
      out.push_back(
          {c.label, fmt::format("{} from {} µs", path, c.from_us), [=] { return file->read(c.from_us, c.to_us); }});
  }
  require(!out.empty(), "{}/{}: names no recording.", folder, list);
  return out;
}

std::shared_ptr<Task> dvs_gesture(const zoo::Fields& f, uint64_t seed) {
  const Layout  layout({2, 128, 128}, &f);
  const int64_t bins = count(f, "bins");
  if (f.flag("synthetic")) return made_up_task(layout, 11, bins, 10000, seed);
  const std::string folder =
      folder_of(f, "ibmGestureTrain/ and ibmGestureTest/, or trials_to_train.txt and trials_to_test.txt,");
  if (data::exists(folder + "/ibmGestureTrain"))
    return recorded_task(f, layout, 11, bins, seed, cut_gestures(folder + "/ibmGestureTrain"),
                         cut_gestures(folder + "/ibmGestureTest"));
  require(data::exists(folder + "/trials_to_train.txt"),
          "{}: there is neither ibmGestureTrain/ (cut clips) nor trials_to_train.txt (AEDAT recordings).", folder);
  return recorded_task(f, layout, 11, bins, seed, raw_gestures(folder, "trials_to_train.txt"),
                       raw_gestures(folder, "trials_to_test.txt"));
}

Recordings spike_recordings(const std::string& path, int64_t classes) {
  const auto file = std::make_shared<data::SpikeFile>(path);
  Recordings out;
  for (int64_t i = 0; i < file->size(); ++i) {
    require(file->label(i) >= 0 && file->label(i) < classes, "{}: row {}: expected a label below {}, found {}.", path,
            i, classes, file->label(i));
    out.push_back({file->label(i), fmt::format("{} row {}", path, i), [=] { return file->read(i); }});
  }
  require(!out.empty(), "{}: there are no recordings.", path);
  return out;
}

auto spoken(int64_t classes, const std::string& train, const std::string& test) {
  return [=](const zoo::Fields& f, uint64_t seed) {
    const Layout  layout({1, 1, 700}, nullptr);
    const int64_t bins = count(f, "bins");
    if (f.flag("synthetic")) return made_up_task(layout, classes, bins, 8000, seed);
    const std::string folder = folder_of(f, train + " and " + test);
    return recorded_task(f, layout, classes, bins, seed, spike_recordings(folder + "/" + train, classes),
                         spike_recordings(folder + "/" + test, classes));
  };
}

}  // namespace

std::vector<TaskType> event_tasks() {
  return {
      {"event_stream", "events of a spot that crosses the sensor; target at every step: its direction",
       "height=16 width=16 classes=8 bins=20 events=400 layout=\"chw\"", event_stream},
      {"nmnist",
       "N-MNIST: digits recorded by a moving event camera; a folder with Train/ and Test/; target at every step: "
       "the digit",
       "folder? bins=200 first_saccade=true layout=\"chw\" synthetic=false validation=0.1", nmnist},
      {"dvs_gesture",
       "DVS-Gesture: hand gestures recorded by an event camera, as clips (.npy) or recordings (.aedat); "
       "target at every step: the gesture",
       "folder? bins=50 layout=\"chw\" synthetic=false validation=0.1", dvs_gesture},
      {"shd",
       "Spiking Heidelberg Digits: spoken digits; a folder with shd_train.h5 and shd_test.h5; target at every step: "
       "one of 20 classes",
       "folder? bins=100 synthetic=false validation=0.1", spoken(20, "shd_train.h5", "shd_test.h5")},
      {"ssc",
       "Spiking Speech Commands: spoken words; a folder with ssc_train.h5 and ssc_test.h5; target at every step: "
       "one of 35 classes",
       "folder? bins=100 synthetic=false validation=0.1", spoken(35, "ssc_train.h5", "ssc_test.h5")},
  };
}

}  // namespace braintrace::tasks
