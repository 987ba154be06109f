package dev.stasis.agent.daemon.remote;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.Encryption;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.Kms;
import dev.stasis.api.v1beta1.store.S3;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.store.BlobStore;
import dev.stasis.store.BufferPool;
import dev.stasis.store.Compression;
import dev.stasis.store.FolderBlobs;
import dev.stasis.store.MountedBlobs;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import dev.stasis.store.StoreKeys;
import dev.stasis.store.VolumeMark;
import dev.stasis.store.s3.S3Blobs;
import dev.stasis.store.s3.S3Settings;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Opens remote stores. Secrets are read for each use, so that a change of one counts at once. */
public final class RemoteStores {

  /** Each chunk in progress takes 6 MiB, in a program of a few hundred MiB. */
  private static final int MOST_THREADS = 8;

  /**
   * Retries cannot succeed: after an unmount the volume has another mount, which the next use looks
   * up.
   */
  private static final Duration NO_PATIENCE = Duration.ZERO;

  private final Secrets secrets;
  private final ClaimMounts mounts;
  private final Clock clock;
  private final SecureRandom random = new SecureRandom();
  private final BufferPool pool = new BufferPool();

  /** Opens them with those Secrets, and those volumes of claims. */
  public RemoteStores(Secrets secrets, ClaimMounts mounts, Clock clock) {
    this.secrets = secrets;
    this.mounts = mounts;
    this.clock = clock;
  }

  /** Reads Secrets. */
  public interface Secrets {
    /** Returns the entries of a Secret. */
    Map<String, byte[]> read(String name) throws StoreException;
  }

  /** Opens a store whose artifacts are uploaded. */
  public RemoteArtifacts open(GpuCheckpointStore store) throws StoreException {
    GpuCheckpointStoreSpec spec = store.getSpec();
    StoreKeys keys = keys(spec.getEncryption());
    S3 s3 = spec.getLocation().s3();
    if (s3 != null) {
      return opened(bucket(s3), keys, Compression.ZSTD, RemoteArtifacts.PATIENCE);
    }
    ClaimVolume claim = spec.getLocation().persistentVolumeClaim();
    if (claim != null) {
      return opened(volume(store, claim), keys, Compression.LZ4, NO_PATIENCE);
    }
    SharedPath shared =
        Objects.requireNonNull(
            spec.getLocation().sharedPath(), "a store for uploads has a location");
    return opened(folder(shared), keys, Compression.LZ4, RemoteArtifacts.PATIENCE);
  }

  private RemoteArtifacts opened(
      BlobStore blobs, StoreKeys keys, Compression compression, Duration patience) {
    return new RemoteArtifacts(blobs, keys, compression, clock, threads(), patience, pool);
  }

  /**
   * Tries out the keys of a store, so that a workload is not frozen for an artifact that cannot be
   * encrypted.
   *
   * @throws StoreException if something cannot be encrypted with them at present
   */
  public void requireKeys(GpuCheckpointStore store) throws StoreException {
    keys(store.getSpec().getEncryption()).require(random);
  }

  /**
   * Asks for the health of a store's KMS plugin, which is meant to be polled.
   *
   * @throws StoreException if the plugin cannot encrypt at present
   */
  void requireHealthyKms(GpuCheckpointStore store) throws StoreException {
    Encryption encryption = store.getSpec().getEncryption();
    Kms kms = encryption == null ? null : encryption.kms();
    if (kms != null) {
      var unused = new KmsPlugin(kms).currentKeyId();
    }
  }

  /**
   * Returns the identity of the volume that this node has for a store's claim; null for a store
   * without a claim. A volume without an identity gets one, unless the store has used another.
   *
   * @throws StoreException if the volume is not mounted on this node
   */
  public @Nullable String volumeId(GpuCheckpointStore store) throws StoreException {
    if (store.getSpec().getLocation().persistentVolumeClaim() == null) {
      return null;
    }
    VolumeMark mark = new VolumeMark(blobs(mounts.find(store)), random);
    return known(store) == null ? mark.readOrCreate() : mark.read().orElse(null);
  }

  /** Returns the folder of a store that is not a bucket. */
  @Nullable Path folder(GpuCheckpointStore store) throws StoreException {
    SharedPath shared = store.getSpec().getLocation().sharedPath();
    if (shared != null) {
      return Path.of(shared.path());
    }
    return store.getSpec().getLocation().persistentVolumeClaim() == null
        ? null
        : mounts.find(store).root();
  }

  /** Opens the volume that the store has always used: an empty one is not an empty store. */
  private BlobStore volume(GpuCheckpointStore store, ClaimVolume claim) throws StoreException {
    String id = known(store);
    if (id == null) {
      throw new StoreException.Unreachable(
          "claim %s: expected the identity of its volume in the status of the store, got none yet"
              .formatted(claim.claimName()),
          null);
    }
    BlobStore blobs = blobs(mounts.find(store));
    Optional<String> actual = new VolumeMark(blobs, random).read();
    if (!actual.equals(Optional.of(id))) {
      throw new StoreException.Foreign(
          ("volume of claim %s on this node: expected identity %s, got %s; mount the volume with"
                  + " the artifacts, or create another store for an empty one")
              .formatted(claim.claimName(), id, actual.orElse("none")));
    }
    return blobs;
  }

  private static BlobStore blobs(ClaimMounts.MountedVolume volume) {
    return new MountedBlobs(new FolderBlobs(volume.root()), volume.mount());
  }

  private static @Nullable String known(GpuCheckpointStore store) {
    return Optional.ofNullable(store.getStatus())
        .map(GpuCheckpointStoreStatus::getVolume)
        .map(VolumeStatus::id)
        .orElse(null);
  }

  private BlobStore bucket(S3 s3) throws StoreException {
    String name = s3.credentialsSecretName();
    Map<String, byte[]> secret = secrets.read(name);
    byte[] token = secret.get("AWS_SESSION_TOKEN");
    String endpoint = s3.endpoint();
    return S3Blobs.open(
        new S3Settings(
            endpoint == null ? null : URI.create(endpoint),
            Objects.requireNonNullElse(s3.region(), "us-east-1"),
            Boolean.TRUE.equals(s3.pathStyle()),
            s3.bucket(),
            Objects.requireNonNullElse(s3.prefix(), ""),
            new S3Settings.StaticKey(
                required(name, secret, "AWS_ACCESS_KEY_ID"),
                required(name, secret, "AWS_SECRET_ACCESS_KEY"),
                token == null ? null : text(token)),
            s3.caBundle(),
            new S3Settings.BucketDefault()));
  }

  private static String required(String name, Map<String, byte[]> secret, String key)
      throws StoreException {
    byte[] value = secret.get(key);
    if (value == null) {
      throw new StoreException.WrongCredentials(
          "Secret %s: expected key %s, got %s".formatted(name, key, new TreeSet<>(secret.keySet())),
          null);
    }
    return text(value);
  }

  /** A line end that an editor added is not part of a key. */
  private static String text(byte[] value) {
    return new String(value, StandardCharsets.UTF_8).strip();
  }

  private static BlobStore folder(SharedPath shared) throws StoreException {
    Path root = Path.of(shared.path());
    // A folder that was created here would be on the disk of this node.
    if (!Files.isDirectory(root)) {
      throw new StoreException.NotFound(
          "location.sharedPath.path %s: expected a folder, got none".formatted(root), null);
    }
    return new FolderBlobs(root);
  }

  private StoreKeys keys(@Nullable Encryption encryption) throws StoreException {
    if (encryption == null) {
      return StoreKeys.none();
    }
    Kms kms = encryption.kms();
    if (kms != null) {
      return StoreKeys.of(new KmsPlugin(kms));
    }
    String secret = Objects.requireNonNull(encryption.secretName(), "the schema requires it");
    try {
      return StoreKeys.of(
          Objects.requireNonNull(encryption.key(), "the schema requires it"), secrets.read(secret));
    } catch (IllegalArgumentException e) {
      throw new StoreException.MissingKey("Secret %s: %s".formatted(secret, e.getMessage()));
    }
  }

  private static int threads() {
    return Math.max(2, Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors() / 2));
  }
}
