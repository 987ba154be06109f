package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.store.ChunkFormat.PackName;
import dev.stasis.store.ChunkFormat.Place;
import dev.stasis.store.FileTree.Entry;
import dev.stasis.store.RemoteManifest.Header;
import io.airlift.compress.zstd.ZstdCompressor;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What somebody wrote who has the key, which lies in clear in a store without encryption. */
class HostileManifestTest {
  private static final ArtifactId ID = new ArtifactId("ns-1", "artifact-1");
  private static final NamespaceKey KEY = NamespaceKey.of(SampleFolders.key(7));
  private static final String WRITER = "0".repeat(32);
  private static final Place PLACE = new Place(new PackName(WRITER, 0), 0, 116, 1, ChunkCodec.RAW);

  private static RemoteManifest opened(FileTree tree, List<ChunkRecord> chunks)
      throws StoreException {
    Header header =
        new Header(
            1, "ns-1", "artifact-1", KEY.id(), WRITER, 5, "2026-11-24T10:00:00Z", 0, 0, 0, 1);
    byte[] bytes = new RemoteManifest(header, tree, chunks).seal(KEY.sealer(WRITER));
    return RemoteManifest.open(bytes, ID, KEY);
  }

  private static ChunkRecord chunk(int plain, Place place) {
    return new ChunkRecord(new ChunkName(1, 2, 3, 4), plain, place);
  }

  @Test
  void aValidManifestIsRead() throws StoreException {
    FileTree tree = new FileTree(List.of("criu"), List.of(new Entry("criu/a.img", 100)));

    RemoteManifest manifest = opened(tree, List.of(chunk(100, PLACE)));

    assertThat(manifest.tree()).isEqualTo(tree);
    assertThat(manifest.chunks()).containsExactly(chunk(100, PLACE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../evil",
        "/etc/passwd",
        "a/../../b",
        "",
        ".",
        "a//b",
        "missing/a",
        "criu",
        "x\0y"
      })
  void aPathThatLeavesTheArtifactIsRefused(String path) {
    assertThatThrownBy(
            () ->
                opened(
                    new FileTree(List.of("criu"), List.of(new Entry(path, 100))),
                    List.of(chunk(100, PLACE))))
        .isInstanceOf(StoreException.Damaged.class)
        .hasMessageContaining("expected a new path in a folder of the artifact");
    assertThatThrownBy(() -> opened(new FileTree(List.of("criu", path), List.of()), List.of()))
        .isInstanceOf(StoreException.Damaged.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 101, Long.MAX_VALUE, 1L << 41})
  void aSizeThatTheChunksDoNotHaveIsRefused(long size) {
    assertThatThrownBy(
            () ->
                opened(
                    new FileTree(List.of(), List.of(new Entry("a", size))),
                    List.of(chunk(100, PLACE))))
        .isInstanceOf(StoreException.Damaged.class);
  }

  @Test
  void aRecordBeyondTheLimitsIsRefused() {
    FileTree tree = new FileTree(List.of(), List.of(new Entry("a", 100)));
    for (Place place :
        List.of(
            new Place(PLACE.pack(), -1, 116, 1, ChunkCodec.RAW),
            new Place(PLACE.pack(), 0, Integer.MAX_VALUE, 1, ChunkCodec.RAW),
            new Place(PLACE.pack(), 0, 117, 1, ChunkCodec.RAW),
            new Place(PLACE.pack(), 0, 0, 1, ChunkCodec.RAW),
            new Place(PLACE.pack(), 0, 116, 1, (byte) 9),
            new Place(PLACE.pack(), Long.MAX_VALUE, 116, 1, ChunkCodec.RAW))) {
      assertThatThrownBy(() -> opened(tree, List.of(chunk(100, place))))
          .as(place.toString())
          .isInstanceOf(StoreException.Damaged.class);
    }
  }

  @Test
  void aDecompressedChunkIsNeverLargerThanItsRecordSays() {
    byte[] plain = new byte[ChunkFormat.CHUNK_BYTES];
    ZstdCompressor zstd = new ZstdCompressor();
    byte[] packed = new byte[zstd.maxCompressedLength(plain.length)];
    int size = zstd.compress(plain, 0, plain.length, packed, 0, packed.length);

    notUnpacked(ChunkCodec.ZSTD, packed, size);
    notUnpacked(ChunkCodec.ZSTD, new byte[50], 50);
    notUnpacked(ChunkCodec.LZ4, new byte[] {-1, -1, -1}, 3);
    notUnpacked(ChunkCodec.RAW, new byte[200], 99);
    notUnpacked(ChunkCodec.RAW, new byte[200], 101);
  }

  /** Although the array has room for more than the record says. */
  private static void notUnpacked(byte codec, byte[] packed, int size) {
    byte[] other = new byte[ChunkFormat.CHUNK_BYTES];

    assertThatThrownBy(() -> new ChunkDecompressor().unpack(codec, packed, size, other, 100))
        .isInstanceOf(StoreException.Damaged.class);
    assertThat(other).as("bytes that were not asked for").endsWith(new byte[other.length - 100]);
  }

  @Test
  void aHeaderOfAnySizeIsBounded() {
    byte[] huge =
        ByteBuffer.allocate(16)
            .put(ChunkFormat.ascii("STASISMF"))
            .putInt(Integer.MAX_VALUE)
            .array();

    assertThatThrownBy(() -> RemoteManifest.header(huge))
        .isInstanceOf(StoreException.Damaged.class);
    assertThatThrownBy(() -> RemoteManifest.header(new byte[3]))
        .isInstanceOf(StoreException.Damaged.class);
  }
}
