#!/usr/bin/env python3
"""Archives as Python's tarfile and gzip write them: good ones, and ones that nobody should unpack."""

import gzip
import io
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
LONG = "package/" + "a-folder-with-a-long-name/" * 6 + "file.txt"


def member(name, data=b"", kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname, info.mtime = kind, len(data), link, 0
    return info, data


def archive(name, members, form):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    with open(HERE / name, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        packed.write(stream.getvalue())


def main():
    good = [member("package", kind=tarfile.DIRTYPE), member("package/package.json", b'{"name": "x"}\n'),
            member("package/empty", b""), member("package/block", b"b" * 512),
            member(LONG, b"long\n"), member("package/big", bytes(range(256)) * 900)]
    archive("ustar.tgz", good[:4] + good[5:], tarfile.USTAR_FORMAT)
    archive("gnu.tgz", good, tarfile.GNU_FORMAT)
    archive("pax.tgz", good, tarfile.PAX_FORMAT)
    bad = {"parent": member("package/../../x", b"x"), "absolute": member("/tmp/x", b"x"),
           "symlink": member("package/x", kind=tarfile.SYMTYPE, link="/etc/passwd"),
           "hardlink": member("package/x", kind=tarfile.LNKTYPE, link="package/y"),
           "device": member("package/x", kind=tarfile.CHRTYPE), "pipe": member("package/x", kind=tarfile.FIFOTYPE)}
    for name, one in bad.items():
        archive(f"bad-{name}.tgz", [good[1], one], tarfile.PAX_FORMAT)
    archive("bad-long-parent.tgz", [good[1], member("package/" + "d/" * 60 + "../" * 70 + "x", b"x")], tarfile.PAX_FORMAT)


main()
