#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rkmm/_abi.py against the headers, without numpy and without a device.

check_abi.py c          print a C program that prints what the compiler makes of the structures
check_abi.py layout     compare its output, on standard input
check_abi.py functions HEADER...    compare numbers of arguments and their types
"""
import ctypes
import importlib.util
import os
import re
import sys

ABI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rkmm", "_abi.py")
spec = importlib.util.spec_from_file_location("abi", ABI)
abi = importlib.util.module_from_spec(spec)
spec.loader.exec_module(abi)

WORDS = {"uint32_t": "u", "uint64_t": "q", "int64_t": "l", "size_t": "z", "int": "i",
         "float": "f", "void": "v"}


def layout():
    for s in abi.STRUCTURES:
        yield f"{s.c_name} {ctypes.sizeof(s)}"
        for name, _ in s._fields_:
            field = getattr(s, name)
            yield f"{s.c_name} {name} {field.offset} {field.size}"
    for prefix, numbers in (("DRM_RKMM_", abi.DRM_RKMM), ("RKMM_", abi.RKMM)):
        for name, value in numbers.items():
            yield f"{prefix}{name} {value}"


def program():
    yield "#include <stddef.h>\n#include <stdio.h>\n#include <rkmm_seq.h>\n\nint main(void)\n{"
    for s in abi.STRUCTURES:
        yield f'\tprintf("{s.c_name} %zu\\n", sizeof({s.c_name}));'
        for name, _ in s._fields_:
            yield (f'\tprintf("{s.c_name} {name} %zu %zu\\n", offsetof({s.c_name}, {name}), '
                   f'sizeof((({s.c_name} *)0)->{name}));')
    for prefix, numbers in (("DRM_RKMM_", abi.DRM_RKMM), ("RKMM_", abi.RKMM)):
        for name in numbers:
            yield f'\tprintf("{prefix}{name} %llu\\n", (unsigned long long){prefix}{name});'
    yield "\treturn 0;\n}"


def letter(text):
    text = re.sub(r"\bconst\b", "", text).strip()
    if "*" in text:
        return "s" if re.match(r"char\s*\*", text) else "p"
    return WORDS.get(text.split()[0], "?")


def prototypes(headers):
    """name -> letters, as _abi.py has them"""
    found = {}
    for header in headers:
        with open(header, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        for result, name, args in re.findall(
                r"^([a-z][\w \t]*?[ \t*]+)(rkmm_\w+)\(([^;{]*?)\);", text, flags=re.S | re.M):
            args = [] if args.strip() == "void" else args.split(",")
            found[name] = letter(result) + "".join(letter(a) for a in args)
    return found


def functions(headers):
    bad = 0
    found = prototypes(headers)
    for name, letters in {**abi.FUNCTIONS, **abi.SEQ_FUNCTIONS}.items():
        if found.get(name) != letters:
            print(f"{name}: {letters}, the header has {found.get(name)}")
            bad += 1
    print(f"{len(abi.FUNCTIONS) + len(abi.SEQ_FUNCTIONS)} functions, {bad} differ")
    return bad


def main():
    if sys.argv[1:] == ["c"]:
        print("\n".join(program()))
        return 0
    if sys.argv[1:] == ["layout"]:
        want, have = sys.stdin.read().splitlines(), list(layout())
        for w, h in zip(want, have):
            if w != h:
                print(f"compiler: {w}, module: {h}")
        return want != have or len(want) < 100
    if len(sys.argv) > 2 and sys.argv[1] == "functions":
        return functions(sys.argv[2:]) != 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
