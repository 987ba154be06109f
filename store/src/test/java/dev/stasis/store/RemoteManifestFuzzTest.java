package dev.stasis.store;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.stasis.store.ChunkFormat.PackName;
import dev.stasis.store.RemoteManifest.Header;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;

/**
 * Every manifest that a store may contain is either read or refused. Seals are no protection where
 * the keys lie in clear, so what is sealed is fuzzed in a valid seal.
 */
class RemoteManifestFuzzTest {
  private static final ArtifactId ID = new ArtifactId("ns-1", "artifact-1");
  private static final NamespaceKey KEY = NamespaceKey.of(SampleFolders.key(7));
  private static final String WRITER = "0".repeat(32);
  private static final PackName PACK = new PackName(WRITER, 0);
  private static final long NONCE = 5;

  @FuzzTest
  void anyManifestIsReadOrRefused(byte[] bytes) {
    try {
      var unused = RemoteManifest.summary(RemoteManifest.header(bytes), "");
      var manifest = RemoteManifest.open(bytes, ID, KEY);
      manifest.seal(KEY.sealer(WRITER));
    } catch (StoreException refused) {
      return;
    }
  }

  @FuzzTest
  void anySealedBodyIsReadOrRefused(byte[] body) {
    byte[] json =
        RemoteManifest.json(
            new Header(
                ChunkFormat.VERSION,
                ID.namespaceUid(),
                ID.artifactUid(),
                KEY.id(),
                WRITER,
                NONCE,
                "2026-11-24T10:00:00Z",
                0,
                0,
                0,
                1));
    byte[] head =
        ByteBuffer.allocate(12 + json.length)
            .put(ChunkFormat.ascii("STASISMF"))
            .putInt(json.length)
            .put(json)
            .array();
    byte[] sealed = sealed(head, body);
    byte[] manifest =
        ByteBuffer.allocate(head.length + sealed.length).put(head).put(sealed).array();
    try {
      RemoteManifest.open(manifest, ID, KEY).seal(KEY.sealer(WRITER));
    } catch (StoreException refused) {
      return;
    }
  }

  @FuzzTest
  void anyPackIsReadOrRefused(byte[] bytes) {
    read(bytes);
  }

  @FuzzTest
  void anySealedIndexIsReadOrRefused(byte[] records) {
    int count = records.length / ChunkFormat.RECORD_BYTES;
    byte[] sealed =
        sealed(ChunkFormat.ascii("pack index\n%s\n%d".formatted(PACK.fileName(), count)), records);
    read(
        ByteBuffer.allocate(sealed.length + 40)
            .put(sealed)
            .put(ChunkFormat.ascii("STASISPE"))
            .putLong(NONCE)
            .putInt(count)
            .putInt(ChunkFormat.VERSION)
            .put(HexFormat.of().parseHex(KEY.id()))
            .array());
  }

  @FuzzTest
  void anyKeyFileIsReadOrRefused(byte[] bytes) {
    for (StoreKeys keys :
        new StoreKeys[] {
          StoreKeys.none(),
          StoreKeys.of("key-1", Map.of("key-1", SampleFolders.key(1))),
          StoreKeys.of(new FakeKms())
        }) {
      OneBlob store = new OneBlob(ChunkFormat.keyFile("ns-1", KEY.id()), bytes);
      try {
        var unused = new NamespaceKeys(store, keys, new SecureRandom()).existing("ns-1", KEY.id());
      } catch (StoreException refused) {
        continue;
      }
    }
  }

  private static byte[] sealed(byte[] additional, byte[] plain) {
    return KEY.sealer(WRITER).seal(NONCE, additional, plain);
  }

  private static void read(byte[] pack) {
    OneBlob store = new OneBlob(PACK.key("ns-1"), pack);
    try {
      var unused = PackIndex.read(store, store.blob(), KEY);
    } catch (StoreException refused) {
      return;
    }
  }
}
