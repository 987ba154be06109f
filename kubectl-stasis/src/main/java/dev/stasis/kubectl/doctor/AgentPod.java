package dev.stasis.kubectl.doctor;

import dev.stasis.kubectl.cluster.Resource;
import java.util.Optional;

/** The agent's pod on a node, as far as the user can read it. */
record AgentPod(Optional<Resource> pod, boolean seen) {

  private static final String NAME = "app.kubernetes.io/name";
  private static final String COMPONENT = "app.kubernetes.io/component";

  static AgentPod of(Facts facts, String node) {
    return new AgentPod(
        facts.pods().stream()
            .filter(one -> one.label(NAME).equals("stasis"))
            .filter(one -> one.label(COMPONENT).equals("agent"))
            .filter(one -> one.text("spec.nodeName").equals(node))
            .findFirst(),
        !facts.unseen().containsKey("pods"));
  }

  /** Advice for an agent that does not answer. */
  String advice() {
    if (!seen) {
      return "list the pods of the agents: kubectl -n stasis-system get pods -o wide";
    }
    if (pod.isEmpty()) {
      return "the node has no agent pod: check its labels (agent.gpuNodeLabel), its taints, and"
          + " kubectl -n stasis-system describe daemonset";
    }
    String name = pod.get().namespace() + "/" + pod.get().name();
    String waits =
        pod.get().list("status.containerStatuses").stream()
            .map(one -> one.text("state.waiting.reason"))
            .filter(reason -> !reason.isEmpty())
            .findFirst()
            .orElse("");
    String command = "-n " + pod.get().namespace() + " " + pod.get().name();
    if (!waits.isEmpty()) {
      return "its pod " + name + " is waiting (" + waits + "): kubectl describe pod " + command;
    }
    String phase = pod.get().text("status.phase");
    return phase.equals("Running")
        ? "its pod " + name + " is running: kubectl logs " + command + ", and check the node itself"
        : "its pod " + name + " is " + phase + ": kubectl describe pod " + command;
  }
}
