package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuLink;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.artifact.NodeFacts;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.GpuSet;
import dev.stasis.compat.Link;
import dev.stasis.compat.Links;
import java.util.List;

/** The properties of a container on this node, for comparisons. */
public final class PlaceFingerprint {

  private final NodeFactsReader reader;

  PlaceFingerprint(NodeParts node) {
    this.reader = new NodeFactsReader(node.proc().root(), node.tools().criuVersion());
  }

  /**
   * The node and these of its GPUs.
   *
   * @param seen in the container's order; if empty, the GPUs are left out
   */
  public Fingerprint of(NodeGpus gpus, List<Gpu> seen) {
    NodeFacts facts = reader.read(gpus);
    Fingerprint host = reader.host(facts);
    if (seen.isEmpty()) {
      return host;
    }
    List<dev.stasis.compat.Gpu> compared =
        seen.stream()
            .map(
                gpu ->
                    new dev.stasis.compat.Gpu(
                        gpu.model(), gpu.memoryTotal() >> 20, gpu.computeCapability(), gpu.mig()))
            .toList();
    return host.and(
        new GpuSet(gpus.driverVersion(), compared, links(gpus.links(), seen)).fingerprint());
  }

  /** Returns the requirements of a workload on this node for another place. */
  public Fingerprint wanted(Inspected workload) {
    return NodeNeeds.wanted(of(workload.gpus(), workload.seen()), workload.needs());
  }

  /** Returns the links of these GPUs, pair by pair. */
  public static Links links(List<GpuLink> links, List<Gpu> seen) {
    return Links.of(
        seen.size(), (i, j) -> between(links, seen.get(i).index(), seen.get(j).index()));
  }

  private static Link between(List<GpuLink> links, int one, int other) {
    return links.stream()
        .filter(
            link -> link.first() == Math.min(one, other) && link.second() == Math.max(one, other))
        .findFirst()
        .map(PlaceFingerprint::compared)
        .orElse(Link.of(Link.Kind.SYS));
  }

  /** Returns the strength of a connection for comparisons; an unknown one counts as the weakest. */
  public static Link compared(GpuLink link) {
    return switch (link.relation()) {
      case NVLINK -> Link.nvlink(Math.max(1, link.lanes()));
      case SAME_BOARD, PCIE_SWITCH -> Link.of(Link.Kind.PIX);
      case PCIE_SWITCHES -> Link.of(Link.Kind.PXB);
      case HOST_BRIDGE -> Link.of(Link.Kind.PHB);
      case NUMA_NODE -> Link.of(Link.Kind.NODE);
      case SYSTEM, UNKNOWN -> Link.of(Link.Kind.SYS);
    };
  }
}
