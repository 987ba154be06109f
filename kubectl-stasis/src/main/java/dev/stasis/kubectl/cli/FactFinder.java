package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Cluster;
import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.doctor.Facts;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what the doctor looks at; what may not be read is told, and no obstacle for the rest. */
final class FactFinder {

  private static final String OURS = "--selector=app.kubernetes.io/name=stasis";
  private static final Pattern VERSION = Pattern.compile("\"gitVersion\":\\s*\"v?(\\d+\\.\\d+)");

  private final Cluster cluster;
  private final Clock clock;
  private final Map<String, String> unseen = new TreeMap<>();

  FactFinder(Cluster cluster, Clock clock) {
    this.cluster = cluster;
    this.clock = clock;
  }

  Facts facts() {
    // The first question is whether Stasis is there at all, so it is asked without a net.
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
            "pods that are held",
            () ->
                cluster.list(
                    List.of(Kind.POD, Kind.BUDGET),
                    new Scope.All(),
                    "--selector=stasis.dev/eviction"));
    return new Facts(
        clock.instant(), kubernetes(), gpuNodes, nodes, workloads, pods, stores, held, unseen);
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
