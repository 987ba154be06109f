package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An artifact that has outlived its GpuCheckpoint, as docs/import.md tells it. */
@ExtendWith(OnACluster.class)
class ImportTest {

  @Test
  void aRetainedArtifactIsImportedUnderAnotherNameAndADamagedCopyIsRefused(Scenario scenario)
      throws IOException {
    try (SharedStore store = SharedStore.make(scenario)) {
      Workload workload = Workload.start(scenario, "trainer");
      GpuCheckpointStatus made =
          CheckpointRequest.apply(
                  scenario,
                  "train-1",
                  "trainer",
                  "storageRef: {name: " + store.name() + "}",
                  "options: {deletionPolicy: Retain}")
              .awaitReady();
      ArtifactStatus artifact = Present.in("status.artifact", made.getArtifact());
      Workload back = workload.broughtBackAs("trainer");
      workload.delete();
      scenario.kubectl("delete", "gckpt/train-1", "--wait=true", Scenario.TIMEOUT);
      Path namespace = store.folder().resolve(scenario.namespace());
      Path stayed =
          store.folder().resolve(Present.in("status.artifact.location", artifact.getLocation()));
      assertThat(stayed).as("what a Retain leaves").isDirectory();
      Path moved = Files.move(stayed, namespace.resolve("from-elsewhere"));
      damage(copy(moved, namespace.resolve("damaged")));

      CheckpointRequest damaged =
          imported(scenario, store, "damaged", "damaged", "sha256: " + artifact.getSha256());
      CheckpointRequest whole =
          imported(scenario, store, "train-2", "from-elsewhere", "sha256: " + artifact.getSha256());

      GpuCheckpointStatus refused = damaged.awaitEnd();
      assertThat(refused.getPhase()).isEqualTo(CheckpointPhase.FAILED);
      assertThat(CheckpointRequest.condition(refused, "Ready").reason()).isEqualTo("NotImported");
      assertThat(CheckpointRequest.faults(refused).get(0).message())
          .startsWith("sha256 of ")
          .contains("expected", "got");
      GpuCheckpointStatus ready = whole.awaitReady();
      assertThat(CheckpointRequest.phases(ready)).containsExactly("Pending", "Importing", "Ready");
      RestoreRequest.apply(scenario, "back", "train-2").awaitSucceeded();
      back.verifyGoesOn();
      assertThat(back.restarts()).isZero();

      scenario.kubectl("delete", "gckpt", "damaged", "train-2", "--wait=true", Scenario.TIMEOUT);
      assertThat(moved).as("goes with the object that imported it").doesNotExist();
      assertThat(namespace.resolve("damaged")).as("was never anybody's").isDirectory();
    }
  }

  /** The example of the docs, with what is so here. */
  private static CheckpointRequest imported(
      Scenario scenario, SharedStore store, String name, String folder, String sha256)
      throws IOException {
    String example =
        Files.readString(Checkout.ofThisBuild().root().resolve("examples/import.yaml"));
    scenario.apply(
        example
            .replace("name: train-2", "name: " + name)
            .replaceFirst("location: .*", "location: " + scenario.namespace() + "/" + folder)
            .replaceFirst("nodeName: .*", sha256)
            .replaceFirst("options:\\n.*", "storageRef: {name: " + store.name() + "}"));
    return new CheckpointRequest(scenario, name);
  }

  private static Path copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Files.copy(
            path, to.resolve(from.relativize(path).toString()), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    return to;
  }

  /** Flips a bit of what its largest file holds. */
  private static void damage(Path artifact) throws IOException {
    try (Stream<Path> all = Files.walk(artifact)) {
      Path largest =
          all.filter(Files::isRegularFile)
              .max(java.util.Comparator.comparingLong(path -> path.toFile().length()))
              .orElseThrow();
      byte[] bytes = Files.readAllBytes(largest);
      int at = bytes.length / 2;
      while (bytes[at] == 0) {
        at = (at + 1) % bytes.length; // what is zero may lie in a hole
      }
      bytes[at] ^= 1;
      Files.write(largest, bytes);
    }
  }
}
