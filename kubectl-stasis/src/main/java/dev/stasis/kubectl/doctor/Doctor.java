package dev.stasis.kubectl.doctor;

import dev.stasis.kubectl.cluster.Resource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Diagnoses a cluster: first the cluster as a whole, then each node. */
public final class Doctor {

  /** Returns all findings; a node without a problem has one finding that says so. */
  public List<Finding> examine(Facts facts) {
    List<Finding> nodes = new ArrayList<>();
    List<Finding> cluster = new ArrayList<>();
    for (Finding finding : new ClusterExam(facts).findings()) {
      (finding.where().equals(Finding.CLUSTER) ? cluster : nodes).add(finding);
    }
    for (Resource node : facts.gpuNodes()) {
      nodes.addAll(new NodeExam(node, facts).findings());
    }
    for (Finding finding : new DirectPathExam(facts).findings()) {
      (finding.where().equals(Finding.CLUSTER) ? cluster : nodes).add(finding);
    }
    nodes.addAll(new KernelExam(facts.gpuNodes()).findings());
    nodes.sort(Comparator.comparing(Finding::where).thenComparing(Finding::severity));
    cluster.sort(Comparator.comparing(Finding::severity));
    cluster.addAll(nodes);
    return cluster;
  }

  /** Returns whether one of them is a problem. */
  public boolean isIll(List<Finding> findings) {
    return findings.stream().anyMatch(it -> it.severity() == Finding.Severity.PROBLEM);
  }
}
