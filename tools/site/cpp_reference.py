# SPDX-License-Identifier: Apache-2.0
"""The C++ reference: the declarations of the public headers in namespace braintrace, with their comments, parsed by libclang."""
import pathlib
import re
import subprocess

import clang.cindex as clang

K = clang.CursorKind
FUNCTIONS = (K.FUNCTION_DECL, K.FUNCTION_TEMPLATE)
CLASSES = (K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE)
OTHERS = (K.ENUM_DECL, K.TYPE_ALIAS_DECL, K.VAR_DECL)
MARKUP = re.compile(r"(`[^`\n]*`)|([*_\[\]])|<")


def includes():
    """Where the system's C++ compiler finds its headers."""
    for compiler in ("clang++-14", "clang++", "g++"):
        try:
            said = subprocess.run([compiler, "-E", "-v", "-x", "c++", "/dev/null"], capture_output=True, text=True).stderr
        except FileNotFoundError:
            continue
        found = re.search(r"search starts here:\n(.*?)End of search", said[said.index("<...>"):], re.S)[1]
        return [part for line in found.splitlines() for part in ("-isystem", line.strip())]
    raise SystemExit("site: found no C++ compiler (clang++ or g++); the C++ reference needs its headers. Install one.")


def comment(cursor):
    lines = (cursor.raw_comment or "").splitlines()
    return "\n".join(re.sub(r"^\s*//+ ?", "", line) for line in lines if "SPDX" not in line)


def described(cursor):
    """The comment as prose in which Markdown sees no markup but code, or unchanged if it has formulas or lists."""
    text = comment(cursor)
    if not text:
        return ""
    if re.search(r"^(  |- )", text, re.M):
        return f"```text\n{text}\n```\n\n"
    return MARKUP.sub(lambda m: m[1] or (f"\\{m[2]}" if m[2] else "&lt;"), text) + "\n\n"


def text_of(cursor):
    """The declaration as it is written, without a body."""
    file, start, end = cursor.location.file.name, cursor.extent.start.offset, cursor.extent.end.offset
    source = pathlib.Path(file).read_bytes()[start:end].decode()
    if cursor.kind in FUNCTIONS or cursor.kind in (K.CXX_METHOD, K.CONSTRUCTOR):
        depth = 0
        for at, c in enumerate(source):
            depth += (c in "([") - (c in ")]")
            starts_list = cursor.kind == K.CONSTRUCTOR and c == ":" and "::" not in source[at - 1:at + 2]
            if depth == 0 and (c == "{" or starts_list):
                source = source[:at]
                break
    return re.sub(r"\n\s*", "\n    ", source.strip())


def entry(cursor, level):
    out = f"\n{'#' * level} `{cursor.spelling}`\n\n"
    if cursor.kind in CLASSES and cursor.is_definition():
        members = [m for m in cursor.get_children() if m.access_specifier == clang.AccessSpecifier.PUBLIC
                   and m.kind in (K.CXX_METHOD, K.CONSTRUCTOR, K.FIELD_DECL, K.FUNCTION_TEMPLATE)]
        lines, last = [], {m.extent.start.offset: m for m in members}  # `double x, y` is two members of one text
        for m in last.values():
            lines += [f"  // {line}" for line in comment(m).splitlines()] + [f"  {text_of(m)};"]
        word = "struct" if cursor.kind == K.STRUCT_DECL else "class"
        return out + described(cursor) + f"```cpp\n{word} {cursor.spelling} {{\n" + "\n".join(lines) + "\n};\n```\n"
    return out + described(cursor) + f"```cpp\n{text_of(cursor)};\n```\n"


def declared(cursor, headers, found):
    for c in cursor.get_children():
        if c.kind == K.NAMESPACE and c.spelling not in ("detail", "std", ""):
            declared(c, headers, found)
        elif c.location.file and c.location.file.name in headers and c.kind in FUNCTIONS + CLASSES + OTHERS and c.spelling:
            if c.kind not in CLASSES or c.is_definition():
                found.setdefault(c.location.file.name, []).append(c)


def page(root):
    root = root.resolve()
    names = [n for n in (root / "tools/public_headers.txt").read_text().splitlines() if n.startswith("braintrace/")]
    headers = {str(root / n): n for n in names}
    source = "".join(f"#include <{n}>\n" for n in names)  # found below root, under one name each
    unit = clang.Index.create().parse("all.cpp", args=["-std=c++20", f"-I{root}", "-fparse-all-comments", "-nostdinc++", "-nostdinc", *includes()],
                                      unsaved_files=[("all.cpp", source)], options=clang.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
    errors = [d for d in unit.diagnostics if d.severity >= clang.Diagnostic.Error]
    if errors:
        raise SystemExit(f"site: the headers could not be read: {errors[0]}")
    found = {}
    declared(unit.cursor, headers, found)
    out = "# C++ reference\n\nWhat the public headers declare. One include, `braintrace/braintrace.h`, brings what most programs need.\n"
    for file in sorted(found, key=lambda f: headers[f]):
        head = re.match(r"// SPDX[^\n]*\n((?://[^\n]*\n)*)", pathlib.Path(file).read_text())
        about = "\n".join(re.sub(r"^// ?", "", line) for line in (head[1] if head else "").splitlines())
        out += f"\n## {headers[file]}\n\n" + (f"```text\n{about}\n```\n" if about else "")
        out += "".join(entry(c, 3) for c in sorted(found[file], key=lambda c: c.location.offset))
    return out
