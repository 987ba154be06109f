package dev.stasis.artifact;

/** Whether a store has space for an artifact: needed and free bytes. */
public record StoreRoom(long needed, long free) {
  /** Whether it fits. */
  public boolean fits() {
    return needed <= free;
  }

  /** Returns both numbers in a sentence. */
  public String message() {
    return "room in the store: expected %d bytes, got %d bytes free".formatted(needed, free);
  }
}
