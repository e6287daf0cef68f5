// SPDX-License-Identifier: Apache-2.0
// The machine that code is made for, as numbers. Passes and printers take a target; none asks what it is called.
#pragma once

#include <cstdint>
#include <string_view>

namespace braintrace::codegen {

enum class Device : uint8_t { Cpu, Cuda };

// How many parts of a size it takes for all, the last perhaps smaller.
constexpr int64_t parts_in(int64_t all, int64_t part) { return (all + part - 1) / part; }

struct Target {
  std::string_view name;
  Device           device    = Device::Cpu;
  bool             has_host  = true;  // operations without a kernel are evaluated by this library
  bool             threads   = true;  // parts of a kernel may run side by side
  bool             in_turn   = true;  // one core takes the elements of a row; otherwise each has a thread of its own
  int64_t          alignment = 64;    // of every buffer, in bytes
  // In the bodies of loops, memory is used again for values of the same size alone: what shares it shares it alike.
  bool places_by_size = false;

  // Threads. The number of cores decides how finely work is cut, never a bit of a result. Work on fewer elements takes
  // less than some 3 µs and is not shared. A core that writes what another has read waits for it line by line, longer
  // than the work itself takes: so all kernels share a large array by the same rows, or none does.
  int64_t cores           = 2;
  int64_t shared_elements = 65536;
  int64_t series_elements = 8;        // elements that take as long as a function such as tanh of one,
  int64_t draw_elements   = 64;       // or as a random number,
  int64_t multiplications = 16;       // and those of a matrix product that take as long as an element: a vector of them
  int64_t product_rows    = 64;       // of a matrix product, in one part,
  int64_t fewest_rows     = 16;       // and for many cores no fewer than half of these
  int64_t part_overhead   = 12;       // rows, and columns, that take as long as fetching and packing those of a part
  double  part_wait       = 0.1;      // of a part, that cores wait for each other
  int64_t product_panel   = 128;      // bytes of a row that a matrix product holds in registers
  int64_t packed_bytes    = 1 << 18;  // of an operand that it copies at a time, where that is not a matrix; 0: none
  int64_t whole_inner     = 1024;     // terms of a sum that such a product takes at once,
  int64_t inner_block     = 256;      // or so many of a longer one at a time
  int64_t batch_tile      = 4;        // rows of a batch that a matrix product holds in registers
  int64_t batch_part      = 16;       // rows of a part of the batch that runs through a time loop on its own,
  int64_t large_part      = 32;       // or so many where weights do not fit the second cache
  int64_t columns_from    = 4;        // cores: from here on they share the columns of such weights instead
  int64_t cache_elements  = 9 << 15;  // of the second cache: a matrix of 512 by 512, and a readout
  int64_t resident_bytes =
      0;  // of weights that a core can keep for all steps, sharing columns with others; 0: it cannot

  // Blocks of rows by which threads share a matrix: as sums over blocks are added afterwards, the shape alone decides.
  int64_t least_blocks = 8, most_blocks = 64;
  int64_t row_blocks(int64_t rows, int64_t elements) const;

  // Loop nests.
  int64_t block = 256, tile = 2048;  // columns, elements that partial sums are held for
  int64_t lanes         = 16;        // interleaved partial sums
  int64_t sum_rows      = 4;         // rows summed together
  int64_t sum_blocks    = 0;         // blocks of threads that share few long sums by taking parts of them; 0: none do
  int64_t block_sums    = 32;        // sums over rows that one such block takes side by side,
  int64_t least_rows    = 64;        // rows at least of a part of them,
  int64_t least_terms   = 2048;      // and terms of a part of any other sum
  int64_t column_rows   = 2;         // rows added to columns together,
  int64_t few_columns   = 4;         // unless there are so few
  int64_t together_from = 4096;      // elements of a nest, from which on rows are taken together
  int64_t tiled_from    = 65536;  // elements: smaller arrays stay in the caches, and small machines have small stacks
  int64_t unrolled      = 4;      // turns of the innermost loop, up to which the loop around it becomes vector code
  int64_t longest_nest  = 48;     // equations that share a nest without running out of registers
  int64_t longest_chain = 256;    // equations of a nest that read each other: compilers take long for longer ones

  // Rewrites.
  int64_t few_terms        = 4;        // a sum of products of so few neighbors is written out
  int64_t enough_rows      = 16;       // a product of so many rows stays inside its time loop
  int64_t short_sum        = 16;       // terms of one
  int64_t stacked_elements = 1 << 23;  // results of all its steps that the caches of many cores hold
  bool    steps_together   = false;    // what no later step waits for is computed for all steps at once
  int64_t separated_from   = 4096;     // elements: below, the vectors' own loops cost more than they save
  int64_t pending_from     = 16384;    // elements of an array whose update may wait for the next step
  int64_t pending_at_most  = 4096;     // elements that are kept for it
  int64_t event_blocks     = 64;       // of targets, at most, that threads share of a sparse product,
  int64_t event_run        = 4;        // of so many entries of a source each
  int64_t event_part       = 16384;    // entries of an update in one part
  int64_t event_columns    = 16;       // columns of a batch in one part, where events are counted
  int64_t event_dense      = 16;       // a row with an event in fewer elements than this is taken as a whole
  int64_t event_scattered  = 8;        // entries in the order of a walk that take as long as one out of it

  // Devices whose threads come in blocks; 32 threads, a warp, run in step.
  struct Blocks {
    int64_t threads      = 256;   // of a block: cuda/tiles.cu is cut for this number
    int64_t most         = 2048;  // blocks of a kernel: more gain nothing on any device, threads take several elements
    int64_t shared_bytes = 0;     // of memory that the threads of a block share
    int64_t run          = 32;    // neighbors that memory is read best in
    // Registers of a thread: values that would otherwise lie in memory, sums of matrix products, and pieces of four
    // elements that are on their way while others are multiplied, fewer of them beside many sums.
    int64_t values = 64, sums = 96, pieces = 16, fewer_pieces = 12, many_sums = 16;
    int64_t steps_ahead = 6;  // that inputs of a time loop are asked for where its steps wait for nobody
    // One thread takes a sum of few terms, or any where so many of them lie side by side; a warp takes one of fewer
    // terms than a block is worth, or any where there are enough for all warps.
    int64_t thread_terms = 16, thread_sums = 1 << 16;
    int64_t block_terms = 1024, warp_sums = 1024;
    int64_t lanes = 256;  // of a scatter that are worth a thread each
    // Small kernels, in multiplications or elements, share one block up to so many; one with longer sums is not small.
    int64_t small_kernel = 8192, small_kernels = 4 * 8192, small_sum = 128;

    int64_t warps() const { return threads / 32; }
  };
  Blocks blocks = {};
};

// This machine: C compiled here, threads, this process for what has no kernel.
const Target& native_target();
// Any machine with a C99 compiler: no host, no threads, small alignment.
const Target& portable_target();
// A CUDA device: teams of threads, this process for what has no kernel.
Target cuda_target(int64_t processors = 132, int64_t shared_bytes = 227 << 10);

}  // namespace braintrace::codegen
