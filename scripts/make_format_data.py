#!/usr/bin/env python3
"""Writes tests/data/formats: the npz and npy files of the unit tests, as NumPy and zipfile make them.

Needs NumPy; the tests themselves do not. The bytes do not depend on when or where it runs.
SPDX-License-Identifier: Apache-2.0
"""
import io
import os
import sys
import warnings
import zipfile

import numpy as np

OUT = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "formats")
X = np.arange(6, dtype="<f4").reshape(2, 3)
STEPS = np.array([-1, 2**40], dtype="<i8")


def npy(array):
    data = io.BytesIO()
    np.lib.format.write_array(data, array)
    return data.getvalue()


def write_zip(name, members, method=zipfile.ZIP_STORED, comment=b"", zip64=False):
    with zipfile.ZipFile(os.path.join(OUT, name), "w") as archive:
        archive.comment = comment
        for member, data in members:
            info = zipfile.ZipInfo(member)
            info.compress_type = method
            with archive.open(info, "w", force_zip64=zip64) as file:
                file.write(data)


def write_zip64_directory(name, members):
    """As if every size and offset, and the directory's own, were beyond 32 bits."""
    limit = zipfile.ZIP64_LIMIT
    zipfile.ZIP64_LIMIT = 1
    write_zip(name, members, zip64=True)
    zipfile.ZIP64_LIMIT = limit


def write_bytes(name, data):
    with open(os.path.join(OUT, name), "wb") as file:
        file.write(data)


def read_bytes(name):
    with open(os.path.join(OUT, name), "rb") as file:
        return file.read()


def main():
    os.makedirs(OUT, exist_ok=True)
    both = [("x.npy", npy(X)), ("enc/steps.npy", npy(STEPS))]
    write_zip("stored.npz", both, comment=b"made for a test")
    write_zip("deflated.npz", both, zipfile.ZIP_DEFLATED)
    write_zip("zip64.npz", both, zip64=True)
    write_zip64_directory("zip64_directory.npz", both)
    write_zip("empty.npz", [])
    write_zip("utf8.npz", [("état.npy", npy(X)), ("folder/", b""), ("bare", npy(STEPS))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_zip("duplicate.npz", [("x.npy", npy(X)), ("x.npy", npy(X))])
    write_zip("stranger.npz", both + [("readme.txt", b"not an array at all")])
    write_zip("longer.npz", [("x.npy", npy(X) + b"\0")])
    write_zip("shorter.npz", [("x.npy", npy(X)[:-1])])
    write_zip("bzip2.npz", [("x.npy", npy(X))], zipfile.ZIP_BZIP2)
    damaged = bytearray(read_bytes("stored.npz"))
    at = damaged.index(X.tobytes())
    damaged[at + 5] ^= 1
    write_bytes("damaged.npz", bytes(damaged))
    write_bytes("fortran.npy", npy(np.asfortranarray(np.arange(24, dtype="<i2").reshape(2, 3, 4))))
    write_bytes("big_endian.npy", npy(np.arange(6, dtype=">f8").reshape(3, 2)))
    # What the manual's examples make with NumPy, for a machine that has none.
    write_bytes("manual_x.npy", npy(np.array([[1], [2], [3]], "<f4")))
    write_zip("manual_in.npz", [("a.npy", npy(np.array([[1, 2], [3, 4]], "<f4"))),
                                ("b.npy", npy(np.ones(2, "<f4")))])
    return 0


if __name__ == "__main__":
    sys.exit(main())
