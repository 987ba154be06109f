package dev.stasis.agent.daemon.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.store.Encryption;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.Kms;
import dev.stasis.api.v1beta1.store.Layout;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.artifact.Progress;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A store whose data keys a KMS plugin wraps, over the real protocol. */
class KmsPluginTest {
  private static final ArtifactId ID = new ArtifactId("ns-1", "artifact-1");

  /** A plugin that hangs does so until its call is cancelled. */
  private static final CountDownLatch NEVER = new CountDownLatch(1);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private final RemoteStores remotes =
      new RemoteStores(name -> Map.of(), new NoClaims(), Clock.systemUTC());
  private final GpuCheckpointStore store = new GpuCheckpointStore();

  @SuppressWarnings("NullAway.Init")
  private FakeKmsPlugin plugin;

  @BeforeEach
  void startThePlugin() throws IOException {
    plugin = new FakeKmsPlugin(socket());
    store.getMetadata().setName("remote");
    store.setSpec(new GpuCheckpointStoreSpec());
    Path remote = Files.createDirectory(folder.resolve("remote"));
    store.getSpec().setLocation(StoreLocation.of(new SharedPath(remote.toString(), Layout.CHUNKS)));
    expect(null);
  }

  @AfterEach
  void stopThePlugin() throws InterruptedException {
    plugin.close();
  }

  private Path socket() {
    return folder.resolve("kms.sock");
  }

  private void expect(@Nullable String keyId) {
    store.getSpec().setEncryption(new Encryption(null, null, new Kms("unix://" + socket(), keyId)));
  }

  private void stored() throws IOException {
    Path artifact = Files.createDirectories(folder.resolve("artifact"));
    Files.writeString(artifact.resolve("memory"), "secret content");
    try (RemoteArtifacts remote = remotes.open(store)) {
      var unused = remote.store(ID, artifact, Progress.NONE);
    }
  }

  private String fetched() throws IOException {
    Path to = Files.createTempDirectory(folder, "fetched");
    try (RemoteArtifacts remote = remotes.open(store)) {
      var unused = remote.fetch(ID, null, to, Progress.NONE);
    }
    return Files.readString(to.resolve("memory"));
  }

  @Test
  void anArtifactIsFetchedByAnotherAgentAfterARotation() throws Exception {
    remotes.requireKeys(store);
    stored();

    plugin.close();
    plugin = new FakeKmsPlugin(socket());
    plugin.rotate("key-2");

    assertThat(fetched()).isEqualTo("secret content");
    try (RemoteArtifacts remote = remotes.open(store)) {
      assertThat(remote.rewrap("ns-1")).isTrue();
      assertThat(remote.rewrap("ns-1")).isFalse();
    }
    plugin.forget("key-1");
    assertThat(fetched()).isEqualTo("secret content");
  }

  @Test
  void theExpectedKeyIsAccepted() {
    expect("key-1");

    assertThatCode(() -> remotes.requireKeys(store)).doesNotThrowAnyException();
  }

  @Test
  void anotherKeyThanTheExpectedOneEncryptsNothingAndDecryptsWhatItHasEncrypted() throws Exception {
    stored();
    expect("key-2");

    assertThatThrownBy(() -> remotes.requireKeys(store))
        .isInstanceOf(StoreException.KmsKeyMismatch.class)
        .hasMessageContaining("expected key_id \"key-2\"")
        .hasMessageContaining("got \"key-1\"");
    assertThat(fetched()).isEqualTo("secret content");
  }

  @Test
  void aPluginThatIsGoneIsUnreachableAndItsSuccessorIsAsked() throws Exception {
    plugin.close();
    Files.deleteIfExists(socket());
    assertThatThrownBy(() -> remotes.requireKeys(store))
        .isInstanceOfSatisfying(
            StoreException.KmsUnreachable.class, e -> assertThat(e.isTransient()).isTrue())
        .hasMessageContaining("unix://" + socket());

    plugin = new FakeKmsPlugin(socket());
    assertThatCode(() -> remotes.requireKeys(store)).doesNotThrowAnyException();
  }

  @Test
  void aDestroyedKeyIsMissingAndAStrangersDataIsOfAWrongKey() throws Exception {
    stored();
    plugin.forget("key-1");
    assertThatThrownBy(this::fetched)
        .isInstanceOf(StoreException.MissingKey.class)
        .hasMessageContaining("no key key-1");

    plugin.close();
    plugin = new FakeKmsPlugin(socket());
    plugin.decrypted =
        answer -> {
          throw Status.INVALID_ARGUMENT.withDescription("bad\ndata").asRuntimeException();
        };
    assertThatThrownBy(this::fetched)
        .isInstanceOf(StoreException.WrongKey.class)
        .hasMessageContaining("bad data");
  }

  @Test
  void anErrorOfAnUnhealthyPluginSaysNothingAboutTheKey() throws Exception {
    stored();
    plugin.decrypted =
        answer -> {
          throw Status.UNKNOWN.withDescription("HSM is sealed").asRuntimeException();
        };
    plugin.status = answer -> answer.toBuilder().setHealthz("sealed").build();

    assertThatThrownBy(this::fetched)
        .isInstanceOf(StoreException.KmsUnhealthy.class)
        .hasMessageContaining("sealed");
  }

  static Stream<Arguments> faults() {
    return Stream.of(
        fault("hangs", StoreException.KmsUnreachable.class, "within 3 s", KmsPluginTest::hangs),
        fault(
            "is unhealthy",
            StoreException.KmsUnhealthy.class,
            "expected healthz ok, got \"sealed\"",
            plugin -> plugin.status = answer -> answer.toBuilder().setHealthz("sealed").build()),
        fault(
            "cannot reach its KMS",
            StoreException.KmsUnhealthy.class,
            "UNKNOWN: \"no route\"",
            plugin ->
                plugin.encrypted =
                    answer -> {
                      throw Status.UNKNOWN.withDescription("no route").asRuntimeException();
                    }),
        fault(
            "has another version",
            StoreException.KmsInvalidResponse.class,
            "expected version v2, got \"v1\"",
            plugin -> plugin.status = answer -> answer.toBuilder().setVersion("v1").build()),
        fault(
            "has no key",
            StoreException.KmsInvalidResponse.class,
            "key_id: expected 1 to 1024 bytes, got 0",
            plugin -> plugin.status = answer -> answer.toBuilder().setKeyId("").build()),
        fault(
            "has a key with a long ID",
            StoreException.KmsInvalidResponse.class,
            "key_id: expected 1 to 1024 bytes, got 1025",
            plugin ->
                plugin.status = answer -> answer.toBuilder().setKeyId("k".repeat(1025)).build()),
        fault(
            "encrypts by another key",
            StoreException.KmsKeyMismatch.class,
            "another key_id",
            plugin -> plugin.encrypted = answer -> answer.toBuilder().setKeyId("other").build()),
        fault(
            "encrypts to nothing",
            StoreException.KmsInvalidResponse.class,
            "ciphertext: expected 1 to 1024 bytes, got 0",
            plugin ->
                plugin.encrypted =
                    answer -> answer.toBuilder().setCiphertext(ByteString.EMPTY).build()),
        fault(
            "encrypts to too much",
            StoreException.KmsInvalidResponse.class,
            "ciphertext: expected 1 to 1024 bytes, got 1025",
            plugin ->
                plugin.encrypted = answer -> answer.toBuilder().setCiphertext(zeros(1025)).build()),
        fault(
            "answers with a megabyte",
            StoreException.KmsUnhealthy.class,
            "RESOURCE_EXHAUSTED",
            plugin ->
                plugin.encrypted =
                    answer -> answer.toBuilder().setCiphertext(zeros(1 << 20)).build()),
        fault(
            "adds too many annotations",
            StoreException.KmsInvalidResponse.class,
            "annotations: expected 0 to 32767 bytes",
            plugin ->
                plugin.encrypted =
                    answer -> answer.toBuilder().putAnnotations("a.b", zeros(32 << 10)).build()),
        fault(
            "adds an annotation without a domain",
            StoreException.KmsInvalidResponse.class,
            "expected domain names as keys",
            plugin ->
                plugin.encrypted =
                    answer -> answer.toBuilder().putAnnotations("a", zeros(1)).build()),
        fault(
            "does not decrypt what it has encrypted",
            StoreException.WrongKey.class,
            "INVALID_ARGUMENT: \"cannot be decrypted\"",
            plugin ->
                plugin.encrypted = answer -> answer.toBuilder().setCiphertext(zeros(48)).build()),
        fault(
            "decrypts to something else",
            StoreException.WrongKey.class,
            "got different bytes",
            plugin ->
                plugin.decrypted = answer -> answer.toBuilder().setPlaintext(zeros(32)).build()),
        fault(
            "decrypts to another length",
            StoreException.WrongKey.class,
            "expected a plaintext of 32 bytes, got 31",
            plugin ->
                plugin.decrypted = answer -> answer.toBuilder().setPlaintext(zeros(31)).build()));
  }

  private static Arguments fault(
      String plugin,
      Class<? extends StoreException> reason,
      String message,
      Consumer<FakeKmsPlugin> change) {
    return Arguments.of(plugin, reason, message, change);
  }

  private static ByteString zeros(int bytes) {
    return ByteString.copyFrom(new byte[bytes]);
  }

  private static void hangs(FakeKmsPlugin plugin) {
    plugin.status =
        answer -> {
          try {
            NEVER.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return answer;
        };
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void aPluginWithAFaultIsRefusedByNameAndNothingIsStored(
      String name,
      Class<? extends StoreException> reason,
      String message,
      Consumer<FakeKmsPlugin> fault) {
    fault.accept(plugin);

    assertThatThrownBy(() -> remotes.requireKeys(store))
        .as(name)
        .isInstanceOf(reason)
        .hasMessageContaining(message);
    assertThatThrownBy(this::stored).as(name).isInstanceOf(reason);
    assertThat(folder.resolve("remote/ns/ns-1")).doesNotExist();
  }
}
