package dev.stasis.kubectl.doctor;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Words;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Checks one node by its GpuNode. */
final class NodeExam {

  /** As in the operator: the agent reports once a minute, and two reports may be lost. */
  private static final Duration SILENT = Duration.ofMinutes(3);

  /** Certificates and heartbeats tolerate less. */
  private static final Duration SKEW = Duration.ofSeconds(10);

  /** As in the alert FrozenTooLong. */
  private static final Duration FROZEN_LONG = Duration.ofMinutes(30);

  private static final String OLDEST_DRIVER = "570";
  private static final String OLDEST_CRIU = "4.1.1";

  /** As in the alert StoreNearlyFull: a tenth. */
  private static final long NEARLY_FULL = 10;

  /** A hundredth: the next checkpoint will hardly fit. */
  private static final long FULL = 100;

  /**
   * Reasons that affect only the direct data path, which pods must request; an older agent reports
   * NotBuilt.
   */
  private static final Set<String> NO_FAULT = Set.of("NotBuilt", "NoKeeper");

  private final Resource node;
  private final Facts facts;
  private final String name;
  private final List<Finding> found = new ArrayList<>();

  NodeExam(Resource node, Facts facts) {
    this.node = node;
    this.facts = facts;
    this.name = node.name();
  }

  List<Finding> findings() {
    agent();
    clock();
    versions();
    missing();
    selfTest();
    stores();
    gpus();
    frozen();
    if (found.isEmpty()) {
      found.add(Finding.well(name, summary()));
    }
    return found;
  }

  private String summary() {
    return node.number("status.gpuCount")
        + " x "
        + node.text("status.gpuModel")
        + ", driver "
        + node.text("status.host.driver")
        + ", criu "
        + node.text("status.host.criu");
  }

  private void agent() {
    Optional<Instant> heard = node.time("status.agent.heartbeatTime");
    boolean silent = heard.isEmpty() || heard.get().plus(SILENT).isBefore(facts.now());
    if (!silent) {
      return;
    }
    String since =
        heard.map(at -> "for " + Words.age(Optional.of(at), facts.now())).orElse("so far");
    String frozen =
        node.list("status.frozen").isEmpty()
            ? ""
            : "; " + node.list("status.frozen").size() + " workloads are frozen there";
    found.add(
        Finding.problem(
            name,
            "agent: expected a heartbeat each minute, got none " + since + frozen,
            AgentPod.of(facts, name).advice()));
  }

  /**
   * The time of the agent's clock, and that of the API server's clock when it stored the report.
   */
  private void clock() {
    Optional<Instant> said = node.time("status.agent.heartbeatTime");
    Optional<Instant> written =
        node.list("metadata.managedFields").stream()
            .filter(entry -> entry.text("subresource").equals("status"))
            .filter(entry -> entry.json().toString().contains("f:heartbeatTime"))
            .flatMap(entry -> entry.time("time").stream())
            .max(Instant::compareTo);
    if (said.isPresent() && written.isPresent()) {
      Duration skew = Duration.between(written.get(), said.get());
      if (skew.abs().compareTo(SKEW) > 0) {
        found.add(
            Finding.problem(
                name,
                "clock: expected the time of the API server, got one that is "
                    + Words.span(skew.abs())
                    + (skew.isNegative() ? " behind" : " ahead"),
                "synchronize the node's clock with chrony or systemd-timesyncd"));
      }
    }
  }

  private void versions() {
    String driver = node.text("status.host.driver");
    if (Version.isOlder(driver, OLDEST_DRIVER)) {
      found.add(
          Finding.problem(
              name,
              "driver: expected " + OLDEST_DRIVER + " or newer, got " + driver,
              "update NVIDIA's driver: older ones cannot checkpoint a process"));
    }
    String criu = node.text("status.host.criu");
    if (Version.isOlder(criu, OLDEST_CRIU)) {
      found.add(
          Finding.problem(
              name,
              "criu: expected " + OLDEST_CRIU + " or newer, got " + criu,
              Advice.on("NoCriu")));
    }
  }

  private void missing() {
    String ready = node.condition("Ready").text("status");
    String why = node.condition("Ready").text("message");
    boolean told = false;
    for (Resource fault : node.list("status.missing")) {
      String reason = fault.text("reason");
      if (NO_FAULT.contains(reason)) {
        continue;
      }
      String message = fault.text("message");
      boolean stops = !ready.equals("True") && why.contains(message);
      told |= stops;
      found.add(
          stops
              ? Finding.problem(name, message, Advice.on(reason))
              : Finding.warning(name, message, Advice.on(reason)));
    }
    if (ready.equals("False") && !told) {
      found.add(Finding.problem(name, why, Advice.on(node.condition("Ready").text("reason"))));
    }
  }

  private void selfTest() {
    Resource test = node.at("status.selfTest");
    boolean told = node.text("status.reason").equals("SelfTestFailed");
    if (!test.text("passed").isEmpty() && !test.isTrue("passed") && !told) {
      found.add(
          Finding.problem(
              name,
              "self-test: expected success, got " + test.text("message"),
              Advice.on("SelfTestFailed")));
    }
  }

  private void stores() {
    for (Resource store : node.list("status.stores")) {
      String title = "store " + store.text("name");
      long free = store.number("freeBytes");
      long total = store.number("totalBytes");
      if (!store.text("writable").isEmpty() && !store.isTrue("writable")) {
        found.add(
            Finding.problem(
                name,
                title + ": expected a writable folder, got " + store.text("message"),
                "check the folder on the node, and the path in kubectl get gstore -o yaml"));
      } else if (total > 0 && free < total / NEARLY_FULL) {
        String what =
            title
                + ": expected a tenth of "
                + Words.size(total)
                + " free, got "
                + (free > 0 ? Words.size(free) : "nothing");
        String advice = "delete unneeded GpuCheckpoints, set options.ttlAfterReady, or add space";
        found.add(
            free < total / FULL
                ? Finding.problem(name, what, advice)
                : Finding.warning(name, what, advice));
      }
      if (store.isTrue("sharesNodefs")) {
        found.add(
            Finding.warning(
                name,
                title + ": expected a separate disk, got that of the kubelet's directory (nodefs)",
                "the kubelet evicts pods if nodefs is full: put the store on a separate disk, or"
                    + " keep its options.minFree above the kubelet's threshold"));
      }
    }
  }

  private void gpus() {
    for (Resource gpu : node.list("status.gpus")) {
      if (gpu.isTrue("quarantined")) {
        found.add(
            Finding.problem(
                name,
                gpu.text("uuid") + ": quarantined: " + gpu.text("quarantineReason"),
                "drain the node, reset the GPU or restart the node (docs/runbooks.md)"));
      }
      if (gpu.isTrue("mig")) {
        found.add(
            Finding.warning(
                name,
                gpu.text("uuid")
                    + ": divided into MIG instances, which the driver cannot checkpoint",
                "pods on it are refused; nvidia-smi -mig 0 disables MIG"));
      }
    }
  }

  private void frozen() {
    for (Resource workload : node.list("status.frozen")) {
      Optional<Instant> since = workload.time("since");
      boolean meant = workload.text("state").equals("Suspended");
      if (!meant && since.isPresent() && since.get().plus(FROZEN_LONG).isBefore(facts.now())) {
        String pod = workload.text("pod.namespace") + "/" + workload.text("pod.name");
        found.add(
            Finding.problem(
                name,
                "pod " + pod + ": frozen for " + Words.age(since, facts.now()),
                "cancel the request that froze it: kubectl stasis cancel "
                    + workload.text("by.name")
                    + " -n "
                    + workload.text("pod.namespace")));
      }
    }
  }
}
