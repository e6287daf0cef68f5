// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "braintrace/tasks/task.h"

namespace braintrace::tasks {

namespace {

constexpr const char* introduction = R"md(# Tasks

A task generates batches of sequences with their targets. A JSON object describes it; fields with `=` have a default, and fields in
brackets are optional.

```json
{"type": "copy", "lag": 20}
```

```cpp
#include "braintrace/tasks/task.h"

auto task = bt::tasks::make_task(R"({"type": "copy", "lag": 20})", /*seed*/ 42);
bt::tasks::Batch b = task->batch(bt::tasks::Part::Train, /*index*/ 0, /*size*/ 32);
// b.inputs [T, B, …], b.targets i32[T, B] or f32[T, B, n], b.mask f32[T, B]: the weight of each step's loss
```

A batch depends only on seed, part and index: row b of batch i is sample i·B + b of its part, and every sample has its own random
numbers. The parts (train, validation, test) do not share samples. A data set is split by a fixed random permutation; `validation` is the
fraction for validation. Each epoch visits every sample once, in a different order. Short sequences are padded with zeros, and padded
steps have no loss.

`braintrace tasks` lists the types, and `braintrace tasks copy -o copy.svg` draws a sample: inputs at the top, targets at the bottom; gray
steps have no loss. Pictures have at most 48 rows and 120 columns; where several cells share one, it shows the largest magnitude.

| type | sample | input and target | fields |
|---|---|---|---|
)md";

constexpr const char* guide = R"md(
Types with `synthetic` read the files of a data set from `folder`. With `"synthetic": true` they generate recordings of the same shape
instead and need no files (`mnist`: the 8×8 digits, enlarged); the pictures show such recordings. `layout` arranges frames: `"chw"`
[polarity, y, x], `"hwc"` [y, x, polarity], `"flat"` one row. Frames count the events in `bins` intervals of equal width,
⌊(t_last - t_first) / bins⌋ µs; the remainder is dropped. `shd` and `ssc` need a build with HDF5 (Debian: libhdf5-dev).

The handwritten digits are the test set of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak 1998,
UCI Machine Learning Repository, CC BY 4.0), as distributed with scikit-learn.

## Your own data

`npz`, `csv`, `ts` and `wav` read `file`. The fractions `validation` and `test` of its sequences are held out, unless you give separate
files, `validation_file` and `test_file`. `split` chooses how:

- `"chronological"`: training first, then validation, then test. The default for pieces of one series (`length` of `csv`), so that
  the network never learns from the future.
- `"stratified"`: every part has the same proportion of classes. The default for classes; a sequence counts as the class of its last
  target.
- `"random"`: by a fixed random permutation.

A warning lists classes that the training part has and another part lacks.

A cell of a table is missing if it is empty, `NA`, `NaN`, `null` or `?`; an entry of an array is missing if it is NaN. `missing`
chooses what to do: `"error"` reports file, row and column; `"skip"` skips the sequence; `"zero"` and `"mean"` fill in 0 or the mean of the
training part. Missing targets are never filled in; their steps have no loss.

`normalize` scales every input, x ↦ (x - shift) / scale: `"standard"` to mean 0 and standard deviation 1, `"minmax"` to 0 … 1, both over
the training part. Targets are not scaled. Checkpoints store shift and scale in the field `fitted` of the task, so that other files are
scaled in the same way.

`class_weights` weight the losses of the training part: `"balanced"` gives all classes the same total weight, and a list gives one weight
per class. Evaluation is never weighted.

Sequences of different lengths are padded to the longest. With `buckets`, a number k, batches contain sequences of similar length and are
padded to the next of k lengths; each length is compiled once.

Forecasts: with `ahead`, the targets of a `csv` task come from that many rows later, and results are compared with the last known target.
Long series and texts: with `"contiguous": true` (`csv` with `length`, `char_lm`), every row of a batch continues where it ended in the
previous batch; with `"reset": false` in the run, states and traces persist, also in validation.

Sound: `wav` files contain 8-, 16-, 24- or 32-bit PCM or floats, all with the same sample rate and number of channels; `bands` are
computed from the mean of the channels. A folder `tones` with `tones/high/*.wav` and `tones/low/*.wav` has two classes:

```json
{"type": "wav", "file": "tones", "bands": 20, "normalize": "standard"}
```

Tables: columns that the task does not name may contain text or times. Commas, semicolons or tabs separate cells; the header row determines
which. A quoted cell may contain separators, line breaks and doubled quotes. The column `sequence` may contain text, and so may a target
column whose class names are listed: `"classes": ["cat", "dog"]`. A byte-order mark is skipped.

`mnist`, `nmnist`, `dvs_gesture`, `shd` and `ssc` come with a test part; `validation` is a fraction of the other recordings. `char_lm`
splits its text: training first, then validation, then test.

## Encoders

`braintrace/tasks/encode.h` turns numbers into spikes: `poisson_spikes`, `latency_spikes` (inverse: `latency_values`), `delta_events`
(inverse: `delta_signal`).

## Files

`braintrace/data` reads N-MNIST (`nmnist.h`), AEDAT 3.1 (`aedat.h`), HDF5 spikes (`spike_file.h`), IDX (`idx.h`), CSV (`csv.h`), labeled time
series (`series.h`) and sound (`wav.h`). A file is indexed once, and its samples are read on demand. Errors about missing or malformed data
name the file and the place, what was expected and what was found.

This page and its pictures are generated; a test checks that they are up to date.
)md";

}  // namespace

std::string tasks_page() {
  std::string page = introduction;
  for (const TaskType& t : task_types()) {
    bool needs_a_file = false;
    for (const zoo::FieldSpec& f : zoo::field_specs(t.fields)) needs_a_file |= f.required;
    page += fmt::format("| `{0}` | {1} | {2} | {3} |\n", t.name,
                        needs_a_file ? "" : fmt::format("![{0}](img/tasks/{0}.svg)", t.name), t.doc,
                        zoo::field_list(t.fields));
  }
  return page + guide;
}

}  // namespace braintrace::tasks
