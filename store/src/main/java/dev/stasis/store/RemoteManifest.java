package dev.stasis.store;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stasis.store.ChunkFormat.PackName;
import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.crypto.AEADBadTagException;
import org.jspecify.annotations.Nullable;

/**
 * The manifest of an artifact in a store: a header in clear, then, sealed, the files and the
 * records of their chunks in the files' order.
 */
record RemoteManifest(Header header, FileTree tree, List<ChunkRecord> chunks) {
  /** More than any header takes. */
  static final int MOST_HEADER_BYTES = 16 << 10;

  static final int MOST_BYTES =
      MOST_HEADER_BYTES
          + ChunkFormat.MOST_TREE_BYTES
          + ChunkFormat.MOST_CHUNKS * ChunkFormat.RECORD_BYTES
          + (8 << 20);

  private static final byte[] MAGIC = ChunkFormat.ascii("STASISMF");
  private static final int PACK_NAME_BYTES = ChunkFormat.WRITER_BYTES + Integer.BYTES;

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  /** What can be read without a key. */
  record Header(
      int formatVersion,
      String namespaceUid,
      String artifactUid,
      String keyId,
      String writer,
      long nonce,
      String created,
      long logicalBytes,
      long storedBytes,
      long newBytes,
      int chunks) {}

  /** Returns what users see of it. */
  static StoredArtifact summary(Header header, String sha256) throws StoreException {
    try {
      return new StoredArtifact(
          new ArtifactId(header.namespaceUid, header.artifactUid),
          header.logicalBytes,
          header.storedBytes,
          header.newBytes,
          header.chunks,
          sha256,
          Instant.parse(header.created));
    } catch (RuntimeException e) {
      throw new StoreException.Damaged(
          "manifest header: expected valid values, got invalid ones", e);
    }
  }

  byte[] seal(Sealer sealer) throws StoreException {
    byte[] head = head();
    byte[] body = body();
    byte[] sealed = sealer.seal(header.nonce, head, body);
    return ByteBuffer.allocate(head.length + sealed.length).put(head).put(sealed).array();
  }

  private byte[] head() {
    byte[] json = json(header);
    return ByteBuffer.allocate(MAGIC.length + Integer.BYTES + json.length)
        .put(MAGIC)
        .putInt(json.length)
        .put(json)
        .array();
  }

  private byte[] body() throws StoreException {
    Map<PackName, Integer> packs = new HashMap<>();
    List<PackName> order = new ArrayList<>();
    for (ChunkRecord chunk : chunks) {
      Place place = chunk.place();
      if (place != null && packs.putIfAbsent(place.pack(), order.size()) == null) {
        order.add(place.pack());
      }
    }
    byte[] files = json(tree);
    if (files.length > ChunkFormat.MOST_TREE_BYTES) {
      throw new StoreException.TooLarge(
          "names of files: expected at most %d bytes, got %d"
              .formatted(ChunkFormat.MOST_TREE_BYTES, files.length));
    }
    ByteBuffer body =
        ByteBuffer.allocate(
            3 * Integer.BYTES
                + files.length
                + order.size() * PACK_NAME_BYTES
                + chunks.size() * ChunkFormat.RECORD_BYTES);
    body.putInt(files.length).put(files).putInt(order.size());
    order.forEach(pack -> pack.write(body));
    body.putInt(chunks.size());
    chunks.forEach(chunk -> chunk.write(body, packs));
    return body.array();
  }

  /** Reads the header of a manifest, or of its first {@link #MOST_HEADER_BYTES}. */
  static Header header(byte[] bytes) throws StoreException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    byte[] magic = new byte[MAGIC.length];
    try {
      buffer.get(magic);
      int length = buffer.getInt();
      if (!Arrays.equals(magic, MAGIC) || length < 0 || length > MOST_HEADER_BYTES) {
        throw new StoreException.Damaged("manifest: expected a Stasis manifest, got other bytes");
      }
      byte[] json = new byte[length];
      buffer.get(json);
      Header header = parse(json, Header.class);
      if (header.formatVersion > ChunkFormat.VERSION) {
        throw new StoreException.Newer(
            "manifest format: expected at most %d, got %d"
                .formatted(ChunkFormat.VERSION, header.formatVersion));
      }
      return header;
    } catch (BufferUnderflowException e) {
      throw new StoreException.Damaged(
          "manifest: expected a complete header, got the end of the file", e);
    } catch (JsonProcessingException e) {
      throw new StoreException.Damaged("manifest header: expected JSON, got other bytes", e);
    } catch (StoreException e) {
      throw e;
    } catch (IOException e) {
      throw new StoreException.Damaged("manifest header: expected JSON, got other bytes", e);
    }
  }

  /** Opens a manifest, and refuses any changed byte. */
  static RemoteManifest open(byte[] bytes, ArtifactId id, NamespaceKey key) throws StoreException {
    Header header = header(bytes);
    if (!header.namespaceUid.equals(id.namespaceUid())
        || !header.artifactUid.equals(id.artifactUid())) {
      throw new StoreException.Foreign(
          "manifest: expected that of %s, got that of %s/%s"
              .formatted(id, header.namespaceUid, header.artifactUid));
    }
    if (!header.keyId.equals(key.id())) {
      throw new StoreException.WrongKey(
          "manifest: expected data key %s, got %s".formatted(header.keyId, key.id()));
    }
    int head = MAGIC.length + Integer.BYTES + ByteBuffer.wrap(bytes).getInt(MAGIC.length);
    try {
      byte[] body =
          key.sealer(header.writer)
              .open(
                  header.nonce,
                  Arrays.copyOf(bytes, head),
                  Arrays.copyOfRange(bytes, head, bytes.length));
      return read(header, body);
    } catch (AEADBadTagException e) {
      throw new StoreException.Damaged(
          "manifest of %s: expected the written bytes, got different ones".formatted(id), e);
    } catch (BufferUnderflowException | IllegalArgumentException | IOException e) {
      if (e instanceof StoreException known) {
        throw known;
      }
      throw new StoreException.Damaged("manifest of %s: %s".formatted(id, e.getMessage()), e);
    }
  }

  private static RemoteManifest read(Header header, byte[] bytes) throws IOException {
    ByteBuffer body = ByteBuffer.wrap(bytes);
    byte[] json = new byte[count(body, 1)];
    body.get(json);
    FileTree tree = parse(json, FileTree.class);
    tree.requireSafe();
    List<PackName> packs = new ArrayList<>();
    for (int i = count(body, PACK_NAME_BYTES); i > 0; i--) {
      packs.add(PackName.read(body));
    }
    int count = count(body, ChunkFormat.RECORD_BYTES);
    if (count > ChunkFormat.MOST_CHUNKS
        || count != tree.chunks()
        || body.remaining() != count * ChunkFormat.RECORD_BYTES) {
      throw new StoreException.Damaged(
          "chunks in the manifest: expected %d, got %d".formatted(tree.chunks(), count));
    }
    List<ChunkRecord> chunks = new ArrayList<>(count);
    for (FileTree.Entry file : tree.files()) {
      for (int i = 0; i < file.chunks(); i++) {
        ChunkRecord chunk = ChunkRecord.read(body, packs);
        if (chunk.plain() != file.chunkLength(i)) {
          throw new StoreException.Damaged(
              "length of chunk %d of %s: expected %d, got %d"
                  .formatted(i, file.path(), file.chunkLength(i), chunk.plain()));
        }
        chunks.add(chunk);
      }
    }
    return new RemoteManifest(header, tree, chunks);
  }

  /** Reads a count, and refuses one of more than what follows: nothing is allocated for it. */
  private static int count(ByteBuffer body, int each) throws StoreException.Damaged {
    int count = body.getInt();
    if (count < 0 || (long) count * each > body.remaining()) {
      throw new StoreException.Damaged(
          "count in the manifest: expected at most %d, got %d"
              .formatted(body.remaining() / each, count));
    }
    return count;
  }

  /** Returns the packs that it refers to. */
  Set<String> packs() {
    Set<String> packs = new TreeSet<>();
    for (ChunkRecord chunk : chunks) {
      Place place = chunk.place();
      if (place != null) {
        packs.add(place.pack().fileName());
      }
    }
    return packs;
  }

  /** Returns how many bytes its files take at most: chunks of zeros are not written. */
  long writtenBytes() {
    return chunks.stream()
        .filter(chunk -> chunk.name() != null)
        .mapToLong(ChunkRecord::plain)
        .sum();
  }

  static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }

  static byte[] json(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a record can always be encoded", e);
    }
  }

  /** Parses JSON that anyone with write access to the store may have written; not {@code null}. */
  static <T> T parse(byte[] json, Class<T> type) throws IOException {
    @Nullable T value = MAPPER.readValue(json, type);
    if (value == null) {
      throw new StoreException.Damaged("JSON in the store: expected an object, got null");
    }
    return value;
  }
}
