package dev.stasis.local.kubelet;

import static dev.stasis.local.testing.LocalLab.condition;
import static dev.stasis.local.testing.LocalLab.main;
import static dev.stasis.local.testing.LocalLab.phase;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.daemon.kubelet.PodContainers.Located;
import dev.stasis.local.testing.CgroupSearch;
import dev.stasis.local.testing.LocalLab;
import dev.stasis.local.testing.SimulatedGpus;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Real containers by runc, over a stand-in for the API server. */
class KubeletTest {

  private static final String GPU = "nvidia.com/gpu";

  @SuppressWarnings("NullAway.Init") // made before the first test
  private static SimulatedGpus gpus;

  @SuppressWarnings("NullAway.Init") // made before the first test
  private static LocalLab lab;

  @BeforeAll
  static void start() {
    gpus = SimulatedGpus.make(1);
    lab = LocalLab.start(gpus);
  }

  @AfterAll
  static void close() {
    lab.close();
    gpus.close();
  }

  private static PodBuilder withGpu(PodBuilder pod) {
    return pod.editSpec()
        .editFirstContainer()
        .editOrNewResources()
        .addToLimits(GPU, new Quantity("1"))
        .endResources()
        .endContainer()
        .endSpec();
  }

  @Test
  void aPodWithAGpuCountsOnItAndLeavesNothingBehind() throws IOException {
    Pod pod = lab.create(withGpu(lab.pod("counter", LocalLab.COUNTER)));
    pod = lab.await(pod, "ready", it -> condition(it, "Ready"));
    lab.awaitLog(pod, 0, "step 3 ");
    assertThat(pod.getStatus().getPhase()).isEqualTo("Running");
    assertThat(main(pod).getRestartCount()).isZero();
    assertThat(main(pod).getContainerID()).matches("runc://[0-9a-f]{64}");
    String uid = pod.getMetadata().getUid();
    LocalRuntime runtime = lab.kubelet().runtime();
    assertThat(runtime.of("default", "counter", "main")).hasSize(1);
    Located located = runtime.locate(uid, "main");
    assertThat(located).isInstanceOf(Located.Running.class);
    Located.Running running = (Located.Running) located;
    assertThat(running.process().argv()).startsWith("/bin/gpu-counter", "--mib");
    assertThat(runtime.byId(running.container().id())).contains(running.container());
    assertThat(running.container().image().portableName()).startsWith("sha256:");

    lab.client().resource(pod).delete();
    lab.awaitGone(pod);
    assertThat(lab.pods().resolve(uid)).doesNotExist();
    assertThat(Files.readString(Path.of("/proc/self/mountinfo"))).doesNotContain(uid);
    assertThat(new CgroupSearch(4).paths())
        .extracting(Path::toString)
        .noneMatch(it -> it.contains(uid));
    assertThat(runtime.locate(uid, "main")).isInstanceOf(Located.NotRunning.class);
  }

  @Test
  void initContainersFillVolumesBeforeTheirPodStarts() {
    String write = "read line </given/text; echo \"$line, $FROM, $NAME, $0, $1\"";
    Pod pod =
        lab.create(
            lab.shell("volumes", "unused")
                .editSpec()
                .withRestartPolicy("Never")
                .addNewVolume()
                .withName("given")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .withInitContainers(
                    new ContainerBuilder()
                        .withName("first")
                        .withImage(LocalLab.SHELL)
                        .withCommand("/bin/sh", "-c", "echo from init >/given/text")
                        .addNewVolumeMount()
                        .withName("given")
                        .withMountPath("/given")
                        .endVolumeMount()
                        .build())
                .editFirstContainer()
                .withCommand("/bin/sh", "-c", write)
                .withArgs("$(NAME)-argument", "$$(NAME)")
                .addNewEnv()
                .withName("NAME")
                .withNewValueFrom()
                .withNewFieldRef()
                .withFieldPath("metadata.name")
                .endFieldRef()
                .endValueFrom()
                .endEnv()
                .addNewVolumeMount()
                .withName("given")
                .withMountPath("/given")
                .endVolumeMount()
                .endContainer()
                .endSpec());
    pod = lab.await(pod, "succeeded", phase("Succeeded"));
    assertThat(lab.log(pod, 0)).isEqualTo("from init, image, volumes, volumes-argument, $(NAME)\n");
    assertThat(pod.getStatus().getInitContainerStatuses().get(0).getState().getTerminated())
        .satisfies(it -> assertThat(it.getExitCode()).isZero());
    lab.client().resource(pod).delete();
    lab.awaitGone(pod);
  }

  @Test
  void aKilledContainerIsRestartedAsItsPolicyRequires() {
    Pod always = lab.create(lab.shell("always", "echo begun; sleep 1000"));
    Pod never =
        lab.create(
            lab.shell("never", "echo begun; exit 3")
                .editSpec()
                .withRestartPolicy("Never")
                .endSpec());
    lab.await(always, "running", it -> condition(it, "Ready"));
    lab.awaitLog(always, 0, "begun");
    Located located = lab.kubelet().runtime().locate(always.getMetadata().getUid(), "main");
    assertThat(located).isInstanceOf(Located.Running.class);
    ProcessHandle.of(((Located.Running) located).process().id().pid())
        .orElseThrow()
        .destroyForcibly();
    Pod again = lab.await(always, "started anew", it -> main(it).getRestartCount() == 1);
    assertThat(main(again).getLastState().getTerminated().getExitCode()).isEqualTo(137);
    Pod failed = lab.await(never, "failed", phase("Failed"));
    assertThat(main(failed).getState().getTerminated().getExitCode()).isEqualTo(3);
    for (Pod pod : new Pod[] {again, failed}) {
      lab.client().resource(pod).delete();
      lab.awaitGone(pod);
    }
  }

  @Test
  void memoryIsResizedInPlaceBothWays() throws IOException {
    Pod pod =
        lab.create(
            lab.shell("resized", "sleep 1000")
                .editSpec()
                .editFirstContainer()
                .editOrNewResources()
                .withLimits(Map.of("memory", new Quantity("64Mi")))
                .endResources()
                .endContainer()
                .endSpec());
    pod = lab.await(pod, "ready", it -> condition(it, "Ready"));
    String id = main(pod).getContainerID();
    assertThat(limit(id)).isEqualTo(64L << 20);
    for (long mib : new long[] {128, 64}) {
      lab.client()
          .pods()
          .inNamespace("default")
          .withName("resized")
          .subresource("resize")
          .edit(
              it ->
                  new PodBuilder(it)
                      .editSpec()
                      .editFirstContainer()
                      .editResources()
                      .addToLimits("memory", new Quantity(mib + "Mi"))
                      .endResources()
                      .endContainer()
                      .endSpec()
                      .build());
      lab.await(
          pod,
          "resized",
          it ->
              Quantity.getAmountInBytes(main(it).getResources().getLimits().get("memory"))
                      .longValue()
                  == mib << 20);
      assertThat(limit(id)).isEqualTo(mib << 20);
    }
    assertThat(main(lab.get(pod)).getContainerID()).isEqualTo(id);
    lab.client().resource(pod).delete();
    lab.awaitGone(pod);
  }

  private static long limit(String containerId) throws IOException {
    String id = containerId.replace("runc://", "");
    Optional<Path> file =
        new CgroupSearch(5)
            .paths().stream()
                .filter(it -> it.endsWith(id))
                .flatMap(it -> Stream.of("memory.max", "memory.limit_in_bytes").map(it::resolve))
                .filter(Files::exists)
                .findFirst();
    return Long.parseLong(Files.readString(file.orElseThrow()).strip());
  }

  @Test
  void aPodIsReadyOnceItsProbeHasPassedAndItsGateIsOpen() throws IOException {
    Pod pod =
        lab.create(
            lab.shell("gated", "sleep 1000")
                .editSpec()
                .addNewReadinessGate("stasis.dev/restored")
                .addNewVolume()
                .withName("go")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .editFirstContainer()
                .addNewVolumeMount()
                .withName("go")
                .withMountPath("/go")
                .endVolumeMount()
                .withNewStartupProbe()
                .withNewExec()
                .withCommand("/bin/sh", "-c", "read line </go/now")
                .endExec()
                .withPeriodSeconds(1)
                .withTimeoutSeconds(30)
                .withFailureThreshold(100)
                .endStartupProbe()
                .endContainer()
                .endSpec());
    pod = lab.await(pod, "running", phase("Running"));
    assertThat(main(pod).getStarted()).isFalse();
    assertThat(main(pod).getReady()).isFalse();
    Path volume = lab.pods().resolve(pod.getMetadata().getUid()).resolve("volumes/go");
    Files.writeString(volume.resolve("now"), "go\n");
    Pod started = lab.await(pod, "started", it -> condition(it, "ContainersReady"));
    assertThat(condition(started, "Ready")).isFalse();
    lab.client()
        .pods()
        .inNamespace("default")
        .withName("gated")
        .editStatus(
            it ->
                new PodBuilder(it)
                    .editStatus()
                    .addToConditions(
                        new PodConditionBuilder()
                            .withType("stasis.dev/restored")
                            .withStatus("True")
                            .build())
                    .endStatus()
                    .build());
    Pod ready = lab.await(pod, "ready", it -> condition(it, "Ready"));
    assertThat(condition(ready, "stasis.dev/restored")).isTrue();
    lab.client().resource(pod).delete();
    lab.awaitGone(pod);
  }

  @Test
  void anUnsupportedFeatureIsRefusedByName() {
    Pod image = lab.create(lab.pod("image", "nobody/has-it:1"));
    Pod volume =
        lab.create(
            lab.shell("volume", "exit 0")
                .editSpec()
                .addNewVolume()
                .withName("claimed")
                .withNewPersistentVolumeClaim("data", false)
                .endVolume()
                .endSpec());
    image =
        lab.await(
            image,
            "waits",
            it ->
                it.getStatus().getContainerStatuses().size() == 1
                    && main(it).getState().getWaiting() != null
                    && main(it).getState().getWaiting().getMessage() != null);
    assertThat(main(image).getState().getWaiting().getReason()).isEqualTo("ErrImageNeverPull");
    assertThat(main(image).getState().getWaiting().getMessage())
        .contains("nobody/has-it:1", LocalLab.SHELL);
    volume = lab.await(volume, "failed", phase("Failed"));
    assertThat(volume.getStatus().getMessage())
        .isEqualTo(
            "volume claimed: a type other than emptyDir is not supported by the single-machine"
                + " mode");
    for (Pod pod : new Pod[] {image, volume}) {
      lab.client().resource(pod).delete();
      lab.awaitGone(pod);
    }
  }
}
