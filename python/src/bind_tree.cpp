// SPDX-License-Identifier: Apache-2.0
#include "bindings.h"
#include "tree.h"

namespace pybraintrace {

void bind_tree(nb::module_& m) {
  nb::class_<Tree>(m, "TreeDef", "Structure of a tree, without its leaves.")
      .def_prop_ro("num_leaves", &Tree::num_leaves, "Number of leaves.")
      .def(
          "unflatten",
          [](const Tree& t, nb::handle leaves) {
            Tree::Leaves list;
            for (nb::handle h : nb::iter(leaves)) list.push_back(nb::borrow(h));
            bt::require(list.size() == t.num_leaves(), "unflatten: the tree has {} leaves, got {}.", t.num_leaves(),
                        list.size());
            return t.unflatten(list);
          },
          "leaves"_a, "Return the tree with the given leaves.")
      .def(
          "__eq__", [](const Tree& a, nb::handle b) { return nb::isinstance<Tree>(b) && a == nb::cast<Tree&>(b); },
          "other"_a.none())
      .def("__repr__", [](const Tree& t) { return "TreeDef(" + t.text() + ")"; });
  m.def(
      "tree_flatten",
      [](nb::handle tree, nb::handle is_leaf) {
        Tree::Leaves leaves;
        Tree         structure = Tree::of(tree, leaves, nullptr, is_leaf.is_none() ? nb::handle() : is_leaf);
        nb::list     list;
        for (const nb::object& leaf : leaves) list.append(leaf);
        return nb::make_tuple(list, std::move(structure));
      },
      "tree"_a.none(), "is_leaf"_a = nb::none(), "Return the leaves of a tree in order, and its structure.");
  m.def("register_node", &register_node, "type"_a, "flatten"_a, "unflatten"_a,
        "Register a class whose instances are nodes of trees.\n"
        "\n"
        "Args:\n"
        "    type: the class.\n"
        "    flatten: function from an instance to (children, aux).\n"
        "    unflatten: function from (aux, children) to an instance.");
}

}  // namespace pybraintrace
