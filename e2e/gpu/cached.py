"""How much of a folder's files is in the page cache: cached.py FOLDER. What is not, a restore reads from the disk."""
import ctypes
import mmap
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def cached(path):
    """The bytes of the file in the page cache, and all of them."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            return 0, 0
        address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
        if address == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), path)
        pages = ctypes.create_string_buffer((size + mmap.PAGESIZE - 1) // mmap.PAGESIZE)
        failed = libc.mincore(address, size, pages)
        libc.munmap(address, size)
        if failed:
            raise OSError(ctypes.get_errno(), path)
        return min(size, sum(byte & 1 for byte in pages.raw) * mmap.PAGESIZE), size


totals = [cached(os.path.join(folder, name)) for folder, _, names in os.walk(sys.argv[1]) for name in names]
print("%d of %d MiB in the page cache" % tuple(sum(each[i] for each in totals) >> 20 for i in (0, 1)))
