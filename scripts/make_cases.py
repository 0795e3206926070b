#!/usr/bin/env python3
"""Writes the conformance cases of tests/cases.

  make_cases.py [FAMILY...]           write these families (default: all); OpenVINO must confirm
  make_cases.py --check [FAMILY...]   write nothing; fail if what is there is not what would be
  make_cases.py --list [FAMILY...]    one line a case: name, what it proves
  make_cases.py --remove [FAMILY...]  also remove folders that no code makes any more
  make_cases.py --departures          write docs/openvino-departures.md
  make_cases.py -v [FAMILY...]        name each case first: the last one, where OpenVINO crashes

Needs openvino and numpy. A golden is computed with NumPy; OpenVINO's CPU device must agree with it,
unless the case says why it does not. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import importlib
import os
import pkgutil
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402
from cases import common, confirm, departures  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "cases")


def all_cases(families):
    """Every case of the modules of the package that have a function cases(), sorted by folder."""
    found = []
    for info in sorted(pkgutil.iter_modules(cases.__path__), key=lambda i: i.name):
        module = importlib.import_module(f"cases.{info.name}")
        if hasattr(module, "cases"):
            found += [c for c in module.cases() if not families or c.family in families]
    folders = [c.folder for c in found]
    doubles = sorted({f for f in folders if folders.count(f) > 1})
    if doubles:
        sys.exit(f"two cases of one name: {doubles}")
    return sorted(found, key=lambda c: c.folder)


def judge(case):
    """Runs OpenVINO; returns (trouble, note)."""
    if case.exit:
        return "", ""
    if case.stand_in and (said := confirm.confirm(case, case.stand_in)):
        return f"OpenVINO does not confirm the equivalent model: {said}", ""
    if not case.runs_openvino:
        return "", ""
    said = confirm.confirm(case, case.net)
    if said and not case.openvino:
        return f"OpenVINO does not confirm: {said}", ""
    if not said and case.openvino:
        return f"said to differ ({case.openvino}), but OpenVINO agrees", ""
    return "", f"differs as known: {said}" if said else ""


def read_folder(path):
    if not os.path.isdir(path):
        return None
    files = {}
    for name in os.listdir(path):
        with open(os.path.join(path, name), "rb") as f:
            files[name] = f.read()
    return files


def write_folder(path, files):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    for name, data in files.items():
        with open(os.path.join(path, name), "wb") as f:
            f.write(data)


def extra_folders(found, families):
    """Folders under tests/cases that no case wants, in the families asked for."""
    wanted = {c.folder for c in found}
    there = []
    for family in sorted(os.listdir(ROOT)) if os.path.isdir(ROOT) else []:
        path = os.path.join(ROOT, family)
        if os.path.isdir(path) and (not families or family in families):
            there += [os.path.join(family, name) for name in sorted(os.listdir(path))]
    return [f for f in there if f not in wanted]


def write_departures(found):
    for case in found:
        case.reference_agrees = bool(case.openvino) and confirm.reference_agrees(case)
    text = departures.sections_text(found, confirm.ov.__version__.split("-")[0])
    path = os.path.join(ROOT, "..", "..", "docs", "openvino-departures.md")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--remove", action="store_true")
    parser.add_argument("--departures", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    options = parser.parse_args()
    found = all_cases(options.families)
    if options.departures:
        write_departures(found)
        return 0
    troubles, confirmed, through, differing = [], 0, 0, 0
    for case in found:
        if options.list:
            print(f"{case.folder}: {case.about}")
            continue
        if options.verbose:
            print(case.folder, flush=True)
        confirm.fill_types(case)
        case.reference_agrees = bool(case.openvino) and confirm.reference_agrees(case)
        files = common.case_files(case)
        trouble, note = ("", "") if options.check else judge(case)
        confirmed += not case.exit and not case.openvino
        through += bool(case.stand_in)
        differing += bool(case.openvino)
        path = os.path.join(ROOT, case.folder)
        if options.check and read_folder(path) != files:
            trouble = "differs from what would be written"
        elif not options.check and read_folder(path) != files:
            write_folder(path, files)
        if trouble:
            troubles.append(case.folder)
        if trouble or (note and options.verbose):
            print(f"{case.folder}: {trouble or note}", flush=True)
    for folder in [] if options.list else extra_folders(found, options.families):
        if options.remove:
            shutil.rmtree(os.path.join(ROOT, folder))
        else:
            troubles.append(folder)
            print(f"{folder}: nobody makes this case (--remove removes it)")
    if not options.list:
        print(
            f"{len(found)} cases: OpenVINO confirms {confirmed}, differs in {differing} ("
            f"it confirms {through} of these through an equivalent model), "
            f"{len(found) - confirmed - differing} are errors; "
            f"{len(troubles)} in trouble")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
