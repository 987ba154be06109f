package dev.stasis.agent.cuda;

/** How two GPUs of a node reach each other; one entry a pair, the lower index first. */
public record GpuLink(int first, int second, Relation relation) {

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
