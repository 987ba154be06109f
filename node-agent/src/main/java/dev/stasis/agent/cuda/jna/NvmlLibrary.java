package dev.stasis.agent.cuda.jna;

import com.sun.jna.Library;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;

/** The part of libnvidia-ml.so.1 that is used; a device is an opaque pointer. */
interface NvmlLibrary extends Library {

  int nvmlInit_v2();

  int nvmlShutdown();

  Pointer nvmlErrorString(int result);

  int nvmlSystemGetDriverVersion(byte[] version, int length);

  int nvmlSystemGetCudaDriverVersion_v2(IntByReference version);

  int nvmlDeviceGetCount_v2(IntByReference count);

  int nvmlDeviceGetHandleByIndex_v2(int index, PointerByReference device);

  int nvmlDeviceGetUUID(Pointer device, byte[] uuid, int length);

  int nvmlDeviceGetName(Pointer device, byte[] name, int length);

  /** Writes u64 total, free, used. */
  int nvmlDeviceGetMemoryInfo(Pointer device, Pointer memory);

  /** Writes 68 bytes; the last 32 are the bus id as text. */
  int nvmlDeviceGetPciInfo_v3(Pointer device, Pointer pci);

  int nvmlDeviceGetCudaComputeCapability(
      Pointer device, IntByReference major, IntByReference minor);

  int nvmlDeviceGetMigMode(Pointer device, IntByReference now, IntByReference pending);

  int nvmlDeviceGetPersistenceMode(Pointer device, IntByReference mode);

  int nvmlDeviceGetP2PStatus(Pointer first, Pointer second, int capability, IntByReference status);

  int nvmlDeviceGetNvLinkState(Pointer device, int link, IntByReference active);

  int nvmlDeviceGetNvLinkRemotePciInfo_v2(Pointer device, int link, Pointer pci);

  int nvmlDeviceGetTopologyCommonAncestor(Pointer first, Pointer second, IntByReference level);

  /** Writes entries of 24 bytes: u32 pid, 4 bytes of padding, u64 bytes used, u32, u32. */
  int nvmlDeviceGetComputeRunningProcesses_v3(
      Pointer device, IntByReference count, Pointer processes);
}
