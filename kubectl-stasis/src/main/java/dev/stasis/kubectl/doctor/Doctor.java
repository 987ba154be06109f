package dev.stasis.kubectl.doctor;

import dev.stasis.kubectl.cluster.Resource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Says what is wrong, the cluster first and then node by node. */
public final class Doctor {

  /** Everything that there is to say; a node without a fault has one line that says so. */
  public List<Finding> examine(Facts facts) {
    List<Finding> nodes = new ArrayList<>();
    List<Finding> cluster = new ArrayList<>();
    for (Finding finding : new ClusterExam(facts).findings()) {
      (finding.where().equals(Finding.CLUSTER) ? cluster : nodes).add(finding);
    }
    for (Resource node : facts.gpuNodes()) {
      nodes.addAll(new NodeExam(node, facts).findings());
    }
    nodes.sort(Comparator.comparing(Finding::where).thenComparing(Finding::severity));
    cluster.sort(Comparator.comparing(Finding::severity));
    cluster.addAll(nodes);
    return cluster;
  }

  /** Whether one of them is a problem. */
  public boolean isIll(List<Finding> findings) {
    return findings.stream().anyMatch(it -> it.severity() == Finding.Severity.PROBLEM);
  }
}
