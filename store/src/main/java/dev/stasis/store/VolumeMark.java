package dev.stasis.store;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Identity of a volume, in the volume itself. By it an agent recognizes an emptied, exchanged or
 * unmounted volume, which must not be taken for a store without artifacts.
 */
public final class VolumeMark {

  static final String KEY = "volume";

  private static final int BYTES = 16;

  private final BlobStore blobs;
  private final SecureRandom random;

  /** The mark of the volume with these blobs. */
  public VolumeMark(BlobStore blobs, SecureRandom random) {
    this.blobs = blobs;
    this.random = random;
  }

  /**
   * Returns the identity; empty if the volume has none.
   *
   * @throws StoreException.Damaged if the mark is not an identity
   */
  public Optional<String> read() throws StoreException {
    byte[] bytes;
    try {
      bytes = BlobReader.whole(blobs, KEY, 2 * BYTES);
    } catch (StoreException.NotFound e) {
      return Optional.empty();
    }
    String id = new String(bytes, StandardCharsets.US_ASCII);
    if (!id.matches("[0-9a-f]{" + 2 * BYTES + "}")) {
      throw new StoreException.Damaged(
          "mark %s of the volume: expected %d hexadecimal digits, got %d bytes of others"
              .formatted(KEY, 2 * BYTES, bytes.length));
    }
    return Optional.of(id);
  }

  /** Returns the identity, and gives one to a volume without. Agents that do so at once agree. */
  public String readOrCreate() throws StoreException {
    Optional<String> found = read();
    if (found.isEmpty()) {
      byte[] id = new byte[BYTES];
      random.nextBytes(id);
      boolean unused =
          blobs.putIfAbsent(KEY, HexFormat.of().formatHex(id).getBytes(StandardCharsets.US_ASCII));
      found = read();
    }
    return found.orElseThrow(
        () -> new StoreException.Damaged("mark " + KEY + ": expected what was written, got none"));
  }
}
