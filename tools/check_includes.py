#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file of braintrace/ or cli/ uses a name of the standard library, fmt or nlohmann whose header neither it
nor any of our headers that it includes includes. Builds precompile such headers, so a compiler does not notice.

    tools/check_includes.py [ROOT]"""
import pathlib
import re
import sys

# Names by header. A name that several headers give stands at each; one that is not listed is not checked.
NAMES = {
    "algorithm": """adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count count_if equal
        fill fill_n find find_first_of find_if generate is_sorted lexicographical_compare_three_way lower_bound max
        max_element merge min min_element minmax_element none_of nth_element partial_sort remove replace reverse rotate
        set_intersection sort stable_partition stable_sort transform unique upper_bound""",
    "any": "any any_cast",
    "array": "array",
    "atomic": "atomic atomic_flag memory_order_relaxed",
    "bit": "bit_cast bit_ceil bit_floor bit_width countr_zero endian popcount",
    "charconv": "chars_format errc from_chars to_chars",
    "chrono": "chrono",
    "cmath": """abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 floor fmod
        frexp hypot ilogb isfinite isinf isnan ldexp lgamma llround log log10 log1p log2 lround nan nearbyint nextafter pow
        round signbit sin sinh sqrt tan tanh tgamma trunc""",
    "compare": "strong_ordering",
    "complex": "abs complex exp log polar sqrt",
    "concepts": "derived_from floating_point integral invocable same_as",
    "csignal": "raise signal",
    "cstdio": "fflush fputs sscanf",
    "cstdlib": "abs calloc free getenv malloc",
    "cstring": "memchr memcmp memcpy memmove strerror strlen strncmp",
    "ctime": "strftime time time_t tm",
    "deque": "deque",
    "exception": "current_exception exception exception_ptr rethrow_exception uncaught_exceptions",
    "filesystem": "error_code filesystem",
    "fstream": "getline ifstream ofstream ostream",
    "functional": "function greater hash less",
    "future": "async future launch promise",
    "initializer_list": "initializer_list",
    "iosfwd": "ostream",
    "iostream": "cerr cin cout getline ostream",
    "istream": "getline",
    "limits": "numeric_limits",
    "locale": "locale",
    "map": "less map multimap pair",
    "memory": """align dynamic_pointer_cast enable_shared_from_this hash make_shared make_unique shared_ptr
        static_pointer_cast unique_ptr weak_ptr""",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock try_to_lock unique_lock",
    "new": "align_val_t bad_alloc",
    "numbers": "numbers",
    "numeric": "accumulate gcd inner_product iota lcm partial_sum",
    "optional": "hash nullopt nullopt_t optional",
    "ostream": "ostream",
    "queue": "priority_queue queue",
    "random": "mt19937",
    "set": "less multiset set",
    "span": "as_bytes span",
    "sstream": "getline istringstream ostream ostringstream stringstream",
    "stdexcept": "exception invalid_argument length_error logic_error out_of_range runtime_error",
    "string": "getline hash stod stoi stol stoll stoul string to_string",
    "string_view": "hash string_view",
    "system_error": "errc error_code system_error",
    "thread": "this_thread thread",
    "tuple": "apply make_tuple pair tie tuple tuple_element_t tuple_size_v",
    "unordered_map": "pair unordered_map",
    "unordered_set": "unordered_set",
    "utility": "exchange index_sequence index_sequence_for make_pair pair",
    "variant": "get_if hash holds_alternative monostate variant visit",
    "vector": "hash vector",
}
GIVEN_BY = {}
for header, names in NAMES.items():
    for name in names.split():
        GIVEN_BY.setdefault(f"std::{name}", set()).add(header.strip())
for header in ["core", "format", "ranges", "chrono"]:
    for name in ["format", "format_string", "formatter", "print"]:
        GIVEN_BY.setdefault(f"fmt::{name}", set()).add(f"fmt/{header}.h")
GIVEN_BY["fmt::join"] = {"fmt/format.h", "fmt/ranges.h"}
GIVEN_BY["nlohmann::json"] = GIVEN_BY["nlohmann::ordered_json"] = {"nlohmann/json.hpp", "nlohmann/json_fwd.hpp"}

TEXT = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*', re.DOTALL)  # neither is code
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', re.M)
USE = re.compile(r"\b(?:std|fmt|nlohmann)::\w+")


class Files:
    """Sources and headers, each read once."""

    def __init__(self, root):
        self.root, self.read = root, {}

    def includes(self, path):
        """Headers of others and of ours that the file includes itself."""
        if path not in self.read:
            file = self.root / path
            found = INCLUDE.findall(file.read_text()) if file.exists() else []
            self.read[path] = {other for other, _ in found if other}, {ours for _, ours in found if ours}
        return self.read[path]

    def reached(self, path):
        """Headers of others that the file gets by its own includes and by those of our headers."""
        others, ours, open_ = set(), {path}, [path]
        while open_:
            found, next_ = self.includes(open_.pop())
            others |= found
            open_ += next_ - ours
            ours |= next_
        return others


def problems(root):
    files   = Files(root)
    sources = [f for folder in ["braintrace", "cli"] for f in sorted((root / folder).rglob("*")) if f.suffix in {".h", ".cpp"}]
    if not sources:
        yield f"{root} has no sources in braintrace/ and cli/"
    for file in sources:
        path   = file.relative_to(root).as_posix()
        others = files.reached(path)
        for name in sorted(set(USE.findall(TEXT.sub("", file.read_text())))):
            if name in GIVEN_BY and not GIVEN_BY[name] & others:
                yield f"{path}: {name} needs #include <{'> or <'.join(sorted(GIVEN_BY[name]))}>"


def main():
    root  = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = list(problems(root))
    print("\n".join(found) or "every file includes what it uses")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
