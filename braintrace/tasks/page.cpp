// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "braintrace/tasks/task.h"

namespace braintrace::tasks {

std::string tasks_page() {
  std::string page =
      "# Tasks\n\n"
      "A task gives batches of sequences with their targets. It is described by a JSON object; a field with `=` has a "
      "default,\none in brackets may be left out.\n\n"
      "```json\n{\"type\": \"copy\", \"lag\": 20}\n```\n\n"
      "```cpp\n"
      "#include \"braintrace/tasks/task.h\"\n\n"
      "auto task = bt::tasks::make_task(R\"({\"type\": \"copy\", \"lag\": 20})\", /*seed*/ 42);\n"
      "bt::tasks::Batch b = task->batch(bt::tasks::Part::Train, /*index*/ 0, /*size*/ 32);\n"
      "// b.inputs [T, B, …], b.targets i32[T, B] or f32[T, B, n], b.mask f32[T, B]: the weight of each step's loss\n"
      "```\n\n"
      "A batch is a function of seed, part and index, nothing else: row b of batch i is sample i·B + b of its part, "
      "and "
      "every\nsample has random numbers of its own. The parts (train, validation, test) never share one. A data set is "
      "divided by a\nfixed random order, `validation` being the fraction that validates; each epoch shows every sample "
      "once, in an order of its own.\n"
      "Sequences that are shorter than the longest are padded with zeros, without loss.\n\n"
      "`braintrace tasks` lists the types, `braintrace tasks copy -o copy.svg` draws a sample: the inputs above, "
      "the\ntargets below; gray steps have no loss. In the pictures at most 48 rows and 120 columns are "
      "drawn; "
      "cells that share one\nshow the largest magnitude.\n\n"
      "| type | a sample | input and target | fields |\n|---|---|---|---|\n";
  for (const TaskType& t : task_types()) {
    bool needs_a_file = false;
    for (const zoo::FieldSpec& f : zoo::field_specs(t.fields)) needs_a_file |= f.required;
    page += fmt::format("| `{0}` | {1} | {2} | {3} |\n", t.name,
                        needs_a_file ? "" : fmt::format("![{0}](img/tasks/{0}.svg)", t.name), t.doc,
                        zoo::field_list(t.fields));
  }
  page +=
      "\nTypes with `synthetic` read the files of a data set from `folder`; with `\"synthetic\": true` they generate "
      "recordings of\nthe same shape and need no files (`mnist`: the 8×8 digits, enlarged). The pictures of these "
      "types "
      "show such recordings.\n"
      "`layout` arranges frames: `\"chw\"` [polarity, y, x], `\"hwc\"` [y, x, polarity], `\"flat\"` one row. Events "
      "become frames by\ncounting them in `bins` intervals of equal width, ⌊(t_last - t_first) / bins⌋ µs; the "
      "remainder "
      "is dropped.\n"
      "`shd` and `ssc` need a build with HDF5: the Debian package libhdf5-dev is found when it is installed.\n\n"
      "The handwritten digits are the test set of \"Optical Recognition of Handwritten Digits\" (E. Alpaydin and C. "
      "Kaynak 1998,\nUCI Machine Learning Repository, CC BY 4.0), as distributed with scikit-learn.\n\n"
      "## Data of your own\n\n"
      "`npz`, `csv`, `ts` and `wav` read `file`; the fractions `validation` and `test` of its sequences are set aside, "
      "unless "
      "these "
      "parts have\nfiles of their own, `validation_file` and `test_file`. `split` says which sequences go where:\n\n"
      "- `\"chronological\"`: training comes first, then validation, then test. Pieces of one series (`length` of "
      "`csv`) are divided\n  so unless you say otherwise, so nothing is learned from the future.\n"
      "- `\"stratified\"`: every class has its share in each part. The default for classes; a sequence counts for its "
      "last target\n  class.\n"
      "- `\"random\"`: by a fixed random order.\n\n"
      "A warning names the classes that the training part has and another part lacks.\n\n"
      "A cell of a table is missing when it is empty, `NA`, `NaN`, `null` or `?`, an entry of an array when it is NaN. "
      "`missing` says\nwhat to do: `\"error\"` names file, row and column; `\"skip\"` leaves the sequence out; "
      "`\"zero\"` and `\"mean\"` put 0 or the\nmean of the training part there. Missing targets are never filled in: "
      "their "
      "step has no loss.\n\n"
      "`normalize` scales every input, x ↦ (x - shift) / scale: `\"standard\"` to mean 0 and deviation 1, "
      "`\"minmax\"` to 0 … 1, both over\nthe training part. Targets stay as they are. Checkpoints store the numbers in "
      "the field `fitted` of the task, so other files\nare scaled alike.\n\n"
      "`class_weights` weigh the losses of the training part: `\"balanced\"` makes all classes count alike, a list "
      "gives "
      "one number for\nevery class. What is judged is never weighed.\n\n"
      "Sequences of differing length are padded to the longest. With `buckets`, a number k, batches hold sequences of "
      "similar length\nand are padded to the next of k lengths; each length is compiled once.\n\n"
      "Forecasts: with `ahead` a `csv` task asks for the targets of so many rows later, and results are compared with "
      "the last target\nthat is known. Long series and texts: `\"contiguous\": true` (`csv` with `length`, `char_lm`) "
      "lets "
      "every row of a batch go on where it\nended in the batch before; with `\"reset\": false` of the run, states and "
      "traces live on, in validations too.\n\n"
      "Sound: `wav` files have PCM of 8, 16, 24 or 32 bits or floats, one rate and one number of channels; `bands` "
      "hear "
      "the mean of the\nchannels. A folder `tones` with `tones/high/*.wav` and `tones/low/*.wav` has two classes:\n\n"
      "```json\n{\"type\": \"wav\", \"file\": \"tones\", \"bands\": 20, \"normalize\": \"standard\"}\n```\n\n"
      "Tables: columns that are not named may hold text or times. Commas, semicolons or tabs separate cells; the "
      "heading tells "
      "which. A cell\nin quotes may hold separators, line breaks and doubled quotes. The column `sequence` may hold "
      "text. So may a "
      "target column whose\nnames `classes` lists: `\"classes\": [\"cat\", \"dog\"]`. A byte order mark is skipped.\n\n"
      "`mnist`, `nmnist`, `dvs_gesture`, `shd` and `ssc` have a test part of their own; the fraction `validation` of "
      "the "
      "other recordings\nvalidates. `char_lm` divides its text: training first, then validation, then test.\n\n"
      "## Encoders\n\n"
      "`braintrace/tasks/encode.h` turns numbers into spikes: `poisson_spikes`, `latency_spikes` (and back: "
      "`latency_values`),\n`delta_events` (and back: `delta_signal`).\n\n"
      "## Files\n\n"
      "`braintrace/data` reads N-MNIST (`nmnist.h`), AEDAT 3.1 (`aedat.h`), HDF5 spikes (`spike_file.h`), IDX "
      "(`idx.h`), CSV\n(`csv.h`), time series with labels (`series.h`) and sound (`wav.h`). A file is indexed once and "
      "its samples are "
      "read on demand. Missing or malformed data is an "
      "error that\nnames file, place, what was expected and what was found.\n\n"
      "This page and its pictures are written by the program; a test keeps them true.\n";
  return page;
}

}  // namespace braintrace::tasks
