#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file of braintrace/, cli/ or tests/ uses a name whose header neither it nor any of our headers that it
includes includes: names of the standard library, fmt and nlohmann, and our own types and functions. Builds precompile
common headers and compile the sources of a folder as one, so a compiler does not notice.

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

# No names that a file uses: texts, comments and what tests are called.
TEXT = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|'
                  r'\b(?:TEST(?:_[FP])?|INSTANTIATE_TEST_SUITE_P)\(\s*\w+, \w+', re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', re.M)
USE = re.compile(r"\b(?:std|fmt|nlohmann)::\w+")

# Ours: types and functions of headers that stand at the start of a line, and their uses without a scope or an object.
TYPE = re.compile(r"^(?:class|struct|enum class)\s+(\w+)\b(?!::)[^;{\n]*\{|^using\s+(\w+)\s*=", re.M)
FUNCTION = re.compile(r"^(?!using|class|struct|namespace|template|friend|enum)[A-Za-z_][\w:<>,&*\s\[\]]*?[\s&*>](\w+)\(", re.M)
OWN_USE = re.compile(r"(?<![\w.:~>])(\w+)\b(\(?)")
FOUND_BY_ARGUMENT = {"to_string"}  # in templates, where the type of the argument brings it


class Files:
    """Sources and headers, each read once."""

    def __init__(self, root):
        self.root, self.read, self.codes, self.given = root, {}, {}, {}
        edges = root / "tools/layers.txt"
        self.edges = {a: {a, *b.split()} for a, b in re.findall(r"^(\w+):(.*)", edges.read_text(), re.M)} if edges.exists() else {}

    def code(self, path):
        if path not in self.codes:
            file = self.root / path
            self.codes[path] = TEXT.sub("", file.read_text()) if file.exists() else ""
        return self.codes[path]

    def may_include(self, path, header):
        """A name of a layer that this one does not read is another thing of that name."""
        layer = path.split("/")[1]
        return layer not in self.edges or header.split("/")[1] in self.edges[layer]

    def give(self, header):
        """Remembers what a header of ours gives: where, and whether it is a type."""
        for name in (n for pair in TYPE.findall(self.code(header)) for n in pair if n):
            self.given.setdefault(name, {})[header] = True
        for name in FUNCTION.findall(self.code(header)):
            self.given.setdefault(name, {}).setdefault(header, False)

    def includes(self, path):
        """Headers of others and of ours that the file includes itself."""
        if path not in self.read:
            file = self.root / path
            found = INCLUDE.findall(file.read_text()) if file.exists() else []
            self.read[path] = {other for other, _ in found if other}, {ours for _, ours in found if ours}
        return self.read[path]

    def reached(self, path):
        """Headers of others and of ours that the file gets by its own includes and by those of our headers."""
        others, ours, open_ = set(), {path}, [path]
        while open_:
            found, next_ = self.includes(open_.pop())
            others |= found
            open_ += next_ - ours
            ours |= next_
        return others, ours


def declares(code, name, is_type):
    """Whether the file itself says what the name is."""
    if is_type:
        return re.search(rf"\b(?:class|struct|using|typename)\s+{name}\b|\benum\b[^;]*\b{name}\b", code)
    before = r"(?<!return)(?<!else)(?<!case)(?<!throw)"
    return re.search(rf"[\w>&*\],]\s+[&*]*{name}\b(?!\()|{before}[\w>&*]\s+[&*]*{name}\(|[\[(,&*]{name}\b(?!\()", code)


def missing_ours(files, path, reached):
    """Names that headers of ours give, none of which the file reaches, and that nothing it reaches mentions."""
    code, words = files.code(path), None
    for name, call in sorted(dict(OWN_USE.findall(code)).items()):
        headers = {h: t for h, t in files.given.get(name, {}).items() if files.may_include(path, h)}
        if not headers or name in FOUND_BY_ARGUMENT or reached & headers.keys():
            continue
        is_type = any(headers.values())
        if not (is_type or call) or declares(code, name, is_type):
            continue
        words = words or {w for other in reached - {path} for w in re.findall(r"\w+", files.code(other))}
        if name not in words:
            yield name, sorted(headers)


def problems(root):
    files   = Files(root)
    folders = ["braintrace", "cli", "tests"]
    sources = [f for name in folders for f in sorted((root / name).rglob("*")) if f.suffix in {".h", ".cpp"}]
    if not sources:
        yield f"{root} has no sources in braintrace/ and cli/"
    paths = [file.relative_to(root).as_posix() for file in sources]
    for path in paths:
        if path.endswith(".h"):
            files.give(path)
    for path in paths:
        others, ours = files.reached(path)
        for name in sorted(set(USE.findall(files.code(path)))):
            if name in GIVEN_BY and not GIVEN_BY[name] & others:
                yield f"{path}: {name} needs #include <{'> or <'.join(sorted(GIVEN_BY[name]))}>"
        for name, headers in missing_ours(files, path, ours):
            yield f"{path}: {name} needs #include \"{headers[0]}\" or another header that gives it"


def main():
    root  = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = list(problems(root))
    print("\n".join(found) or "every file includes what it uses")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
