package dev.stasis.store;

import java.time.Instant;

/**
 * A blob in a store.
 *
 * @param modified when it was written, by the store's clock
 */
public record Blob(String key, long size, Instant modified) {}
