package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Data keys that a KMS wraps. */
class KmsKeysTest {
  private static final ArtifactId FIRST = new ArtifactId("ns-1", "artifact-1");
  private static final ArtifactId SECOND = new ArtifactId("ns-1", "artifact-2");
  private static final StoreKeys SECRET = StoreKeys.of("a", Map.of("a", SampleFolders.key(1)));

  @TempDir Path temp;

  private final FakeKms kms = new FakeKms();

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path store;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path folder;

  @BeforeEach
  void createStore() throws IOException {
    store = Files.createDirectory(temp.resolve("store"));
    folder = SampleFolders.small(temp.resolve("artifact"));
  }

  private RemoteArtifacts artifacts(StoreKeys keys) {
    return new RemoteArtifacts(
        new FolderBlobs(store), keys, Compression.ZSTD, Clock.systemUTC(), 2);
  }

  private RemoteArtifacts artifacts() {
    return artifacts(StoreKeys.of(kms));
  }

  private Path fetched(StoreKeys keys) throws IOException {
    Path to = Files.createTempDirectory(temp, "fetched");
    artifacts(keys).fetch(FIRST, null, to, Progress.NONE);
    return to;
  }

  private Path keyFile() throws IOException {
    try (var files = Files.list(store.resolve("ns/ns-1/keys"))) {
      return files.findFirst().orElseThrow();
    }
  }

  @Test
  void theOldKeyIsNotNeededAfterARotationAndARewrap() throws IOException {
    artifacts().store(FIRST, folder, Progress.NONE);
    assertThat(artifacts().rewrap("ns-1")).isFalse();

    kms.rotate("2027", 2);
    SampleFolders.assertEqual(fetched(StoreKeys.of(kms)), folder);
    assertThat(artifacts().rewrap("ns-1")).isTrue();
    assertThat(artifacts().rewrap("ns-1")).isFalse();

    kms.forget("2026");
    SampleFolders.assertEqual(fetched(StoreKeys.of(kms)), folder);
  }

  @Test
  void twoAgentsThatRewrapAtOnceLoseNoKey() throws IOException {
    artifacts().store(FIRST, folder, Progress.NONE);
    kms.rotate("2027", 2);
    KeyService overtaken =
        new KeyService() {
          @Override
          public String currentKeyId() throws StoreException {
            return kms.currentKeyId();
          }

          @Override
          public WrappedKey wrap(byte[] key) throws StoreException {
            artifacts().rewrap("ns-1");
            return kms.wrap(key);
          }

          @Override
          public byte[] unwrap(WrappedKey wrapped) throws StoreException {
            return kms.unwrap(wrapped);
          }
        };

    assertThat(artifacts(StoreKeys.of(overtaken)).rewrap("ns-1")).isTrue();

    kms.forget("2026");
    SampleFolders.assertEqual(fetched(StoreKeys.of(kms)), folder);
  }

  @Test
  void aDestroyedKeyIsReportedAndTheStoreUntouched() throws IOException {
    artifacts().store(FIRST, folder, Progress.NONE);
    byte[] before = Files.readAllBytes(keyFile());
    kms.rotate("2027", 2);
    kms.forget("2026");

    assertThatThrownBy(() -> fetched(StoreKeys.of(kms)))
        .isInstanceOf(StoreException.MissingKey.class);
    assertThatThrownBy(() -> artifacts().rewrap("ns-1"))
        .isInstanceOf(StoreException.MissingKey.class);
    assertThatThrownBy(() -> artifacts().store(SECOND, folder, Progress.NONE))
        .isInstanceOf(StoreException.MissingKey.class);
    assertThat(Files.readAllBytes(keyFile())).isEqualTo(before);
  }

  @Test
  void nothingIsStoredOrRewrappedByAnAnswerThatDoesNotDecrypt() throws IOException {
    kms.lie = new WrappedKey("2026", "00".repeat(48), new TreeMap<>());
    assertThatThrownBy(() -> artifacts().store(FIRST, folder, Progress.NONE))
        .isInstanceOf(StoreException.WrongKey.class);
    assertThat(store.resolve("ns/ns-1/keys"))
        .satisfiesAnyOf(
            keys -> assertThat(keys).doesNotExist(), keys -> assertThat(keys).isEmptyDirectory());

    kms.lie = null;
    artifacts().store(FIRST, folder, Progress.NONE);
    kms.rotate("2027", 2);
    kms.lie = new WrappedKey("2027", "00".repeat(48), new TreeMap<>());
    assertThatThrownBy(() -> artifacts().rewrap("ns-1"))
        .isInstanceOf(StoreException.WrongKey.class);
    SampleFolders.assertEqual(fetched(StoreKeys.of(kms)), folder);
  }

  @Test
  void anAnswerByAnotherKeyThanTheCurrentOneIsRefused() throws IOException {
    FakeKms other = new FakeKms();
    other.rotate("2025", 3);
    kms.lie = other.wrap(SampleFolders.key(4));

    assertThatThrownBy(() -> artifacts().store(FIRST, folder, Progress.NONE))
        .isInstanceOf(StoreException.KmsKeyMismatch.class);
  }

  @Test
  void aKmsThatReturnsAnotherKeyIsNoticed() throws IOException {
    artifacts().store(FIRST, folder, Progress.NONE);
    KeyService other =
        new KeyService() {
          @Override
          public String currentKeyId() {
            return "2026";
          }

          @Override
          public WrappedKey wrap(byte[] key) {
            throw new AssertionError("nothing is written");
          }

          @Override
          public byte[] unwrap(WrappedKey wrapped) {
            return SampleFolders.key(9);
          }
        };

    assertThatThrownBy(() -> fetched(StoreKeys.of(other)))
        .isInstanceOf(StoreException.WrongKey.class);
  }

  @Test
  void theSameKeyDoesNotOpenTheDataKeyOfAnotherNamespace() throws IOException {
    artifacts().store(FIRST, folder, Progress.NONE);
    Path foreign = Files.createDirectories(store.resolve("ns/ns-2/keys"));
    Files.copy(keyFile(), foreign.resolve(keyFile().getFileName()));

    assertThatThrownBy(() -> artifacts().store(new ArtifactId("ns-2", "a"), folder, Progress.NONE))
        .isInstanceOf(StoreException.WrongKey.class);
  }

  @Test
  void aStoreWithAnotherKindOfKeysIsRefused() throws IOException {
    artifacts(SECRET).store(FIRST, folder, Progress.NONE);
    assertThatThrownBy(() -> fetched(StoreKeys.of(kms)))
        .isInstanceOf(StoreException.MissingKey.class)
        .hasMessageContaining("got one by a Secret");
    Files.delete(keyFile());
    artifacts(StoreKeys.none()).store(SECOND, folder, Progress.NONE);
    assertThatThrownBy(() -> artifacts().inspect(SECOND))
        .isInstanceOf(StoreException.NotEncrypted.class);
    Files.delete(keyFile());
    artifacts().store(new ArtifactId("ns-1", "artifact-3"), folder, Progress.NONE);
    assertThatThrownBy(() -> artifacts(SECRET).inspect(new ArtifactId("ns-1", "artifact-3")))
        .isInstanceOf(StoreException.MissingKey.class)
        .hasMessageContaining("got one by a KMS");
  }

  @Test
  void theStoreDoesNotContainTheKeyInClear() throws IOException {
    artifacts().store(FIRST, folder, Progress.NONE);

    assertThat(Files.readString(keyFile(), StandardCharsets.UTF_8))
        .contains("\"keyId\":\"2026\"")
        .contains("version.kms.example.com");
    kms.away = true;
    assertThatThrownBy(() -> fetched(StoreKeys.of(kms)))
        .isInstanceOf(StoreException.KmsUnreachable.class);
  }

  @Test
  void aKmsIsTestedBeforeAnythingDependsOnIt() {
    assertThatCode(() -> StoreKeys.of(kms).require(new SecureRandom())).doesNotThrowAnyException();
    kms.away = true;
    assertThatThrownBy(() -> StoreKeys.of(kms).require(new SecureRandom()))
        .isInstanceOf(StoreException.KmsUnreachable.class);
    assertThatCode(() -> SECRET.require(new SecureRandom())).doesNotThrowAnyException();
  }

  @Test
  void aWrappedKeyBeyondTheLimitsOfTheApiIsRefused() {
    for (Runnable excess :
        new Runnable[] {
          () -> wrapped("", "00", Map.of()),
          () -> wrapped("k".repeat(1025), "00", Map.of()),
          () -> wrapped("ä".repeat(513), "00", Map.of()),
          () -> wrapped("k", "", Map.of()),
          () -> wrapped("k", "0", Map.of()),
          () -> wrapped("k", "0G", Map.of()),
          () -> wrapped("k", "AB", Map.of()),
          () -> wrapped("k", "00".repeat(1025), Map.of()),
          () -> wrapped("k", "00", Map.of("nodomain", "00")),
          () -> wrapped("k", "00", Map.of("A.example.com", "00")),
          () -> wrapped("k", "00", Map.of("a.example.com", "0")),
          () -> wrapped("k", "00", Map.of("a.example.com", "00".repeat(32 << 10))),
        }) {
      assertThatThrownBy(excess::run)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected");
    }
    wrapped("k".repeat(1024), "ff".repeat(1024), Map.of("a.b", "00".repeat((32 << 10) - 4)));
  }

  private static void wrapped(String keyId, String ciphertext, Map<String, String> annotations) {
    var unused = new WrappedKey(keyId, ciphertext, new TreeMap<>(annotations));
  }
}
