package dev.stasis.agent.daemon.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.daemon.kubelet.ContainerProcess;
import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.store.StoreException;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The volume of a mount pod: a process with mounts of its own stands for its container. */
class MountPodsTest {

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private final ProcFs proc = new ProcFs();
  private final GpuCheckpointStore store = new GpuCheckpointStore();
  private final List<Pod> pods = new ArrayList<>();
  private @Nullable Process process;

  @BeforeEach
  void aStoreHasAClaim() {
    store.getMetadata().setName("claim");
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new ClaimVolume("checkpoints")));
    pods.add(pod("checkpoints"));
  }

  @AfterEach
  void endTheProcess() throws Exception {
    if (process != null) {
      process.destroyForcibly().waitFor();
    }
  }

  private static Pod pod(String claim) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("stasis-store-claim-x")
        .withUid("uid-1")
        .endMetadata()
        .withNewSpec()
        .addNewVolume()
        .withName("volume")
        .withNewPersistentVolumeClaim(claim, false)
        .endVolume()
        .endSpec()
        .withNewStatus()
        .withPhase("Pending")
        .endStatus()
        .build();
  }

  /** Starts a process whose root is a folder, with the volume mounted there or not. */
  private Process start(boolean mounted) throws Exception {
    Path root = Files.createDirectory(folder.resolve("root")).toRealPath();
    Files.createDirectories(root.resolve("volume"));
    Path volume = Files.createDirectory(folder.resolve("disk"));
    Files.writeString(volume.resolve("content"), "of the volume");
    Path runtime =
        Path.of(System.getProperty("stasis.runtime", "../runtime/target/stasis-runtime"));
    Files.copy(runtime.toAbsolutePath(), root.resolve("stasis-runtime"));
    String mount = mounted ? "mount --bind " + volume + " " + root + "/volume && " : "";
    Process started =
        new ProcessBuilder(
                "unshare",
                "-m",
                "sh",
                "-c",
                mount + "echo ready && exec chroot " + root + " /stasis-runtime pause")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    process = started;
    assertThat(started.getInputStream().read()).as("the volume is mounted").isEqualTo('r');
    // The shell has become the program once its root is another one.
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                proc.link((int) started.pid(), "root")
                    .filter(link -> link.equals(root.toString()))
                    .isPresent());
    return started;
  }

  private MountPods mountPods() {
    return new MountPods(
        name -> pods,
        "stasis-system",
        "gpu-1",
        new PodContainers() {
          @Override
          public Located locate(String podUid, String container) {
            Process running = process;
            if (running == null) {
              return new Located.NotRunning("expected it to run");
            }
            assertThat(podUid).isEqualTo("uid-1");
            assertThat(container).isEqualTo("mount");
            return new Located.Running(
                new PodContainer(
                    "stasis-system",
                    "stasis-store-claim-x",
                    podUid,
                    container,
                    "0",
                    new PodContainer.Image("", "", List.of()),
                    List.of()),
                new ContainerProcess(
                    proc.id((int) running.pid()).orElseThrow(), List.of(), List.of()));
          }

          @Override
          public String version() {
            return "test";
          }

          @Override
          public Optional<PodContainer> byId(String containerId) {
            return Optional.empty();
          }
        },
        proc);
  }

  @Test
  void theVolumeIsReachedThroughTheProcessAndNotAfterIt() throws Exception {
    Process running = start(true);

    ClaimMounts.MountedVolume volume = mountPods().find(store);

    assertThat(volume.root().resolve("content")).hasContent("of the volume");
    Files.writeString(volume.root().resolve("written"), "by the agent");
    assertThat(folder.resolve("disk/written")).hasContent("by the agent");
    assertThat(volume.root().toFile().getTotalSpace())
        .as("size of the file system")
        .isEqualTo(folder.resolve("disk").toFile().getTotalSpace());
    volume.mount().require();
    assertThat(running.destroyForcibly().waitFor()).isNotZero();
    assertThatThrownBy(() -> volume.mount().require())
        .isInstanceOf(StoreException.Unreachable.class)
        .hasMessageContaining("keep the volume mounted");
    assertThatThrownBy(() -> Files.writeString(volume.root().resolve("late"), "lost"))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void aFolderWithoutAMountIsNotTakenForTheVolume() throws Exception {
    var unused = start(false);

    assertThatThrownBy(() -> mountPods().find(store))
        .isInstanceOf(StoreException.Unreachable.class)
        .hasMessageContaining("expected a mount at /volume, got none");
  }

  @Test
  void aPodThatDoesNotRunIsNamedWithItsPhase() {
    assertThatThrownBy(() -> mountPods().find(store))
        .isInstanceOf(StoreException.Unreachable.class)
        .hasMessageContaining("mount pod stasis-system/stasis-store-claim-x: expected it to run")
        .hasMessageContaining("Pending");
  }

  @Test
  void aPodOfAnotherClaimOrOneThatEndsDoesNotCount() {
    pods.set(0, pod("another"));
    Pod ending = pod("checkpoints");
    ending.getMetadata().setDeletionTimestamp("2026-11-25T10:00:00Z");
    pods.add(ending);

    assertThatThrownBy(() -> mountPods().find(store))
        .isInstanceOf(StoreException.Unreachable.class)
        .hasMessageContaining("claim stasis-system/checkpoints: expected one on node gpu-1")
        .hasMessageContaining("stasis.dev/store=claim");
  }
}
