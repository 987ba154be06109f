package dev.stasis.agent.daemon.probes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import org.junit.jupiter.api.Test;

class ContainerProbesTest {

  @Test
  void probesOverTheNetworkAreAnsweredOnTheirPorts() {
    Container container =
        new ContainerBuilder()
            .addNewPort()
            .withName("web")
            .withContainerPort(8080)
            .endPort()
            .withNewLivenessProbe()
            .withNewHttpGet()
            .withPath("/healthz?full=1")
            .withPort(new IntOrString("web"))
            .withScheme("HTTP")
            .endHttpGet()
            .endLivenessProbe()
            .withNewReadinessProbe()
            .withNewTcpSocket()
            .withPort(new IntOrString(9000))
            .endTcpSocket()
            .endReadinessProbe()
            .withNewStartupProbe()
            .withNewGrpc()
            .withPort(9001)
            .endGrpc()
            .endStartupProbe()
            .build();

    ContainerProbes probes = new ContainerProbes(container);

    assertThat(probes.answerable())
        .containsExactly(
            new ContainerProbes.ContainerProbe.Http(8080, "/healthz?full=1"),
            new ContainerProbes.ContainerProbe.Tcp(9000),
            new ContainerProbes.ContainerProbe.Grpc(9001));
  }

  @Test
  void aProbeThatOnlyTheWorkloadCanAnswerIsLeftOut() {
    Container container =
        new ContainerBuilder()
            .withNewLivenessProbe()
            .withNewExec()
            .withCommand("true")
            .endExec()
            .endLivenessProbe()
            .withNewReadinessProbe()
            .withNewHttpGet()
            .withPort(new IntOrString(8443))
            .withScheme("HTTPS")
            .endHttpGet()
            .endReadinessProbe()
            .withNewStartupProbe()
            .withNewTcpSocket()
            .withPort(new IntOrString("none"))
            .endTcpSocket()
            .endStartupProbe()
            .build();

    ContainerProbes probes = new ContainerProbes(container);

    assertThat(probes.answerable()).isEmpty();
  }
}
