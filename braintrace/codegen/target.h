// SPDX-License-Identifier: Apache-2.0
// Machine parameters for code generation. Passes and printers depend only on these numbers, never on the name of a
// target.
#pragma once

#include <cstdint>
#include <string_view>

namespace braintrace::codegen {

enum class Device : uint8_t { Cpu, Cuda };

// Number of parts of size `part` that cover `all`; the last one may be smaller.
constexpr int64_t parts_in(int64_t all, int64_t part) { return (all + part - 1) / part; }

struct Target {
  std::string_view name;
  Device           device    = Device::Cpu;
  bool             has_host  = true;  // the host evaluates operations without a kernel
  bool             threads   = true;  // parts of a kernel may run in parallel
  bool             in_turn   = true;  // one core computes a row in sequence; otherwise one thread per element
  int64_t          alignment = 64;    // of every buffer, in bytes
  // In loop bodies, reuse memory only for values of the same size, so that aliased values have the same layout.
  bool places_by_size = false;

  // Threads. The number of cores determines the granularity of work, but never changes a result. Work on fewer elements
  // takes less than about 3 µs and is not parallelized. A core that writes what another has read waits for every cache
  // line, longer than the work itself takes: so either all kernels split a large array by the same rows, or none does.
  int64_t cores           = 2;
  int64_t shared_elements = 65536;
  int64_t series_elements = 8;        // cost of a function such as tanh, in elements
  int64_t draw_elements   = 64;       // cost of a random number, in elements
  int64_t multiplications = 16;       // multiplications of a matrix product that cost as much as an element: one vector
  int64_t product_rows    = 64;       // rows of a matrix product in one part
  int64_t fewest_rows     = 16;       // of a part that many cores split further: larger parts are halved
  int64_t part_overhead   = 12;       // cost of fetching and packing a part, in rows and in columns
  double  part_wait       = 0.1;      // fraction of a part that cores wait for each other
  int64_t product_panel   = 128;      // bytes of a row that a matrix product holds in registers
  int64_t packed_bytes    = 1 << 18;  // bytes of an operand packed at a time if it is not a matrix; 0: never
  int64_t whole_inner     = 1024;     // longest sum that such a product computes at once
  int64_t inner_block     = 256;      // block length for longer sums
  int64_t tile_rows       = 8;        // rows that a matrix product holds in registers; fewer are less efficient,
  int64_t batch_tile      = 4;        // and fewer than these take as much time
  int64_t batch_part      = 16;       // batch rows of a part that runs through a time loop on its own
  int64_t large_part      = 32;       // the same if the weights do not fit in the L2 cache
  int64_t short_step      = 1 << 16;  // weights of a step in which cores should rather not synchronize
  int64_t columns_from    = 4;        // with at least this many cores, they split the columns of such weights instead
  int64_t cache_elements  = 9 << 15;  // capacity of the L2 cache: a 512 by 512 matrix and a readout
  int64_t resident_bytes  = 0;        // bytes of weights a core can keep resident; 0: none

  // Whether cores split the columns of a loop's weights, keep them in their caches, and synchronize in every step.
  // Otherwise they split the rows of its batch, and each core reads all weights in every step.
  bool splits_columns(int64_t weights) const { return cores >= columns_from && weights > cache_elements; }

  // Row blocks by which threads split a matrix. Sums over blocks are added afterwards, so their number depends only on
  // the shape.
  int64_t least_blocks = 8, most_blocks = 64;
  int64_t row_blocks(int64_t rows, int64_t elements) const;

  // Loop nests.
  int64_t block = 256, tile = 2048;  // columns and elements of a tile of partial sums
  int64_t lanes         = 16;        // interleaved accumulators
  int64_t sum_rows      = 4;         // rows summed together (unroll and jam)
  int64_t sum_blocks    = 0;         // blocks of threads that split few long sums into parts; 0: none
  int64_t block_sums    = 32;        // sums over rows that one such block computes side by side
  int64_t least_rows    = 64;        // fewest rows per part of these sums
  int64_t least_terms   = 2048;      // fewest terms per part of any other sum
  int64_t column_rows   = 2;         // rows added to columns together
  int64_t few_columns   = 4;         // not if there are this few columns
  int64_t together_from = 4096;      // elements of a nest from which rows are jammed
  int64_t tiled_from    = 65536;     // elements; smaller arrays stay in cache, and small machines have small stacks
  int64_t unrolled      = 8;         // iterations up to which C compilers unroll a loop instead of vectorizing it
  int64_t longest_nest  = 48;        // equations per nest, limited by register pressure
  int64_t longest_chain = 256;       // dependent equations per nest: C compilers are slow on longer chains

  // Rewrites.
  int64_t few_terms        = 4;        // a sum of products with this few terms is unrolled
  int64_t enough_rows      = 16;       // a product with this many rows stays inside its time loop
  int64_t short_sum        = 16;       // terms of a short sum
  int64_t stacked_elements = 1 << 23;  // results of all steps that fit in the caches of many cores
  bool    steps_together   = false;    // compute for all steps at once what no later step depends on
  int64_t separated_from   = 4096;     // elements; below, the loops over the vectors cost more than they save
  int64_t pending_from     = 16384;    // elements of an array whose update can be deferred to the next step
  int64_t pending_at_most  = 4096;     // elements kept for the deferred update
  int64_t event_blocks     = 64;       // target blocks of a sparse product, at most
  int64_t event_run        = 4;        // each with this many entries per source
  int64_t event_part       = 16384;    // entries per part of an update
  int64_t event_columns    = 16;       // batch columns per part when events are counted
  int64_t event_dense      = 16;       // a row with more than one event per this many elements is processed densely
  int64_t event_scattered  = 8;        // relative cost of an entry out of traversal order

  // Devices with blocks of threads. A warp of 32 threads runs in lockstep.
  struct Blocks {
    int64_t threads      = 256;   // per block; cuda/tiles.cu requires this number
    int64_t most         = 2048;  // blocks per kernel: more do not help on any device; threads process several elements
    int64_t shared_bytes = 0;     // shared memory per block
    int64_t run          = 32;    // consecutive elements for coalesced access
    // Registers of a thread: values kept out of memory, accumulators of matrix products, and 4-element pieces being
    // loaded while others are multiplied, fewer of them with many accumulators.
    int64_t values = 64, sums = 96, pieces = 16, fewer_pieces = 12, many_sums = 16;
    int64_t steps_ahead = 6;  // prefetch distance of a time loop whose steps have no barriers
    // One thread computes a sum of few terms, or any sum if there are this many adjacent ones. A warp computes a sum
    // too short for a block, or any sum if there are enough for all warps.
    int64_t thread_terms = 16, thread_sums = 1 << 16;
    int64_t block_terms = 1024, warp_sums = 1024;
    int64_t lanes = 256;  // lanes of a scatter that justify one thread each
    // Small kernels share one block up to this much work, in multiplications or elements; a kernel with longer sums is
    // not small.
    int64_t small_kernel = 8192, small_kernels = 4 * 8192, small_sum = 128;

    int64_t warps() const { return threads / 32; }
  };
  Blocks blocks = {};
};

// This machine: compiled C, threads, host calls for operations without a kernel.
const Target& native_target();
// Any machine with a C99 compiler: no host, no threads, small alignment.
const Target& portable_target();
// A CUDA device: teams of threads, host calls for operations without a kernel.
Target cuda_target(int64_t processors = 132, int64_t shared_bytes = 227 << 10);

}  // namespace braintrace::codegen
