package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.DirectLab;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.HungDisk;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The store stops responding while the artifact of a workload is published that runs again. */
class HungPublicationTest {

  private final AgentLab lab = new AgentLab(1, 256);

  @SuppressWarnings("NullAway.Init")
  private HungDisk disk;

  @BeforeEach
  void mount() {
    disk = HungDisk.mount(lab.engine().state().resolve("image"), lab.engine().store());
  }

  @AfterEach
  void close() throws InterruptedException {
    disk.respond();
    lab.stop();
    disk.close();
    lab.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = DataPath.class,
      names = {"DIRECT", "MOVER"})
  void anotherWorkloadOfTheGpuIsResumedMeanwhile(DataPath path) throws Exception {
    DirectLab direct = new DirectLab(lab.engine());
    ContainerSpec plain =
        ContainerSpec.counter(lab.engine().gpus(), "--mib", "16", "--interval-ms", "100");
    boolean isDirect = path == DataPath.DIRECT;
    try (AgentLab.Placed suspended = lab.pod("suspended", plain, Map.of());
        AgentLab.Placed source =
            lab.pod("trainer", isDirect ? direct.counter() : plain, Map.of())) {
      suspended.container().awaitSteps(3);
      source.container().awaitSteps(3);
      lab.start();
      String suspend = order(Orders.ofSomebody().suspend(suspended));
      assertThat(lab.cluster().awaitEnd(suspend).getOutcome()).isEqualTo(Outcome.DONE);
      lab.engine().gpus().fault("restore", "hold");
      String checkpoint = order(Orders.ofSomebody().checkpoint(source, how -> {}));
      lab.awaitHeld("restore");
      disk.hang();
      lab.engine().gpus().release("restore");
      lab.cluster().await(checkpoint, said -> said.getWorkload() == WorkloadState.RUNNING);

      String resume = order(Orders.ofSomebody().of(OperationType.RESUME, suspended, suspend));
      GpuNodeOperationStatus resumed = lab.cluster().awaitEnd(resume);

      assertThat(resumed.getOutcome()).as(resumed.getMessage()).isEqualTo(Outcome.DONE);
      suspended.container().awaitSteps(3);
      assertThat(lab.cluster().status(checkpoint).getOutcome()).isNull();
      disk.respond();
      GpuNodeOperationStatus published = lab.cluster().awaitEnd(checkpoint);
      assertThat(published.getOutcome()).as(published.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(published.getDataPath()).isEqualTo(path);
    }
  }

  private String order(GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }
}
