package dev.stasis.agent.cuda;

/**
 * The connection of two GPUs of a node; one entry per pair, lower index first.
 *
 * @param lanes number of NVLinks between them, directly or through a switch; 0 for any other
 *     connection, and if NVML does not report it
 */
public record GpuLink(int first, int second, Relation relation, int lanes) {

  /** The connection without NVLink. */
  public GpuLink(int first, int second, Relation relation) {
    this(first, second, relation, 0);
  }

  /** From nearest to farthest. */
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
    /** NVML does not report it. */
    UNKNOWN
  }
}
