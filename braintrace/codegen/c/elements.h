// SPDX-License-Identifier: Apache-2.0
// What kernels say of single elements, in C and in CUDA alike.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// How elements of a nest are written: other elements, positions, and what a buffer holds at the position of an element.
struct ElementWords {
  std::function<std::string(int32_t element)>                                  value;
  std::function<std::string(const Affine& at)>                                 position;
  std::function<std::string(const Element& element, const std::string& where)> read;
};
// Element 3 is t3, or its number; counter 1 is i1.
ElementWords plain_words(const LoopNest&                                                              nest,
                         std::function<std::string(const Element& element, const std::string& where)> read);
std::string  element_text(const Element& e, const ElementWords& words);
// const float t0 = …; const float t1 = …; for all elements, in order
std::string all_elements(const LoopNest& nest, const ElementWords& words);

// The sum so far and the next element of a running reduction.
std::string next_text(const Routine& r);
// Whether element `first` comes before `second` under an order in which NaN is the last.
std::string order_text(DType t, const std::string& order, const std::string& first, const std::string& second);
// Lane e, in arrays with $n or $m elements along the axis: where it begins; a running reduction of it; the position of
// its least or largest element.
extern const std::string_view lane, running, position;
// Element i of what is drawn.
std::string draw_text(const Routine& r);

// What is done before the elements of a window, with each, at the offset `at`, and after them.
struct WindowText {
  std::string start, each, finish;
};
WindowText window_text(const Window& window, const std::string& x, const std::string& result);

// Where the row of a step lies; `name` are pointers to buffers.
std::string row_text(const TimeLoop::Stacked& x, const std::function<std::string(Var)>& name, const std::string& step);

// Arrays `in` and `out` of pointers that a function is called with; their elements as pointers to buffers; both.
std::string pointers(size_t in, size_t out);
std::string filled_with(const char* array, const Vars& vars);
std::string passed(const Vars& in, const Vars& out);

}  // namespace braintrace::codegen
