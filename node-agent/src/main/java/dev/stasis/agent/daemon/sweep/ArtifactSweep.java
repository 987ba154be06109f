package dev.stasis.agent.daemon.sweep;

import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Opened;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
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
 * Sweeps the root of one store. An artifact goes only when its object was seen to say that it goes
 * with it, which is written down beside it, and has been gone for the grace; so one that is to be
 * retained, or of which nobody ever knew, stays.
 */
public final class ArtifactSweep {

  private static final System.Logger LOG = System.getLogger(ArtifactSweep.class.getName());

  private final Duration grace;
  private final Predicate<Path> needed;
  private final Clock clock;

  /**
   * A sweep.
   *
   * @param grace how long an object has to be gone
   * @param needed whether work in hand on this node needs that artifact, so that it stays
   */
  public ArtifactSweep(Duration grace, Predicate<Path> needed, Clock clock) {
    this.grace = grace;
    this.needed = needed;
    this.clock = clock;
  }

  /**
   * An object of the cluster, by which artifacts are known.
   *
   * @param namespace as the manifest says it
   * @param uid as the manifest says it
   * @param folder the artifact's own folder, where it was imported: there may be copies of it, with
   *     other objects or none; null: whatever it is called
   */
  public record Owner(String namespace, String uid, @Nullable String folder) {
    /** The object for which the artifact was made. */
    public Owner(String namespace, String uid) {
      this(namespace, uid, null);
    }
  }

  /**
   * Sweeps.
   *
   * @param root the store's root
   * @param store uid of the store
   * @param objects tells of every object that there is in some namespaces whether its artifact goes
   *     with it; not asked where no artifacts are
   * @return the artifacts that were removed
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

  private static Map<Path, Owner> artifacts(Path root) throws IOException {
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
    LOG.log(Level.INFO, "artifact " + artifact + " is removed: its object is gone");
  }

  /** As its manifest says, whatever the folder is called; empty for what is no artifact. */
  private static Optional<Owner> owner(Path artifact) throws IOException {
    Opened opened = new ArtifactReader(1, (done, total) -> {}).inspect(artifact);
    if (!(opened instanceof Opened.Verified verified)) {
      return Optional.empty();
    }
    Manifest.Origin origin = verified.artifact().manifest().origin();
    return Optional.ofNullable(origin.namespace())
        .map(namespace -> new Owner(namespace, origin.id()));
  }

  static List<Path> folders(Path parent) throws IOException {
    List<Path> folders = new ArrayList<>();
    if (Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent)) {
        for (Path entry : entries) {
          if (!entry.getFileName().toString().startsWith(".")
              && Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
            folders.add(entry);
          }
        }
      }
    }
    return folders;
  }
}
