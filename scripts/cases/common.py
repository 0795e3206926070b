# A case: a model, its inputs and its golden outputs, and how they become a folder.
# Does not run anything; see confirm.py.
# SPDX-License-Identifier: Apache-2.0
import io
import os
import zipfile
import zlib
from dataclasses import dataclass, field

import numpy as np

EXACT = "--atol 0 --rtol 0"
RECURRENT = "--atol 2e-6 --rtol 1e-5"  # H <= 128, T <= 50, weights scaled by 1/sqrt(H+I)
F16 = "--atol 1e-4 --rtol 1e-3"  # a last digit of f16 either way
F64 = "--atol 1e-13 --rtol 1e-12"


@dataclass
class Case:
    """One folder of tests/cases.

    feed, want: arrays by input and output name; one more leading axis than the model's is a stack
    of records. about: what the case proves, one sentence. openvino: "" = OpenVINO must give the
    golden within the tolerance (or confirm_tolerance, where it computes less precisely than the
    case demands); otherwise why it does not. runs_openvino=False: it would end the process, or what
    it gives depends on what was in memory. stand_in: an equivalent Net with the same names that
    OpenVINO computes rightly, where net is a form that it cannot read or gets wrong."""
    family: str
    name: str
    net: object
    feed: dict
    want: dict
    about: str
    args: str = ""
    openvino: str = ""
    runs_openvino: bool = True
    stand_in: object = None
    confirm_tolerance: tuple = None
    reference_agrees: bool = False  # set while making: OpenVINO's reference code gives the golden
    source: str = ""  # set while making: the file that made the case
    is_judged: bool = True  # set while making: OpenVINO was there
    bits: bool = False  # the one output must be equal bit for bit, NaN payloads included
    exit: int = 0  # an error case: the exit status,
    stderr: list = field(default_factory=list)  # and what its message must hold
    files: dict = field(default_factory=dict)  # further files; replaces model.xml or model.bin too

    @property
    def folder(self):
        return os.path.join(self.family, self.name)


def rng(*key):
    """A generator whose numbers depend on the words of key alone."""
    return np.random.Generator(np.random.PCG64(zlib.crc32("/".join(map(str, key)).encode())))


def uniform(generator, shape, low=-1.0, high=1.0, dtype=np.float32):
    return generator.uniform(low, high, shape).astype(dtype)


def npz_bytes(arrays):
    """An .npz whose bytes depend on the arrays alone."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array, order="C"), version=(1, 0),
                                      allow_pickle=False)
            info = zipfile.ZipInfo(name + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            archive.writestr(info, member.getvalue())
    return out.getvalue()


def case_files(case):
    """name -> bytes of every file of the folder."""
    files = {"args": (case.args + "\n").encode()}
    if case.net is not None:
        files["model.xml"] = case.net.xml_bytes()
        if case.net.data or any(l.type == "Const" for l in case.net.layers):
            files["model.bin"] = bytes(case.net.data)
    if case.feed:
        files["in.npz"] = npz_bytes(case.feed)
    if case.exit:
        files["exit"] = f"{case.exit}\n".encode()
        files["stderr"] = "".join(line + "\n" for line in case.stderr).encode()
    else:
        files["out.npz"] = npz_bytes(case.want)
    if case.bits:
        (value,) = case.want.values()
        files["bits"] = np.ascontiguousarray(value).tobytes()
    files.update(case.files)
    status = "OpenVINO confirms it."
    if not case.is_judged:
        status = "OpenVINO has not confirmed it yet."
    elif case.openvino:
        status = f"OpenVINO differs: {case.openvino}" + (
            " It confirms the golden through an equivalent model." if case.stand_in else
            " Its own reference code gives the golden." if case.reference_agrees else "")
    files["about"] = (case.about + "\n" + ("" if case.exit else status + "\n")).encode()
    return {name: data for name, data in files.items() if data is not None}


def record_count(feed):
    return len(next(iter(feed.values())))
