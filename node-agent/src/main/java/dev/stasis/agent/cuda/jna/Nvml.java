package dev.stasis.agent.cuda.jna;

import com.sun.jna.Pointer;
import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuLink;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NativeDriver.GpuMemory;
import dev.stasis.agent.cuda.NodeGpus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Queries NVML. It stays initialized between queries, because initialization is slow without
 * persistence mode. After an error it is initialized again, because the driver may have been
 * reloaded.
 */
final class Nvml {

  private final LibrarySearch search;
  private @Nullable NvmlLibrary initialised;

  Nvml(LibrarySearch search) {
    this.search = search;
  }

  /**
   * @param cuda whether libcuda is present; if not, the answer reports that first
   */
  synchronized NodeGpus gpus(DriverAvailability cuda) {
    try {
      NvmlLibrary library = library();
      NvmlDevices devices = new NvmlDevices(library);
      List<Pointer> handles = devices.handles();
      List<Gpu> gpus = new ArrayList<>();
      for (Pointer handle : handles) {
        gpus.add(devices.gpu(gpus.size(), handle));
      }
      List<GpuLink> links = new ArrayList<>();
      for (int first = 0; first < handles.size(); first++) {
        for (int second = first + 1; second < handles.size(); second++) {
          GpuLink.Relation relation = devices.relation(handles.get(first), handles.get(second));
          int lanes =
              relation == GpuLink.Relation.NVLINK
                  ? devices.lanes(handles.get(first), gpus.get(second), gpus)
                  : 0;
          links.add(new GpuLink(first, second, relation, lanes));
        }
      }
      DriverAvailability availability =
          gpus.isEmpty() && cuda instanceof DriverAvailability.Present
              ? new DriverAvailability.NoDevice("the driver is loaded and reports no GPU")
              : cuda;
      return new NodeGpus(
          availability, devices.driverVersion(), devices.cudaVersion(), gpus, links);
    } catch (LibrarySearch.NotFound e) {
      return NodeGpus.none(cuda instanceof DriverAvailability.Present ? e.why() : cuda);
    } catch (NvmlException | UnsatisfiedLinkError e) {
      DriverAvailability why = failed(e);
      return NodeGpus.none(cuda instanceof DriverAvailability.Present ? why : cuda);
    }
  }

  /** Returns whether it is on for all GPUs, and there is at least one. */
  synchronized boolean persistence() {
    try {
      NvmlDevices devices = new NvmlDevices(library());
      List<Pointer> handles = devices.handles();
      for (Pointer handle : handles) {
        if (!devices.persistence(handle)) {
          return false;
        }
      }
      return !handles.isEmpty();
    } catch (LibrarySearch.NotFound e) {
      return false;
    } catch (NvmlException | UnsatisfiedLinkError e) {
      shutDown();
      return false;
    }
  }

  synchronized GpuMemory memoryOf(int pid) {
    try {
      NvmlDevices devices = new NvmlDevices(library());
      Map<GpuUuid, Long> bytes = new TreeMap<>();
      for (Pointer handle : devices.handles()) {
        OptionalLong used = devices.memoryOf(handle, pid);
        if (used.isPresent()) {
          bytes.put(devices.uuid(handle), used.getAsLong());
        }
      }
      return new GpuMemory(new DriverAvailability.Present("NVML", devices.cudaVersion()), bytes);
    } catch (LibrarySearch.NotFound e) {
      return new GpuMemory(e.why(), Map.of());
    } catch (NvmlException | UnsatisfiedLinkError e) {
      return new GpuMemory(failed(e), Map.of());
    }
  }

  private NvmlLibrary library() throws LibrarySearch.NotFound, NvmlException {
    NvmlLibrary known = initialised;
    if (known != null) {
      return known;
    }
    NvmlLibrary library = search.nvml().calls();
    NvmlDevices.check(library, library.nvmlInit_v2());
    initialised = library;
    return library;
  }

  private void shutDown() {
    NvmlLibrary known = initialised;
    if (known != null) {
      known.nvmlShutdown();
      initialised = null;
    }
  }

  private DriverAvailability failed(Throwable e) {
    shutDown();
    if (!(e instanceof NvmlException error)) {
      return new DriverAvailability.Broken(
          NvmlException.FUNCTION_NOT_FOUND, "NVML: " + e.getMessage());
    }
    return error.result() == NvmlException.DRIVER_NOT_LOADED
        ? new DriverAvailability.NoDevice("the kernel module is not loaded")
        : new DriverAvailability.Broken(error.result(), "NVML: " + error.nvmlName());
  }
}
