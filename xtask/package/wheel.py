"""Writes a wheel: wheel.py DIRECTORY FILE. The list of files and their hashes comes last, as the format asks for."""

import base64
import hashlib
import os
import pathlib
import sys
import zipfile

root, target = map(pathlib.Path, sys.argv[1:])
files = sorted(path for path in root.rglob("*") if path.is_file())
record = next(root.glob("*.dist-info")) / "RECORD"
rows = []
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
    for path in files:
        name, content = path.relative_to(root).as_posix(), path.read_bytes()
        # The same bytes whenever it is built.
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        is_program = path.parent.name == "scripts" or os.access(path, os.X_OK)
        entry.external_attr = (0o100755 if is_program else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}\n")
    name = record.relative_to(root).as_posix()
    wheel.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), "".join(rows) + f"{name},,\n")
