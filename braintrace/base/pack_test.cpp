// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/pack.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braintrace/base/small_vector.h"

namespace braintrace {
namespace {

template <class List>
struct Inputs {
  List args, states, memory;
};
using Numbers = std::vector<int>;
using Marks   = std::vector<bool>;

TEST(Pack, joinedSectionsSplitAgain) {
  const Inputs<Numbers> pack{{1, 2}, {}, {3}};
  EXPECT_EQ(joined(pack), (Numbers{1, 2, 3}));
  const Inputs<Numbers> again = split(joined(pack), pack);
  EXPECT_EQ(again.args, pack.args);
  EXPECT_EQ(again.states, pack.states);
  EXPECT_EQ(again.memory, pack.memory);
}

TEST(Pack, joinsListsOneAfterTheOther) {
  EXPECT_EQ(joined(Numbers{1}, Numbers{2, 3}, Numbers{4}), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(joined(Marks{true}, Marks{}), Marks{true});
}

TEST(Pack, sizesSplitListsOfAnotherKind) {
  const Inputs<size_t> n = section_sizes(Inputs<Numbers>{{1}, {2, 3}, {}});
  EXPECT_EQ(n.args, 1u);
  EXPECT_EQ(n.states, 2u);
  EXPECT_EQ(n.memory, 0u);
  const Inputs<Marks> marks = split(Marks{true, false, true}, n);
  EXPECT_EQ(marks.args, Marks{true});
  EXPECT_EQ(marks.states, (Marks{false, true}));
  const Inputs<SmallVector<int, 4>> small = split(SmallVector<int, 4>{7, 8, 9}, n);
  EXPECT_EQ(small.states[1], 9);
}

TEST(Pack, aListOfAnotherLengthFails) {
  const Inputs<size_t> n{1, 1, 1};
  EXPECT_THROW(split(Numbers{1, 2}, n), InternalError);
  EXPECT_THROW(split(Numbers{1, 2, 3, 4}, n), InternalError);
  EXPECT_NO_THROW(split(Numbers{1, 2, 3}, n));
}

TEST(Pack, mapsSectionBySection) {
  const Inputs<std::string> text = map_sections([](const Numbers& v, size_t n) { return std::to_string(v.size() + n); },
                                                Inputs<Numbers>{{1, 2}, {}, {3}}, Inputs<size_t>{10, 20, 30});
  EXPECT_EQ(text.args, "12");
  EXPECT_EQ(text.states, "20");
  EXPECT_EQ(text.memory, "31");
}

template <class List>
struct Two {
  List a, b;
};
template <class List>
struct Eight {
  List a, b, c, d, e, f, g, h;
};

TEST(Pack, anyNumberOfSectionsFromTwoToEight) {
  EXPECT_EQ(split(Numbers{1, 2, 3}, Two<size_t>{1, 2}).b, (Numbers{2, 3}));
  const auto eight = split(Numbers{1, 2, 3, 4, 5, 6, 7, 8}, Eight<size_t>{1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(eight.a, Numbers{1});
  EXPECT_EQ(eight.h, Numbers{8});
  EXPECT_EQ(joined(eight).size(), 8u);
}

}  // namespace
}  // namespace braintrace
