package dev.stasis.store;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Sizes, limits and names of the format: docs/design/store-format.md. */
final class ChunkFormat {
  static final int VERSION = 1;

  /** Bytes of a chunk; the last one of a file may be shorter. */
  static final int CHUNK_BYTES = 2 << 20;

  /** Holds a chunk that is sealed, or that a compressor has made 8 KiB larger. */
  static final int BUFFER_BYTES = CHUNK_BYTES + (16 << 10);

  /** A pack ends with the chunk that reaches this size. */
  static final long PACK_BYTES = 256L << 20;

  /** Chunks of a pack, so that its index fits into one read of 512 KiB. */
  static final int PACK_CHUNKS = 8192;

  /** Chunks of an artifact: 1 TiB. A reader holds all of their records in memory. */
  static final int MOST_CHUNKS = 1 << 19;

  /** Bytes of the list of files and folders of an artifact. */
  static final int MOST_TREE_BYTES = 32 << 20;

  static final String KEY_FILE = ".json";

  static final int RECORD_BYTES = 64;
  static final int WRITER_BYTES = 16;

  private ChunkFormat() {}

  static String namespaceFolder(String namespaceUid) {
    return "ns/" + namespaceUid + "/";
  }

  static String keyFiles(String namespaceUid) {
    return namespaceFolder(namespaceUid) + "keys/";
  }

  static String keyFile(String namespaceUid, String keyId) {
    return keyFiles(namespaceUid) + keyId + KEY_FILE;
  }

  static String packs(String namespaceUid) {
    return namespaceFolder(namespaceUid) + "packs/";
  }

  static String artifacts(String namespaceUid) {
    return namespaceFolder(namespaceUid) + "artifacts/";
  }

  static String manifest(ArtifactId id) {
    return artifacts(id.namespaceUid()) + id.artifactUid() + ".manifest";
  }

  static String writers(String namespaceUid) {
    return namespaceFolder(namespaceUid) + "writers/";
  }

  static String condemned(String namespaceUid) {
    return namespaceFolder(namespaceUid) + "condemned/";
  }

  /** What a chunk is bound to: another name, codec or length does not open it. */
  static byte[] chunkAdditional(ChunkName name, byte codec, int plain) {
    ByteBuffer bytes = ByteBuffer.allocate(ChunkName.BYTES + 5);
    name.write(bytes);
    return bytes.put(codec).putInt(plain).array();
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * A pack: one writer's packs are numbered.
   *
   * @param writer 32 hex digits
   */
  record PackName(String writer, int number) {
    private static final String SUFFIX = ".pack";
    private static final String VALID = "[0-9a-f]{32}-[0-9a-f]{8}\\.pack";

    String fileName() {
      return writer + "-" + HexFormat.of().toHexDigits(number) + SUFFIX;
    }

    String key(String namespaceUid) {
      return packs(namespaceUid) + fileName();
    }

    static boolean isValid(String fileName) {
      return fileName.matches(VALID);
    }

    static PackName of(String fileName) {
      return new PackName(
          fileName.substring(0, 2 * WRITER_BYTES),
          HexFormat.fromHexDigits(fileName, 2 * WRITER_BYTES + 1, 2 * WRITER_BYTES + 9));
    }

    void write(ByteBuffer to) {
      to.put(HexFormat.of().parseHex(writer)).putInt(number);
    }

    static PackName read(ByteBuffer from) {
      byte[] writer = new byte[WRITER_BYTES];
      from.get(writer);
      return new PackName(HexFormat.of().formatHex(writer), from.getInt());
    }
  }

  /** Where a chunk is stored. */
  record Place(PackName pack, long offset, int stored, long nonce, byte codec) {}
}
