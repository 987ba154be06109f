package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Cluster;
import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.doctor.Facts;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the doctor's input. Objects that cannot be read are reported and do not prevent other
 * checks.
 */
final class FactFinder {

  private static final String OURS = "--selector=app.kubernetes.io/name=stasis";
  private static final String DATA_PATH = "stasis.dev/data-path";
  private static final String DIRECT = "--selector=" + DATA_PATH + "=direct";
  private static final Pattern VERSION = Pattern.compile("\"gitVersion\":\\s*\"v?(\\d+\\.\\d+)");

  private final Cluster cluster;
  private final Clock clock;
  private final Map<String, String> unseen = new TreeMap<>();

  FactFinder(Cluster cluster, Clock clock) {
    this.cluster = cluster;
    this.clock = clock;
  }

  Facts facts() {
    // The first request finds out whether Stasis is installed, so its failure is not caught.
    List<Resource> gpuNodes =
        cluster.list(List.of(Kind.NODE), new Scope.Current(), "--show-managed-fields");
    List<Resource> nodes = read("nodes", () -> list(Kind.KUBE_NODE));
    List<Resource> workloads =
        read(
            "workloads",
            () -> cluster.list(List.of(Kind.DEPLOYMENT, Kind.DAEMON_SET), new Scope.All(), OURS));
    List<Resource> pods =
        read("pods", () -> cluster.list(List.of(Kind.POD), new Scope.All(), OURS));
    List<Resource> stores = read("stores", () -> list(Kind.STORE));
    List<Resource> held =
        read(
            "pods protected from eviction",
            () ->
                cluster.list(
                    List.of(Kind.POD, Kind.BUDGET),
                    new Scope.All(),
                    "--selector=stasis.dev/eviction"));
    List<Resource> direct = read("pods of the direct data path", this::direct);
    return new Facts(
        clock.instant(),
        kubernetes(),
        gpuNodes,
        nodes,
        workloads,
        pods,
        stores,
        held,
        direct,
        unseen);
  }

  /** The label is one of the pod or of its namespace. */
  private List<Resource> direct() {
    List<Resource> found =
        new ArrayList<>(cluster.list(List.of(Kind.POD), new Scope.All(), DIRECT));
    Set<String> namespaces = new TreeSet<>();
    found.forEach(pod -> namespaces.add(pod.namespace()));
    for (Resource labelled : cluster.list(List.of(Kind.NAMESPACE), new Scope.Current(), DIRECT)) {
      namespaces.add(labelled.name());
      found.addAll(
          cluster.list(
              List.of(Kind.POD), new Scope.Named(labelled.name()), "--selector=!" + DATA_PATH));
    }
    for (String namespace : namespaces) {
      found.addAll(cluster.list(List.of(Kind.CHECKPOINT), new Scope.Named(namespace)));
    }
    return found;
  }

  private String kubernetes() {
    Matcher matcher = VERSION.matcher(cluster.raw("/version"));
    return matcher.find() ? matcher.group(1) : "";
  }

  private List<Resource> list(Kind kind) {
    return cluster.list(List.of(kind), new Scope.Current());
  }

  private List<Resource> read(String what, Supplier<List<Resource>> reading) {
    try {
      return reading.get();
    } catch (ClusterFailure refused) {
      if (refused.why() == ClusterFailure.Why.UNREACHABLE) {
        throw refused;
      }
      unseen.put(what, String.valueOf(refused.getMessage()));
      return List.of();
    }
  }
}
