package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Cluster;
import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import java.util.List;

/** Finds the object that a user names: KIND/NAME, or a unique name. */
final class Finder {

  private final List<Resource> requests;

  /** Lists the requests of the namespace. */
  Finder(Cluster cluster) {
    requests = cluster.list(Kind.REQUESTS, new Scope.Current());
  }

  /** A GpuCheckpoint, GpuRestore or GpuMigration. */
  Resource request(String given) {
    int slash = given.indexOf('/');
    String prefix = slash < 0 ? "" : given.substring(0, slash);
    String name = given.substring(slash + 1);
    List<Resource> found =
        requests.stream()
            .filter(one -> one.name().equals(name))
            .filter(
                one ->
                    prefix.isEmpty()
                        || Kind.written(prefix)
                            .filter(it -> it.value().equals(one.kind()))
                            .isPresent())
            .toList();
    if (found.size() == 1) {
      return found.get(0);
    }
    if (found.isEmpty()) {
      throw new ClusterFailure(
          ClusterFailure.Why.NOT_FOUND,
          "there is no checkpoint, restore or migration " + given + " in this namespace",
          "list the requests: kubectl stasis list; in all namespaces: -A");
    }
    throw new ClusterFailure(
        ClusterFailure.Why.REFUSED,
        "several requests have that name: "
            + String.join(", ", found.stream().map(Resource::title).toList()),
        "say which: " + found.get(0).title());
  }
}
