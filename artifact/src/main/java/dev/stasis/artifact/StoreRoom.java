package dev.stasis.artifact;

/** Whether a store has room for an artifact: what is needed and what is free, in bytes. */
public record StoreRoom(long needed, long free) {
  /** Whether it fits. */
  public boolean fits() {
    return needed <= free;
  }

  /** Both numbers in a sentence. */
  public String message() {
    return "room in the store: wanted %d bytes, found %d bytes free".formatted(needed, free);
  }
}
