package dev.stasis.kubectl.doctor;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Words;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Checks that concern the cluster as a whole. */
final class ClusterExam {

  /** The first version with in-place resize. */
  private static final String OLDEST_KUBERNETES = "1.33";

  /** The chart's default of eviction.deadline, which applies unless the pod sets another time. */
  private static final Duration EVICT_DEADLINE = Duration.ofMinutes(10);

  private static final String COMPONENT = "app.kubernetes.io/component";
  private static final String INSTALL = "install the chart: helm install stasis helm/stasis";

  private final Facts facts;
  private final List<Finding> found = new ArrayList<>();

  ClusterExam(Facts facts) {
    this.facts = facts;
  }

  List<Finding> findings() {
    if (Version.isOlder(facts.kubernetes(), OLDEST_KUBERNETES)) {
      found.add(
          Finding.problem(
              Finding.CLUSTER,
              "Kubernetes: expected " + OLDEST_KUBERNETES + " or newer, got " + facts.kubernetes(),
              "update it: older versions cannot resize a pod in place"));
    }
    operator();
    agents();
    stores();
    held();
    facts
        .unseen()
        .forEach(
            (what, why) ->
                found.add(
                    new Finding(
                        Finding.Severity.UNKNOWN,
                        Finding.CLUSTER,
                        what + ": not checked: " + why,
                        "bind the ClusterRole stasis-cluster-view to yourself, or ask an"
                            + " administrator")));
    return found;
  }

  private void operator() {
    if (facts.unseen().containsKey("workloads")) {
      return;
    }
    List<Resource> operators = component("operator");
    if (operators.isEmpty()) {
      found.add(
          Finding.problem(Finding.CLUSTER, "operator: expected its Deployment, got none", INSTALL));
    }
    for (Resource operator : operators) {
      if (operator.number("status.readyReplicas") == 0) {
        found.add(
            Finding.problem(
                Finding.CLUSTER,
                "operator: expected at least one ready, got none of "
                    + operator.number("spec.replicas"),
                "no new work is started until it is available: kubectl -n "
                    + operator.namespace()
                    + " describe pods -l app.kubernetes.io/component=operator"));
      }
      versions(operator.label("app.kubernetes.io/version"));
    }
  }

  /** Versions one minor apart are compatible. */
  private void versions(String ours) {
    Optional<Version> operator = Version.of(ours);
    Set<String> apart =
        facts.gpuNodes().stream()
            .map(node -> node.text("status.agent.version"))
            .filter(
                theirs ->
                    operator.isPresent()
                        && Version.of(theirs)
                            .filter(
                                it ->
                                    it.at(0) != operator.get().at(0)
                                        || Math.abs(it.at(1) - operator.get().at(1)) > 1)
                            .isPresent())
            .collect(Collectors.toSet());
    if (!apart.isEmpty()) {
      found.add(
          Finding.warning(
              Finding.CLUSTER,
              "agents: expected at most one minor version from " + ours + ", got " + apart,
              "wait for the rollout of the agents: kubectl -n stasis-system rollout status"
                  + " daemonset"));
    }
  }

  private void agents() {
    Set<String> known = facts.gpuNodes().stream().map(Resource::name).collect(Collectors.toSet());
    boolean some = false;
    for (Resource node : facts.nodes()) {
      if (hasGpus(node) && !known.contains(node.name())) {
        some = true;
        found.add(
            Finding.problem(
                node.name(),
                "agent: expected a GpuNode for a node with GPUs, got none",
                AgentPod.of(facts, node.name()).advice()));
      }
    }
    if (known.isEmpty() && !some) {
      String selector =
          component("agent").stream()
              .map(one -> one.at("spec.template.spec.affinity").json().toString())
              .map(one -> one.replaceAll(".*?\"key\":\"([^\"]+)\".*", "$1"))
              .filter(one -> !one.startsWith("{"))
              .findFirst()
              .orElse("agent.gpuNodeLabel");
      found.add(
          Finding.problem(
              Finding.CLUSTER,
              "agents: expected a GpuNode for each node with GPUs, got none",
              "label the nodes with GPUs (" + selector + "), or set agent.gpuNodeLabel"));
    }
    Set<String> nodes = facts.nodes().stream().map(Resource::name).collect(Collectors.toSet());
    if (!nodes.isEmpty()) {
      known.stream()
          .filter(name -> !nodes.contains(name))
          .forEach(
              name ->
                  found.add(
                      Finding.warning(
                          name,
                          "GpuNode: expected a Node with that name, got none",
                          "if the node was removed permanently: kubectl delete gpunode " + name)));
    }
  }

  private static boolean hasGpus(Resource node) {
    var capacity = node.json().path("status").path("capacity");
    boolean some = false;
    for (var names = capacity.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      some |= name.startsWith("nvidia.com/gpu") && capacity.path(name).asLong(0) > 0;
    }
    return some || node.label("nvidia.com/gpu.present").equals("true");
  }

  private void stores() {
    if (facts.unseen().containsKey("stores")) {
      return;
    }
    List<String> defaults =
        facts.stores().stream()
            .filter(store -> store.isTrue("spec.default"))
            .map(Resource::name)
            .sorted()
            .toList();
    if (defaults.isEmpty()) {
      found.add(
          Finding.warning(
              Finding.CLUSTER,
              "stores: expected one with spec.default, got " + facts.stores().size() + " without",
              "specify a store in each checkpoint (--store), or mark one store as default"));
    } else if (defaults.size() > 1) {
      found.add(
          Finding.problem(
              Finding.CLUSTER,
              "stores: expected one with spec.default, got " + String.join(", ", defaults),
              "unset spec.default on all but one: checkpoints without a store are refused"));
    }
  }

  /** The operator creates a budget for each pod that it checkpoints before its eviction. */
  private void held() {
    for (Resource budget : facts.held()) {
      if (!budget.kind().equals(Kind.BUDGET.value())) {
        continue;
      }
      Resource pod = heldBy(budget);
      Optional<Instant> since = budget.time("metadata.creationTimestamp");
      Duration deadline = Spans.of(pod.annotation("stasis.dev/evict-deadline"), EVICT_DEADLINE);
      if (since.isPresent() && since.get().plus(deadline).isBefore(facts.now())) {
        String node = pod.text("spec.nodeName");
        found.add(
            Finding.problem(
                node.isEmpty() ? Finding.CLUSTER : node,
                "pod "
                    + budget.namespace()
                    + "/"
                    + pod.name()
                    + ": protected from eviction for "
                    + Words.age(since, facts.now())
                    + ", expected at most "
                    + Words.span(deadline),
                "if no checkpoint of the pod is in progress (kubectl stasis list -n "
                    + budget.namespace()
                    + ") and the chart's eviction.deadline has passed, release it:"
                    + " kubectl delete pdb -n "
                    + budget.namespace()
                    + " "
                    + budget.name()));
      }
    }
  }

  private Resource heldBy(Resource budget) {
    String uid = budget.label("stasis.dev/eviction");
    return facts.held().stream()
        .filter(one -> one.kind().equals(Kind.POD.value()) && one.uid().equals(uid))
        .findFirst()
        .orElse(Resource.NONE);
  }

  private List<Resource> component(String name) {
    return facts.workloads().stream().filter(one -> one.label(COMPONENT).equals(name)).toList();
  }
}
