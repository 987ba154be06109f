package dev.stasis.agent.daemon.sweep;

import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Sweeps the root of one store. An artifact is deleted only if its object once specified that it is
 * deleted with the object (recorded beside the artifact), and has been gone for the grace period.
 * An artifact that is to be retained, or without any known object, stays.
 */
public final class ArtifactSweep {

  private static final System.Logger LOG = System.getLogger(ArtifactSweep.class.getName());

  private final Duration grace;
  private final Predicate<Path> needed;
  private final Clock clock;

  /**
   * A sweep.
   *
   * @param grace how long an object must be gone
   * @param needed returns whether an operation on this node needs the artifact
   */
  public ArtifactSweep(Duration grace, Predicate<Path> needed, Clock clock) {
    this.grace = grace;
    this.needed = needed;
    this.clock = clock;
  }

  /**
   * Identifies an artifact's object in the cluster.
   *
   * @param namespace from the manifest
   * @param uid from the manifest
   * @param folder the artifact's own folder if it was imported, since copies with other objects or
   *     none may exist; null for any folder
   */
  public record Owner(String namespace, String uid, @Nullable String folder) {
    /** Returns the identity of the object for which the artifact was written. */
    public Owner(String namespace, String uid) {
      this(namespace, uid, null);
    }
  }

  /**
   * Sweeps the store.
   *
   * @param root the store's root
   * @param store uid of the store
   * @param objects returns for every object in some namespaces whether its artifact is deleted with
   *     it; not called if there are no artifacts
   * @return the removed artifacts
   */
  public List<Path> sweep(
      Path root, String store, Function<Set<String>, Map<Owner, Boolean>> objects)
      throws IOException {
    Map<Path, Owner> artifacts = artifacts(root);
    if (artifacts.isEmpty()) {
      return List.of();
    }
    Map<Owner, Boolean> there =
        objects.apply(
            artifacts.values().stream().map(Owner::namespace).collect(Collectors.toSet()));
    List<Path> removed = new ArrayList<>();
    for (Map.Entry<Path, Owner> each : artifacts.entrySet()) {
      Path artifact = each.getKey();
      if (isDue(artifact, store, known(each.getValue(), artifact, there))
          && !needed.test(artifact)) {
        remove(artifact);
        removed.add(artifact);
      }
    }
    return removed;
  }

  /** Returns the artifacts below the root of a store. */
  static Map<Path, Owner> artifacts(Path root) throws IOException {
    Map<Path, Owner> artifacts = new LinkedHashMap<>();
    for (Path namespace : folders(root)) {
      removeMarksWithoutArtifact(namespace);
      for (Path artifact : folders(namespace)) {
        owner(artifact).ifPresent(owner -> artifacts.put(artifact, owner));
      }
    }
    return artifacts;
  }

  private static void removeMarksWithoutArtifact(Path namespace) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(namespace)) {
      for (Path entry : entries) {
        Optional<SweepMark> mark = SweepMark.of(entry);
        if (mark.isPresent() && !Files.exists(mark.get().artifact(), LinkOption.NOFOLLOW_LINKS)) {
          mark.get().remove();
        }
      }
    } catch (NoSuchFileException e) {
      LOG.log(Level.DEBUG, "Folder deleted before it was swept: {0}", namespace);
    }
  }

  private static @Nullable Boolean known(Owner owner, Path artifact, Map<Owner, Boolean> objects) {
    Boolean imported =
        objects.get(new Owner(owner.namespace(), owner.uid(), "" + artifact.getFileName()));
    return imported == null ? objects.get(owner) : imported;
  }

  private boolean isDue(Path artifact, String store, @Nullable Boolean goesWithIt)
      throws IOException {
    SweepMark mark = new SweepMark(artifact);
    if (goesWithIt != null) {
      if (goesWithIt) {
        mark.write(store, clock.instant());
      } else {
        mark.remove();
      }
      return false;
    }
    return mark.seen(store).filter(seen -> seen.plus(grace).isBefore(clock.instant())).isPresent();
  }

  private void remove(Path artifact) throws IOException {
    new ArtifactStore(Objects.requireNonNull(artifact.getParent()), clock)
        .delete(artifact.getFileName().toString());
    new SweepMark(artifact).remove();
    LOG.log(Level.INFO, "Deleted an artifact without an object: artifact=" + artifact);
  }

  /**
   * Returns the owner that the manifest names; empty if this is no artifact or cannot be read. Such
   * a folder is kept, and the sweep continues.
   */
  private static Optional<Owner> owner(Path artifact) {
    Opened opened;
    try {
      opened = new ArtifactReader(1, Progress.NONE).inspect(artifact);
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "Not swept: artifact={0} error={1}", artifact, e.toString());
      return Optional.empty();
    }
    if (!(opened instanceof Opened.Verified verified)) {
      return Optional.empty();
    }
    Manifest.Origin origin = verified.artifact().manifest().origin();
    return Optional.ofNullable(origin.namespace())
        .map(namespace -> new Owner(namespace, origin.id()));
  }

  /** Returns the visible folders in a folder; links are not followed. */
  public static List<Path> folders(Path parent) throws IOException {
    List<Path> folders = new ArrayList<>();
    if (Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent)) {
        for (Path entry : entries) {
          if (!entry.getFileName().toString().startsWith(".")
              && Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
            folders.add(entry);
          }
        }
      } catch (NoSuchFileException e) {
        // Deleted meanwhile.
        return List.of();
      }
    }
    return folders;
  }
}
