package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.sweep.StagingSweep;
import dev.stasis.agent.daemon.sweep.SweepMark;
import dev.stasis.agent.tmpfs.StoreInMemory;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Obstacle;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import dev.stasis.artifact.SharedLookup;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The current or future location of an operation's artifact; never outside the folder of its
 * namespace.
 *
 * @param reference the artifact, as the operation names it
 * @param folder the folder of its namespace in the store
 * @param name its own folder in that
 * @param nodeLocal whether other nodes do not reach it
 * @param remote where it is uploaded to; null: it is not
 */
record ArtifactPlace(
    ArtifactReference reference,
    Path folder,
    String name,
    boolean nodeLocal,
    ClusterApi.@Nullable RemotePlace remote) {

  private static final System.Logger LOG = System.getLogger(ArtifactPlace.class.getName());
  private static final String REFUSED = "ArtifactRefused";
  private static final int WRITE_BY_OTHERS = 0022;

  /** Part of a file system that stays free for other writers: a twentieth. */
  private static final int KEPT_FREE = 20;

  /** Returns the location of an artifact that an operation without a pod names. */
  static ArtifactPlace of(ClusterApi cluster, ArtifactReference artifact)
      throws Refused, ApiUnreachable {
    return of(cluster, artifact, artifact.namespace());
  }

  /** The same for one whose digest the operation must name, too. */
  static ArtifactPlace withDigest(ClusterApi cluster, ArtifactReference artifact)
      throws Refused, ApiUnreachable {
    ArtifactPlace place = of(cluster, artifact);
    if (artifact.sha256() == null) {
      throw new Refused(REFUSED, "artifact.sha256", "a digest", "none");
    }
    return place;
  }

  /**
   * Returns the location of an artifact.
   *
   * @param namespace the namespace to which it must belong
   */
  static ArtifactPlace of(ClusterApi cluster, ArtifactReference artifact, String namespace)
      throws Refused, ApiUnreachable {
    if (!artifact.namespace().equals(namespace)) {
      throw new Refused("OtherNamespace", "artifact.namespace", namespace, artifact.namespace());
    }
    String[] parts = artifact.location().split("/", -1);
    // The name must leave space for what a staging folder adds.
    if (parts.length != 2
        || !parts[0].equals(namespace)
        || !parts[1].matches("[A-Za-z0-9][A-Za-z0-9._-]{0,199}")) {
      throw new Refused(
          "OtherNamespace",
          "artifact.location",
          namespace + "/NAME with at most 200 letters, digits, dots and dashes",
          artifact.location());
    }
    ClusterApi.StoreRoot root = cluster.store(artifact.store());
    return new ArtifactPlace(
        artifact, root.folder().resolve(parts[0]), parts[1], root.nodeLocal(), root.remote());
  }

  /** Opens an artifact, and refuses an invalid one. */
  static Artifact require(Opened opened) throws Refused {
    if (opened instanceof Opened.Refused refused) {
      throw new Refused(REFUSED, refused.property(), refused.wanted(), refused.found());
    }
    return ((Opened.Verified) opened).artifact();
  }

  /** Returns where it is uploaded to, and refuses a store without an upload. */
  ClusterApi.RemotePlace requireRemote() throws Refused {
    if (remote == null) {
      throw new Refused(
          "StoreNotRemote", "store " + reference.store(), "a remote store", "a folder");
    }
    return remote;
  }

  /** Returns its name in the remote store. */
  ArtifactId remoteId() throws Refused {
    String namespaceUid = reference.namespaceUid();
    try {
      if (namespaceUid != null) {
        return new ArtifactId(namespaceUid, reference.uid());
      }
    } catch (IllegalArgumentException e) {
      throw new Refused(REFUSED, "artifact", "UIDs", String.valueOf(e.getMessage()));
    }
    throw new Refused(REFUSED, "artifact.namespaceUid", "a UID", "none");
  }

  /** Fetches it from its remote store; nothing appears at its place before it is whole. */
  ArtifactStage.SealedArtifact fetch(
      RemoteArtifacts remote, ArtifactId id, Clock clock, Progress progress)
      throws StoreException, IOException {
    return fetch(remote, id, clock, progress, room());
  }

  ArtifactStage.SealedArtifact fetch(
      RemoteArtifacts remote, ArtifactId id, Clock clock, Progress progress, long room)
      throws StoreException, IOException {
    try (ArtifactStage stage = new ArtifactStore(folder, clock).stage(name)) {
      var unused = remote.fetch(id, null, stage.emptied(), room, progress);
      return stage.sealReceived(reference.sha256());
    }
  }

  /** Returns how much another agent or a store may write: the file system is shared. */
  long room() throws IOException {
    FileStore disk = Files.getFileStore(folder);
    return Math.max(0, disk.getUsableSpace() - disk.getTotalSpace() / KEPT_FREE);
  }

  /**
   * Deletes what an agent that was killed has left in the folder, before {@link #room} is read: an
   * interrupted download must not take the room of its own repetition.
   */
  void removeLeftovers(AgentParts parts) {
    StagingSweep sweep =
        new StagingSweep(
            staging -> parts.engine().artifactUse().of(staging).isPresent(), parts.clock());
    try {
      var unused = sweep.sweepNamespace(folder, !nodeLocal);
    } catch (IOException e) {
      LOG.log(Level.WARNING, "Leftovers not deleted: folder={0} error={1}", folder, e.toString());
    }
  }

  Path path() {
    return folder.resolve(name);
  }

  /** Copies of a remote store that were not used for long are deleted first. */
  void markUsed(Instant now) throws IOException {
    Files.setLastModifiedTime(path(), FileTime.from(now));
  }

  /**
   * Records that it is a copy of what its remote store has, so that it goes with its object. A
   * preemption may delete that before the next sweep, which would record it too.
   */
  void markCopy(Instant now) throws Refused {
    try {
      new SweepMark(path()).write(requireRemote().storeUid(), now);
    } catch (IOException e) {
      LOG.log(Level.WARNING, "Copy not marked: artifact={0} error={1}", path(), e.toString());
    }
  }

  boolean exists() throws IOException {
    return new SharedLookup(path()).exists();
  }

  /** Creates the namespace's folder, for root only. Refuses one that the agent cannot fill. */
  void createFolder() throws Refused, IOException {
    createFolder(StoreInMemory.ofThisAgent());
  }

  void createFolder(StoreInMemory memory) throws Refused, IOException {
    Path root = folder.getParent();
    if (root == null || !Files.isDirectory(root)) {
      throw new IOException("root of the store " + root + ": expected a folder");
    }
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Optional<String> inMemory = memory.obstacle(folder);
    if (inMemory.isPresent()) {
      throw new Refused(
          "StoreNotWritable",
          "store " + reference.store(),
          StoreInMemory.expected(),
          inMemory.get());
    }
  }

  /** Returns the status of a stored artifact. */
  ArtifactStatus status(String nodeName, Manifest manifest, String manifestSha256) {
    ArtifactStatus status = new ArtifactStatus();
    status.setStore(reference.store());
    status.setNode(nodeLocal ? nodeName : null);
    status.setDurability(remote == null ? null : remote.promises());
    status.setLocation(reference.location());
    status.setBytes(manifest.sizes().bytes());
    status.setSize(new HumanBytes(manifest.sizes().bytes()).text());
    status.setGpuBytes(manifest.sizes().gpuBytes());
    status.setSha256(manifestSha256);
    Manifest.Image image = manifest.image();
    status.setImage(image == null ? null : image.digest());
    List<Obstacle> obstacles = manifest.notPortable();
    status.setNotPortable(
        obstacles == null
            ? null
            : obstacles.stream()
                .map(
                    it -> Faults.of(Faults.NOT_PORTABLE, it.property(), it.expected(), it.actual()))
                .toList());
    return status;
  }

  /** Refuses an artifact of another object or namespace. */
  void requireOurs(Manifest found) throws Refused {
    Manifest.Origin origin = found.origin();
    if (!reference.namespace().equals(origin.namespace()) || !reference.uid().equals(origin.id())) {
      throw new Refused(
          "OtherNamespace",
          "owner of artifact " + reference.location(),
          reference.namespace() + " " + reference.uid(),
          origin.namespace() + " " + origin.id());
    }
  }

  /**
   * Refuses to delete or retain an artifact of another object. A damaged manifest does not identify
   * the object. In that case the folder's name must end with the object's uid, which is unique.
   * Without this exception a damaged artifact could never be deleted.
   */
  void requireDeletable() throws Refused {
    Fault damage;
    try {
      Opened opened = new ArtifactReader(1, Progress.NONE).inspect(path());
      if (opened instanceof Opened.Verified found) {
        requireOurs(found.artifact().manifest());
        return;
      }
      Opened.Refused refused = (Opened.Refused) opened;
      damage = Faults.of(REFUSED, refused.property(), refused.wanted(), refused.found());
    } catch (IOException e) {
      damage = Faults.of(REFUSED, "artifact", "a manifest that can be read", String.valueOf(e));
    }
    if (reference.uid().isBlank() || !name.endsWith("-" + reference.uid())) {
      throw new Refused(
          List.of(
              damage,
              Faults.of(
                  REFUSED,
                  "folder of the damaged artifact",
                  "a name that ends with -" + reference.uid(),
                  reference.location())));
    }
  }

  /**
   * Refuses a namespace's folder that other users than root can write to, because the checked
   * artifact could be replaced.
   */
  void requireTrustedFolder() throws Refused, IOException {
    boolean there = new SharedLookup(folder).exists();
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      throw new Refused(
          REFUSED, "namespace's folder " + folder, "a folder", there ? "a link or a file" : "none");
    }
    Map<String, Object> attributes =
        Files.readAttributes(folder, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
    if (!Integer.valueOf(0).equals(attributes.get("uid"))) {
      throw new Refused(REFUSED, "owner of " + folder, "uid 0", "uid " + attributes.get("uid"));
    }
    if (attributes.get("mode") instanceof Integer mode && (mode & WRITE_BY_OTHERS) != 0) {
      throw new Refused(
          REFUSED,
          "mode of " + folder,
          "one without write for group and others",
          "%04o".formatted(mode & 07777));
    }
  }
}
