package dev.stasis.agent.cuda.jna;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuLink.Relation;
import dev.stasis.agent.cuda.GpuUuid;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Queries an initialized NVML and returns the answers as values. */
final class NvmlDevices {

  /** Longer than any text that NVML writes (96 is its longest). */
  private static final int TEXT = 128;

  private static final int PCI_INFO = 68;
  private static final int PCI_BUS_ID = 36;
  private static final int PROCESS_INFO = 24;
  private static final int P2P_NVLINK = 2;

  /** {@code NVML_NVLINK_MAX_LINKS}. */
  private static final int NVLINKS = 18;

  /** {@code NVML_VALUE_NOT_AVAILABLE}. */
  private static final long UNKNOWN_BYTES = -1;

  private final NvmlLibrary nvml;

  NvmlDevices(NvmlLibrary nvml) {
    this.nvml = nvml;
  }

  static void check(NvmlLibrary nvml, int result) throws NvmlException {
    if (result != NvmlException.SUCCESS) {
      Pointer text = nvml.nvmlErrorString(result);
      throw new NvmlException(result, text == null ? "unknown error" : text.getString(0));
    }
  }

  private void check(int result) throws NvmlException {
    check(nvml, result);
  }

  String driverVersion() throws NvmlException {
    byte[] text = new byte[TEXT];
    check(nvml.nvmlSystemGetDriverVersion(text, text.length));
    return Native.toString(text, StandardCharsets.UTF_8.name());
  }

  int cudaVersion() throws NvmlException {
    IntByReference version = new IntByReference();
    check(nvml.nvmlSystemGetCudaDriverVersion_v2(version));
    return version.getValue();
  }

  List<Pointer> handles() throws NvmlException {
    IntByReference count = new IntByReference();
    check(nvml.nvmlDeviceGetCount_v2(count));
    List<Pointer> handles = new ArrayList<>();
    for (int index = 0; index < count.getValue(); index++) {
      PointerByReference handle = new PointerByReference();
      check(nvml.nvmlDeviceGetHandleByIndex_v2(index, handle));
      handles.add(handle.getValue());
    }
    return handles;
  }

  GpuUuid uuid(Pointer gpu) throws NvmlException {
    byte[] text = new byte[TEXT];
    check(nvml.nvmlDeviceGetUUID(gpu, text, text.length));
    return GpuUuid.parse(Native.toString(text, StandardCharsets.UTF_8.name()));
  }

  Gpu gpu(int index, Pointer gpu) throws NvmlException {
    byte[] name = new byte[TEXT];
    check(nvml.nvmlDeviceGetName(gpu, name, name.length));
    Memory memory = new Memory(3 * Long.BYTES);
    check(nvml.nvmlDeviceGetMemoryInfo(gpu, memory));
    Memory pci = new Memory(PCI_INFO);
    check(nvml.nvmlDeviceGetPciInfo_v3(gpu, pci));
    IntByReference major = new IntByReference();
    IntByReference minor = new IntByReference();
    check(nvml.nvmlDeviceGetCudaComputeCapability(gpu, major, minor));
    return new Gpu(
        index,
        uuid(gpu),
        Native.toString(name, StandardCharsets.UTF_8.name()),
        memory.getLong(0),
        memory.getLong(Long.BYTES),
        pci.getString(PCI_BUS_ID, StandardCharsets.UTF_8.name()),
        major.getValue() + "." + minor.getValue(),
        mig(gpu),
        persistence(gpu));
  }

  private boolean mig(Pointer gpu) throws NvmlException {
    IntByReference now = new IntByReference();
    IntByReference pending = new IntByReference();
    int result = nvml.nvmlDeviceGetMigMode(gpu, now, pending);
    if (result == NvmlException.NOT_SUPPORTED) {
      return false; // a GPU without MIG support
    }
    check(result);
    return now.getValue() != 0;
  }

  boolean persistence(Pointer gpu) throws NvmlException {
    IntByReference mode = new IntByReference();
    int result = nvml.nvmlDeviceGetPersistenceMode(gpu, mode);
    if (result == NvmlException.NOT_SUPPORTED) {
      return false; // then cuInit precedes a Restore, which is always correct
    }
    check(result);
    return mode.getValue() != 0;
  }

  Relation relation(Pointer first, Pointer second) {
    IntByReference status = new IntByReference();
    int result = nvml.nvmlDeviceGetP2PStatus(first, second, P2P_NVLINK, status);
    if (result == NvmlException.SUCCESS && status.getValue() == 0) {
      return Relation.NVLINK;
    }
    IntByReference level = new IntByReference();
    result = nvml.nvmlDeviceGetTopologyCommonAncestor(first, second, level);
    if (result != NvmlException.SUCCESS) {
      return Relation.UNKNOWN; // often hidden in a virtual machine
    }
    return switch (level.getValue()) {
      case 0 -> Relation.SAME_BOARD;
      case 10 -> Relation.PCIE_SWITCH;
      case 20 -> Relation.PCIE_SWITCHES;
      case 30 -> Relation.HOST_BRIDGE;
      case 40 -> Relation.NUMA_NODE;
      case 50 -> Relation.SYSTEM;
      default -> Relation.UNKNOWN;
    };
  }

  /**
   * Returns the NVLinks from one GPU to another. If they end at a switch, each of them reaches
   * every GPU.
   *
   * @param all every GPU of the node: a link that ends at none of them ends at a switch
   */
  int lanes(Pointer from, Gpu to, List<Gpu> all) {
    int direct = 0;
    int switched = 0;
    Memory pci = new Memory(PCI_INFO);
    IntByReference active = new IntByReference();
    for (int link = 0; link < NVLINKS; link++) {
      boolean up =
          nvml.nvmlDeviceGetNvLinkState(from, link, active) == NvmlException.SUCCESS
              && active.getValue() != 0
              && nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2(from, link, pci) == NvmlException.SUCCESS;
      if (up) {
        String end = pci.getString(PCI_BUS_ID, StandardCharsets.UTF_8.name());
        direct += end.equalsIgnoreCase(to.pciBusId()) ? 1 : 0;
        switched += all.stream().noneMatch(gpu -> gpu.pciBusId().equalsIgnoreCase(end)) ? 1 : 0;
      }
    }
    return direct > 0 ? direct : switched;
  }

  /** Empty if the process uses none there. */
  OptionalLong memoryOf(Pointer gpu, int pid) throws NvmlException {
    // Room for more processes than just reported: the list may grow between the two calls.
    int room = 64;
    while (true) {
      IntByReference count = new IntByReference(room);
      Memory processes = new Memory((long) room * PROCESS_INFO);
      int result = nvml.nvmlDeviceGetComputeRunningProcesses_v3(gpu, count, processes);
      if (result == NvmlException.INSUFFICIENT_SIZE && room < count.getValue() + 64) {
        room = count.getValue() + 64;
        continue;
      }
      check(result);
      return memoryOf(processes, count.getValue(), pid);
    }
  }

  private static OptionalLong memoryOf(Memory processes, int count, int pid) {
    long bytes = 0;
    boolean seen = false;
    for (int i = 0; i < count; i++) {
      long at = (long) i * PROCESS_INFO;
      long used = processes.getLong(at + Long.BYTES);
      if (processes.getInt(at) == pid && used != UNKNOWN_BYTES) {
        bytes += used;
        seen = true;
      }
    }
    return seen ? OptionalLong.of(bytes) : OptionalLong.empty();
  }
}
