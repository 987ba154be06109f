package dev.stasis.artifact;

/**
 * A range of a process's memory.
 *
 * @param address its first byte, unsigned
 * @param length length in bytes, more than 0
 */
public record Region(long address, long length) {
  public Region {
    if (length <= 0 || Long.compareUnsigned(address + length, address) < 0) {
      throw new IllegalArgumentException(
          "region %x: expected a length of at least 1 within the address space, got %d"
              .formatted(address, length));
    }
  }

  /** Returns the first address after the region. */
  public long end() {
    return address + length;
  }
}
