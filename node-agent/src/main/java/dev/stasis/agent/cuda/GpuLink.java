package dev.stasis.agent.cuda;

/**
 * How two GPUs of a node reach each other; one entry a pair, the lower index first.
 *
 * @param lanes number of NVLinks between them, through a switch or not; 0 for any other relation,
 *     and where NVML does not say
 */
public record GpuLink(int first, int second, Relation relation, int lanes) {

  /** A link that is no NVLink. */
  public GpuLink(int first, int second, Relation relation) {
    this(first, second, relation, 0);
  }

  /** From near to far. */
  public enum Relation {
    NVLINK,
    /** Two GPUs of one board. */
    SAME_BOARD,
    /** One PCIe switch. */
    PCIE_SWITCH,
    /** Several PCIe switches. */
    PCIE_SWITCHES,
    /** The PCIe host bridge. */
    HOST_BRIDGE,
    /** Host bridges of one NUMA node. */
    NUMA_NODE,
    /** The link between NUMA nodes. */
    SYSTEM,
    /** NVML does not say. */
    UNKNOWN
  }
}
