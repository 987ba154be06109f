package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** In an upgrade the definitions come first, and agents are replaced one after the other. */
@ExtendWith(OnACluster.class)
class NewerDefinitionsTest {

  private static final String FIELD = "ofTomorrow";

  /** With a default, the API server adds it to every object that there is. */
  private static final String VALUE = ",\"value\":{\"type\":\"string\",\"default\":\"soon\"}";

  @Tag("long")
  @Test
  void operatorAndAgentsTolerateFieldsOfTheNextRelease(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    Component operator = scenario.installation().operator();
    Component agent = scenario.installation().agent(workload.now().getSpec().getNodeName());
    Deque<Runnable> undo = new ArrayDeque<>();
    try {
      extend(scenario, undo);
      scenario.until(
          "objects of the next release",
          () -> scenario.kubectl("get", "gpunodes", "-o", "yaml").contains(FIELD));

      // By watches that were there before,
      CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
      assertThat(scenario.kubectl("get", "gckpt", "train-1", "-o", ofBoth()))
          .isEqualTo("soon soon");
      workload.verifyGoesOn();

      // and from the first list on.
      operator.kill();
      agent.kill();
      operator.start();
      agent.start();
      CheckpointRequest.apply(scenario, "train-2", "trainer").awaitReady();
      Workload back = workload.broughtBackAs("trainer");
      workload.delete();
      RestoreRequest.apply(scenario, "back", "train-2").awaitSucceeded();
      back.verifyGoesOn();
      assertThat(operator.log())
          .contains("GpuCheckpointSpec." + FIELD + " is unknown to this release");
      assertThat(agent.log())
          .contains("GpuNodeOperationSpec." + FIELD + " is unknown to this release");
    } finally {
      undo.forEach(Runnable::run);
    }
  }

  private static String ofBoth() {
    return "jsonpath={.spec." + FIELD + "} {.status." + FIELD + "}";
  }

  private static void extend(Scenario scenario, Deque<Runnable> undo) {
    List<String> kinds =
        Stream.of(scenario.kubectl("get", "crd", "-o", "name").split("\n"))
            .filter(name -> name.endsWith(".stasis.dev"))
            .toList();
    assertThat(kinds).hasSize(8);
    for (String kind : kinds) {
      // A GpuNode is nothing but its status.
      List<String> parts =
          kind.endsWith("/gpunodes.stasis.dev") ? List.of("status") : List.of("spec", "status");
      patch(scenario, kind, parts.stream().map(part -> field("add", part, VALUE)));
      undo.push(() -> patch(scenario, kind, parts.stream().map(part -> field("remove", part, ""))));
    }
  }

  private static void patch(Scenario scenario, String kind, Stream<String> fields) {
    String patch = fields.collect(Collectors.joining(",", "[", "]"));
    scenario.kubectl("patch", kind, "--type=json", "-p", patch);
  }

  private static String field(String what, String part, String more) {
    return "{\"op\":\""
        + what
        + "\",\"path\":\"/spec/versions/0/schema/openAPIV3Schema/properties/"
        + part
        + "/properties/"
        + FIELD
        + "\""
        + more
        + "}";
  }
}
