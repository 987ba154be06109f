package dev.stasis.agent.daemon.sweep;

import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Hardware;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.NodeFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Artifacts for sweeps, which read only whose they are. */
final class SweptArtifacts {

  private SweptArtifacts() {}

  /** Writes the artifact of an object into the folder NAMESPACE/UID. */
  static Path write(Path root, String namespace, String uid, byte[] bytes) throws IOException {
    Path folder = Files.createDirectories(root.resolve(namespace));
    try (ArtifactStage stage = new ArtifactStore(folder, Clock.systemUTC()).stage(uid)) {
      stage.seal(manifest(namespace, uid), 1, (done, total) -> {});
    }
    Path artifact = folder.resolve(uid);
    Files.write(artifact.resolve("memory"), bytes);
    return artifact;
  }

  static Manifest manifest(String namespace, String uid) {
    return new Manifest(
        Manifest.FORMAT_VERSION,
        new Manifest.Origin(uid, namespace, null, null, Instant.EPOCH, "0.1.0"),
        new NodeFacts("node1", "6.18", "x86_64", Set.of("avx2"), "4.2.1", "580", 13000),
        new Hardware(List.of(), List.of()),
        List.of(),
        List.of(),
        List.of(),
        null,
        new Manifest.User(0, 0),
        new Manifest.Sizes(0, 0),
        List.of(),
        Map.of(),
        Map.of(),
        new Manifest.DataPath(Manifest.DataPath.Kind.MOVER, "every rule holds"),
        List.of(),
        List.of(),
        null,
        null);
  }
}
