package dev.stasis.store;

import java.time.Instant;

/**
 * An artifact in a store.
 *
 * @param logicalBytes the size of its files
 * @param storedBytes bytes of its chunks in the store, including shared ones
 * @param newBytes what of them its upload added to the store
 * @param chunks how many chunks it consists of; chunks of zeros, which are not stored, included
 * @param sha256 the digest of its manifest in the store, in lower-case hex
 * @param created when its upload ended, by the uploader's clock
 */
public record StoredArtifact(
    ArtifactId id,
    long logicalBytes,
    long storedBytes,
    long newBytes,
    long chunks,
    String sha256,
    Instant created) {}
