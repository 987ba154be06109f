package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.Work;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A node with one workload for the tests of a class. After each of them the agent is stopped, the
 * workload runs unchanged, and the engine has left nothing.
 */
final class WorkloadLab implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

  private static final int MIB = 16;

  private final List<String> options;
  private @Nullable AgentLab lab;
  private AgentLab.@Nullable Placed source;

  /**
   * @param options further options of the workload
   */
  WorkloadLab(String... options) {
    this.options = List.of(options);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    lab = new AgentLab(1, 128);
    source = pod("trainer");
  }

  @Override
  public void afterEach(ExtensionContext context) throws InterruptedException {
    lab().stop();
    lab().engine().assertNothingLeft();
    source().container().awaitSteps(3);
    source().container().verify(MIB);
  }

  @Override
  public void afterAll(ExtensionContext context) throws InterruptedException {
    if (source != null) {
      source.close();
    }
    if (lab != null) {
      lab.close();
    }
  }

  AgentLab lab() {
    return Objects.requireNonNull(lab);
  }

  AgentLab.Placed source() {
    return Objects.requireNonNull(source);
  }

  /** Starts another workload of the same kind, which the caller ends. */
  AgentLab.Placed pod(String name) {
    List<String> all =
        Stream.concat(Stream.of("--mib", "" + MIB, "--interval-ms", "100"), options.stream())
            .toList();
    AgentLab.Placed placed =
        lab()
            .pod(
                name,
                ContainerSpec.counter(lab().engine().gpus(), all.toArray(String[]::new)),
                Map.of());
    placed.container().awaitSteps(3);
    return placed;
  }

  /** Creates an operation, and returns its name. */
  String order(GpuNodeOperation operation) {
    return lab().cluster().create(operation).getMetadata().getName();
  }

  /** Deletes the artifact of these orders. The agent considers one operation after the other. */
  void deleteArtifact(Orders of) {
    String name = order(of.delete());
    assertThat(lab().cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.DONE);
  }

  /** Returns the recorded work of the node. */
  List<Work> inHand() {
    return lab().engine().engine().thaw().inHand();
  }
}
