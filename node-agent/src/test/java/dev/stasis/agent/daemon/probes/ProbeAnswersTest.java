package dev.stasis.agent.daemon.probes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.container.TestPrograms;
import dev.stasis.agent.daemon.kubelet.CriRuntime;
import dev.stasis.agent.daemon.kubelet.NodeSocket;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.KubeNode;
import dev.stasis.agent.testing.Sh;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ProbeAnswersTest {

  /** Three times as long as the kubelet gives an unanswered probe of 3 x 2 s. */
  private static final Duration FROZEN = Duration.ofSeconds(20);

  private final ProcFs proc = new ProcFs();
  private final Sh sh = new Sh();

  @Test
  @Tag("kubelet")
  void aStoppedServerWithProbesIsNotRestarted() throws Exception {
    Path program = new TestPrograms().runtime();
    try (KubeNode node = KubeNode.required();
        NodeSocket socket = new NodeSocket(node.criSocket())) {
      Probe http =
          probe()
              .withNewHttpGet()
              .withPath("/index.html")
              .withPort(new IntOrString(8080))
              .endHttpGet()
              .build();
      Probe tcp = probe().withNewTcpSocket().withPort(new IntOrString(8080)).endTcpSocket().build();
      // It only listens: the answer comes from somebody else, before the first probe is made.
      Probe grpc =
          probe().withInitialDelaySeconds(15).withNewGrpc().withPort(8080).endGrpc().build();
      String httpd = "echo well > /tmp/index.html; exec httpd -f -p 8080 -h /tmp";
      List<Pod> wanted =
          List.of(
              probed(node.pod("http", "sh", "-c", httpd).build(), http),
              probed(node.pod("tcp", "sh", "-c", httpd).build(), tcp),
              probed(node.pod("grpc", "sh", "-c", httpd).build(), grpc));
      List<Pod> pods = new ArrayList<>();
      CriRuntime runtime = new CriRuntime(socket, proc);
      ProbeAnswers answers = new ProbeAnswers(program, proc);
      for (Pod each : wanted) {
        // One after the other, so that none waits for its answers.
        Pod pod = node.start(each);
        pods.add(pod);
        var running =
            (PodContainers.Located.Running) runtime.locate(pod.getMetadata().getUid(), "main");
        ProcessId process = running.process().id();
        await()
            .atMost(Duration.ofSeconds(60))
            .until(
                () ->
                    !new ProbeAnswers.ListeningSockets(proc).of(List.of(process), 8080).isEmpty());
        sh.must("kill", "-STOP", "" + process.pid());
        var container = pod.getSpec().getContainers().get(0);
        var answering =
            answers.begin(List.of(process), new ContainerProbes(container).answerable());
        assertThat(answering.isEmpty()).isFalse();
      }
      await()
          .during(FROZEN)
          .atMost(FROZEN.plusSeconds(30))
          .until(() -> pods.stream().allMatch(pod -> restarts(node, pod) == 0));
      assertThat(pods)
          .filteredOn(pod -> pod.getMetadata().getName().equals("grpc"))
          .allSatisfy(
              pod -> await().atMost(Duration.ofSeconds(60)).until(() -> isReady(node, pod)));
    }
  }

  private static ProbeBuilder probe() {
    return new ProbeBuilder().withPeriodSeconds(2).withFailureThreshold(3).withTimeoutSeconds(1);
  }

  private static Pod probed(Pod pod, Probe probe) {
    return pod.edit()
        .editSpec()
        .editFirstContainer()
        .withLivenessProbe(probe)
        .withReadinessProbe(probe)
        .endContainer()
        .endSpec()
        .build();
  }

  private static int restarts(KubeNode node, Pod pod) {
    return node.now(pod).getStatus().getContainerStatuses().get(0).getRestartCount();
  }

  private static boolean isReady(KubeNode node, Pod pod) {
    return node.now(pod).getStatus().getContainerStatuses().get(0).getReady();
  }
}
