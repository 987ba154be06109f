package dev.stasis.store;

import dev.stasis.store.ChunkFormat.PackName;
import dev.stasis.store.ChunkFormat.Place;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One chunk of an artifact or of a pack, 64 bytes in an index.
 *
 * @param name null for a chunk of zeros
 * @param plain its plain length
 * @param place null for a chunk of zeros
 */
record ChunkRecord(@Nullable ChunkName name, int plain, @Nullable Place place) {
  private static final ChunkName NO_NAME = new ChunkName(0, 0, 0, 0);
  private static final int RESERVED = 3;

  static ChunkRecord zeros(int plain) {
    return new ChunkRecord(null, plain, null);
  }

  void write(ByteBuffer to, Map<PackName, Integer> packs) {
    if (name == null || place == null) {
      NO_NAME.write(to);
      to.putLong(0).putLong(0).putInt(0).putInt(plain).putInt(0).put(ChunkCodec.ZERO);
    } else {
      name.write(to);
      to.putLong(place.offset()).putLong(place.nonce()).putInt(place.stored()).putInt(plain);
      to.putInt(packs.getOrDefault(place.pack(), 0)).put(place.codec());
    }
    to.put(new byte[RESERVED]);
  }

  static ChunkRecord read(ByteBuffer from, List<PackName> packs) throws StoreException.Damaged {
    ChunkName name = ChunkName.read(from);
    long offset = from.getLong();
    long nonce = from.getLong();
    int stored = from.getInt();
    int plain = from.getInt();
    int pack = from.getInt();
    byte codec = from.get();
    from.position(from.position() + RESERVED);
    require(plain > 0 && plain <= ChunkFormat.CHUNK_BYTES, "plain length", plain);
    if (codec == ChunkCodec.ZERO) {
      return zeros(plain);
    }
    require(codec <= ChunkCodec.ZSTD && codec > 0, "codec", codec);
    require(stored > Sealer.TAG_BYTES && stored <= Sealer.sealedBytes(plain), "length", stored);
    require(offset >= 0 && offset <= Long.MAX_VALUE - stored, "offset", offset);
    require(pack >= 0 && pack < packs.size(), "pack", pack);
    return new ChunkRecord(name, plain, new Place(packs.get(pack), offset, stored, nonce, codec));
  }

  private static void require(boolean valid, String property, long actual)
      throws StoreException.Damaged {
    if (!valid) {
      throw new StoreException.Damaged(
          "%s of a chunk in the index: expected one within the limits, got %d"
              .formatted(property, actual));
    }
  }
}
