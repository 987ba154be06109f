package dev.stasis.agent.daemon.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.testing.KubeNode;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class CriRuntimeTest {

  private final ProcFs proc = new ProcFs();

  @Test
  @Tag("kubelet")
  void aRunningContainerIsFoundWithItsProcessArgvImageAndEmptyDirs() throws Exception {
    try (KubeNode node = KubeNode.required();
        NodeSocket socket = new NodeSocket(node.criSocket())) {
      Pod pod =
          node.start(
              node.pod("one", "sh", "-c", "exec sleep 1000")
                  .editSpec()
                  .addNewVolume()
                  .withName("scratch")
                  .withNewEmptyDir()
                  .endEmptyDir()
                  .endVolume()
                  .editFirstContainer()
                  .withWorkingDir("/tmp")
                  .addNewEnv()
                  .withName("COLOUR")
                  .withValue("green")
                  .endEnv()
                  .addNewVolumeMount()
                  .withName("scratch")
                  .withMountPath("/scratch")
                  .endVolumeMount()
                  .addNewVolumeMount()
                  .withName("scratch")
                  .withMountPath("/part")
                  .withSubPath("below")
                  .withReadOnly(true)
                  .endVolumeMount()
                  .endContainer()
                  .endSpec()
                  .build());
      String uid = pod.getMetadata().getUid();

      PodContainers.Located located = new CriRuntime(socket, proc).locate(uid, "main");

      assertThat(located).isInstanceOf(PodContainers.Located.Running.class);
      var running = (PodContainers.Located.Running) located;
      PodContainer container = running.container();
      assertThat("containerd://" + container.id())
          .isEqualTo(pod.getStatus().getContainerStatuses().get(0).getContainerID());
      assertThat(container.namespace()).isEqualTo(node.namespace());
      assertThat(container.pod()).isEqualTo("one");
      assertThat(new CriRuntime(socket, proc).byId(container.id())).contains(container);
      assertThat(container.image().name()).isEqualTo("docker.io/library/busybox:test");
      assertThat(container.image().id()).startsWith("sha256:");
      assertThat(container.image().portableName()).contains("sha256:");
      assertThat(running.process().argv()).containsExactly("sh", "-c", "exec sleep 1000");
      assertThat(running.process().env()).contains("COLOUR=green");
      // The shell becomes it in its own time.
      await()
          .atMost(Duration.ofSeconds(120))
          .until(() -> proc.cmdline(running.process().id().pid()).equals(List.of("sleep", "1000")));
      assertThat(container.mounts())
          .filteredOn(mount -> mount.emptyDir().equals(Optional.of("scratch")))
          .extracting(PodMount::containerPath, PodMount::readOnly)
          .containsExactlyInAnyOrder(tuple("/scratch", false), tuple("/part", true));
      assertThat(container.mounts())
          .filteredOn(mount -> mount.containerPath().equals("/etc/hosts"))
          .extracting(PodMount::emptyDir)
          .containsExactly(Optional.empty());
    }
  }

  @Test
  @Tag("kubelet")
  void aContainerThatDoesNotRunIsToldWithTheReason() throws Exception {
    try (KubeNode node = KubeNode.required();
        NodeSocket socket = new NodeSocket(node.criSocket())) {
      CriRuntime runtime = new CriRuntime(socket, proc);
      Pod pod =
          node.pod("ends", "sh", "-c", "exit 7")
              .editSpec()
              .withRestartPolicy("Never")
              .endSpec()
              .build();
      node.client().resource(pod).create();
      await()
          .atMost(Duration.ofSeconds(120))
          .until(() -> "Failed".equals(node.now(pod).getStatus().getPhase()));
      String uid = node.now(pod).getMetadata().getUid();

      assertThat(runtime.locate(uid, "main"))
          .isEqualTo(
              new PodContainers.Located.NotRunning(
                  "container main of pod "
                      + uid
                      + ": expected a running one, got one that has exited with code 7 (Error)"));
      assertThat(runtime.locate(uid, "other"))
          .isEqualTo(
              new PodContainers.Located.NotRunning(
                  "container other of pod " + uid + ": expected a running one, got none"));
      assertThat(runtime.byId("0".repeat(64))).isEmpty();
    }
  }

  @Test
  @Tag("kubelet")
  void aRestartedContainerHasItsNewId() throws Exception {
    try (KubeNode node = KubeNode.required();
        NodeSocket socket = new NodeSocket(node.criSocket())) {
      CriRuntime runtime = new CriRuntime(socket, proc);
      Pod pod = node.start(node.pod("again", "sleep", "1000").build());
      String uid = pod.getMetadata().getUid();
      var first = (PodContainers.Located.Running) runtime.locate(uid, "main");
      new ProcessBuilder("kill", "-9", "" + first.process().id().pid()).start().waitFor();

      await()
          .atMost(Duration.ofSeconds(120))
          .until(
              () ->
                  runtime.locate(uid, "main") instanceof PodContainers.Located.Running again
                      && !again.container().id().equals(first.container().id()));
    }
  }

  @Test
  @Tag("kubelet")
  void aCommandRunsInTheContainerAndIsKilledAtItsDeadline() throws Exception {
    try (KubeNode node = KubeNode.required();
        NodeSocket socket = new NodeSocket(node.criSocket())) {
      Pod pod = node.start(node.pod("exec", "sleep", "1000").build());
      var running =
          (PodContainers.Located.Running)
              new CriRuntime(socket, proc).locate(pod.getMetadata().getUid(), "main");
      String id = running.container().id();
      ContainerExec exec = new CriExec(socket, System::nanoTime);
      Duration enough = Duration.ofSeconds(60);

      assertThat(exec.run(id, List.of("sh", "-c", "echo out; echo err >&2; exit 3"), enough))
          .isEqualTo(new ContainerExec.Result.Exited(3, "out\nerr\n"));
      assertThat(exec.run(id, List.of("sleep", "100"), Duration.ofSeconds(5)))
          .isEqualTo(new ContainerExec.Result.TimedOut(Duration.ofSeconds(5)));
      assertThat(exec.run(id, List.of("/no/such/program"), enough))
          .isInstanceOf(ContainerExec.Result.NotStarted.class);
      assertThat(exec.run("0".repeat(64), List.of("true"), enough))
          .isInstanceOf(ContainerExec.Result.NotStarted.class);
      var much =
          (ContainerExec.Result.Exited)
              exec.run(id, List.of("sh", "-c", "yes | head -c 1000000; echo end"), enough);
      assertThat(much.output()).hasSize(4096).endsWith("end\n");
    }
  }

  @Test
  void aRuntimeThatDoesNotAnswerIsSaidWithItsSocket() {
    try (NodeSocket socket = new NodeSocket(Path.of("/nonexistent/cri.sock"))) {
      assertThatThrownBy(() -> new CriRuntime(socket, proc).version())
          .isInstanceOf(NodeApiException.class)
          .hasMessageStartingWith(
              "Version at /nonexistent/cri.sock: expected a response, got UNAVAILABLE");
    }
  }

  @Test
  @Tag("kubelet")
  void theRuntimeSaysWhatItIs() throws Exception {
    try (KubeNode node = KubeNode.required();
        NodeSocket socket = new NodeSocket(node.criSocket())) {
      assertThat(new CriRuntime(socket, proc).version()).matches("containerd v?[0-9].*");
    }
  }
}
