// SPDX-License-Identifier: Apache-2.0
// Text of single elements of kernels, shared by C and CUDA.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "braintrace/codegen/c/c_text.h"
#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// How to print the parts of an element: other elements, positions, and loads from a buffer.
struct ElementWords {
  std::function<std::string(int32_t element)>                                  value;
  std::function<std::string(const Affine& at)>                                 position;
  std::function<std::string(const Element& element, const std::string& where)> read;
};
// Element 3 is printed as t3, or as its literal; counter 1 as i1.
ElementWords plain_words(const LoopNest&                                                              nest,
                         std::function<std::string(const Element& element, const std::string& where)> read);
std::string  element_text(const Element& e, const ElementWords& words);
// const float t0 = …; const float t1 = …; for all elements, in order
std::string all_elements(const LoopNest& nest, const ElementWords& words);

// The words of a routine's template: sizes, buffers and types by their names, its element type T, the accumulator type
// sum, and expressions: `next` and `place` of a running reduction, `beats` of a minimum or maximum, `a_first` and
// `b_first` of a sort, `entry` of a sparse product, and `draw` of a random number.
Words words_of(const Routine& r);
// Snippets for lane e of arrays with $n or $m elements along the axis: its start offset, a running reduction over it,
// and the position of its minimum or maximum.
extern const std::string_view lane, running, position;

// Reduces the window at p0, p1, … into `result`.
std::string window_text(const Window& window, const std::string& result);

// The words of a convolution: its sizes, types and buffers; `at` and `weight` are positions in x and the kernel.
Words words_of(const Convolution& conv);
// The position q0 along axis 0 of x that position k0 of the kernel reads for p0; continues if it is outside.
std::string position_text(const Convolution& conv, size_t axis);

// Pointer to the row of a step; `name` prints the pointer to a buffer.
std::string row_text(const TimeLoop::Stacked& x, const std::function<std::string(Var)>& name, const std::string& step);

// The parts of a time loop around the call of its step: up to the call, what follows it, and what follows the loop.
// `step` names the position of the step in its inputs and outputs; `copy` prints the copy of bytes between pointers.
struct LoopText {
  std::string begin, steps, after, last;
};
LoopText loop_text(
    const TimeLoop& loop, const std::string& step,
    const std::function<std::string(const std::string& to, const std::string& from, int64_t bytes)>& copy);

// Declares the arrays `in` and `out` of a function call; fills one of them with pointers to buffers; both.
std::string pointers(size_t in, size_t out);
std::string filled_with(const char* array, const Vars& vars);
std::string passed(const Vars& in, const Vars& out);

}  // namespace braintrace::codegen
