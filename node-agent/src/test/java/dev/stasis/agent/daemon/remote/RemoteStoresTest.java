package dev.stasis.agent.daemon.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.store.Encryption;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.Layout;
import dev.stasis.api.v1beta1.store.S3;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteStoresTest {

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private final Map<String, byte[]> secret = new HashMap<>();
  private final RemoteStores remotes =
      new RemoteStores(name -> secret, new NoClaims(), Clock.systemUTC());

  private static GpuCheckpointStore store() {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName("remote");
    store.setSpec(new GpuCheckpointStoreSpec());
    return store;
  }

  private GpuCheckpointStore chunks(Path path) {
    GpuCheckpointStore store = store();
    store.getSpec().setLocation(StoreLocation.of(new SharedPath(path.toString(), Layout.CHUNKS)));
    return store;
  }

  private static GpuCheckpointStore bucket() {
    GpuCheckpointStore store = store();
    store
        .getSpec()
        .setLocation(
            StoreLocation.of(
                new S3("http://127.0.0.1:1", null, "checkpoints", "a", true, "s3", null)));
    return store;
  }

  @Test
  void aFolderThatIsMountedCanBeUsed() throws Exception {
    try (RemoteArtifacts remote = remotes.open(chunks(folder))) {
      remote.probe();
    }
  }

  @Test
  void aFolderThatIsNotMountedIsNotCreatedOnTheNode() {
    Path missing = folder.resolve("missing");

    assertThatThrownBy(() -> remotes.open(chunks(missing)))
        .isInstanceOf(StoreException.NotFound.class)
        .hasMessageContaining("expected a folder");
    assertThat(missing).doesNotExist();
  }

  @Test
  void aKeyThatTheSecretDoesNotHaveIsNamed() {
    GpuCheckpointStore store = chunks(folder);
    store.getSpec().setEncryption(new Encryption("keys", "2027", null));
    secret.put("2026", new byte[32]);

    assertThatThrownBy(() -> remotes.open(store))
        .isInstanceOf(StoreException.MissingKey.class)
        .hasMessageContaining("Secret keys")
        .hasMessageContaining("2027");
  }

  @Test
  void aSecretWithoutCredentialsIsNamedAndItsValuesAreNot() {
    secret.put("AWS_ACCESS_KEY_ID", "id-of-nobody".getBytes(StandardCharsets.UTF_8));

    assertThatThrownBy(() -> remotes.open(bucket()))
        .isInstanceOf(StoreException.WrongCredentials.class)
        .hasMessageContaining("AWS_SECRET_ACCESS_KEY")
        .hasMessageNotContaining("id-of-nobody");
  }

  @Test
  void aServerThatDoesNotAnswerIsUnreachable() throws Exception {
    secret.put("AWS_ACCESS_KEY_ID", "id".getBytes(StandardCharsets.UTF_8));
    secret.put("AWS_SECRET_ACCESS_KEY", "value\n".getBytes(StandardCharsets.UTF_8));

    try (RemoteArtifacts remote = remotes.open(bucket())) {
      assertThatThrownBy(remote::probe).isInstanceOf(StoreException.Unreachable.class);
    }
  }
}
