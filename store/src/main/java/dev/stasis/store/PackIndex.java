package dev.stasis.store;

import dev.stasis.store.ChunkFormat.PackName;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.crypto.AEADBadTagException;

/** The index at the end of a pack: sealed records, and a trailer that says where they begin. */
final class PackIndex {
  private static final byte[] MAGIC = ChunkFormat.ascii("STASISPE");
  private static final int TRAILER_BYTES = 40;
  private static final int KEY_ID_BYTES = 16;

  /** Read first; holds the index of a pack of large chunks. */
  private static final int TAIL_BYTES = 16 << 10;

  private PackIndex() {}

  /** Returns index and trailer. */
  static byte[] seal(NamespaceKey key, long nonce, PackName pack, List<ChunkRecord> chunks) {
    ByteBuffer records = ByteBuffer.allocate(chunks.size() * ChunkFormat.RECORD_BYTES);
    chunks.forEach(chunk -> chunk.write(records, Map.of(pack, 0)));
    byte[] sealed =
        key.sealer(pack.writer()).seal(nonce, additional(pack, chunks.size()), records.array());
    return ByteBuffer.allocate(sealed.length + TRAILER_BYTES)
        .put(sealed)
        .put(MAGIC)
        .putLong(nonce)
        .putInt(chunks.size())
        .putInt(ChunkFormat.VERSION)
        .put(HexFormat.of().parseHex(key.id()))
        .array();
  }

  /** Reads the index of a pack, every byte of which it verifies. */
  static List<ChunkRecord> read(BlobStore blobs, Blob pack, NamespaceKey key)
      throws StoreException {
    PackName name = PackName.of(pack.key().substring(pack.key().lastIndexOf('/') + 1));
    int tail = (int) Math.min(pack.size(), TAIL_BYTES);
    byte[] bytes = blobs.get(pack.key(), pack.size() - tail, tail);
    if (tail < TRAILER_BYTES) {
      throw damaged(pack);
    }
    ByteBuffer trailer = ByteBuffer.wrap(bytes, tail - TRAILER_BYTES, TRAILER_BYTES);
    byte[] magic = new byte[MAGIC.length];
    trailer.get(magic);
    long nonce = trailer.getLong();
    int count = trailer.getInt();
    int version = trailer.getInt();
    byte[] keyId = new byte[KEY_ID_BYTES];
    trailer.get(keyId);
    if (!Arrays.equals(magic, MAGIC) || version < 1) {
      throw damaged(pack);
    }
    if (version > ChunkFormat.VERSION) {
      throw new StoreException.Newer(
          "%s: expected format %d, got %d".formatted(pack.key(), ChunkFormat.VERSION, version));
    }
    if (!HexFormat.of().formatHex(keyId).equals(key.id())) {
      throw new StoreException.WrongKey(
          "%s: expected data key %s, got %s"
              .formatted(pack.key(), key.id(), HexFormat.of().formatHex(keyId)));
    }
    if (count < 0 || count > ChunkFormat.PACK_CHUNKS) {
      throw damaged(pack);
    }
    int length = Sealer.sealedBytes(count * ChunkFormat.RECORD_BYTES);
    if (length + TRAILER_BYTES > pack.size()) {
      throw damaged(pack);
    }
    byte[] sealed =
        length + TRAILER_BYTES <= tail
            ? Arrays.copyOfRange(bytes, tail - TRAILER_BYTES - length, tail - TRAILER_BYTES)
            : blobs.get(pack.key(), pack.size() - TRAILER_BYTES - length, length);
    try {
      ByteBuffer records =
          ByteBuffer.wrap(key.sealer(name.writer()).open(nonce, additional(name, count), sealed));
      List<ChunkRecord> chunks = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        chunks.add(ChunkRecord.read(records, List.of(name)));
      }
      return chunks;
    } catch (AEADBadTagException | BufferUnderflowException e) {
      throw damaged(pack);
    }
  }

  private static byte[] additional(PackName pack, int count) {
    return ChunkFormat.ascii("pack index\n%s\n%d".formatted(pack.fileName(), count));
  }

  private static StoreException damaged(Blob pack) {
    return new StoreException.Damaged(
        "index of %s: expected the written bytes, got different ones".formatted(pack.key()));
  }
}
