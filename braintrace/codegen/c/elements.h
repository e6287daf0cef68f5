// SPDX-License-Identifier: Apache-2.0
// Text of single elements of kernels, shared by C and CUDA.
#pragma once

#include <functional>
#include <string>
#include <string_view>

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

// Combines the accumulator and the next element of a running reduction.
std::string next_text(const Routine& r);
// Whether element `first` precedes `second`; NaN sorts last.
std::string order_text(DType t, const std::string& order, const std::string& first, const std::string& second);
// Snippets for lane e of arrays with $n or $m elements along the axis: its start offset, a running reduction over it,
// and the position of its minimum or maximum.
extern const std::string_view lane, running, position;
// The random number at element i.
std::string draw_text(const Routine& r);

// Text before the elements of a window, for each element at offset `at`, and after them.
struct WindowText {
  std::string start, each, finish;
};
WindowText window_text(const Window& window, const std::string& x, const std::string& result);

// Pointer to the row of a step; `name` prints the pointer to a buffer.
std::string row_text(const TimeLoop::Stacked& x, const std::function<std::string(Var)>& name, const std::string& step);

// Declares the arrays `in` and `out` of a function call; fills one of them with pointers to buffers; both.
std::string pointers(size_t in, size_t out);
std::string filled_with(const char* array, const Vars& vars);
std::string passed(const Vars& in, const Vars& out);

}  // namespace braintrace::codegen
