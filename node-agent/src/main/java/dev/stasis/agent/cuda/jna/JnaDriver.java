package dev.stasis.agent.cuda.jna;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import dev.stasis.agent.cuda.CudaResult;
import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.GpuPair;
import dev.stasis.agent.cuda.NativeDriver;
import dev.stasis.agent.cuda.NodeGpus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntBiFunction;
import org.jspecify.annotations.Nullable;

/** The node's real libcuda and NVML, or the libraries that the environment names instead. */
public final class JnaDriver implements NativeDriver {

  private static final List<String> WANTED =
      List.of(
          "cuCheckpointProcessGetState",
          "cuCheckpointProcessGetRestoreThreadId",
          "cuCheckpointProcessLock",
          "cuCheckpointProcessCheckpoint",
          "cuCheckpointProcessRestore",
          "cuCheckpointProcessUnlock");

  private final LibrarySearch search;
  private final Nvml nvml;
  private final Object initLock = new Object();

  private volatile @Nullable CudaLibrary cuda;
  private volatile @Nullable DriverAvailability found;
  private boolean initialised;

  /**
   * @param environment {@code STASIS_LIBCUDA} and {@code STASIS_LIBNVML} name the libraries
   */
  public JnaDriver(Map<String, String> environment) {
    this.search = new LibrarySearch(environment);
    this.nvml = new Nvml(search);
  }

  @Override
  public DriverAvailability availability() {
    DriverAvailability known = found;
    return known != null ? known : load();
  }

  private synchronized DriverAvailability load() {
    DriverAvailability known = found;
    if (known != null) {
      return known;
    }
    LibrarySearch.Loaded<CudaLibrary> loaded;
    try {
      loaded = search.cuda();
    } catch (LibrarySearch.NotFound e) {
      // Not cached: a driver may be installed while the worker runs.
      return e.why();
    }
    IntByReference version = new IntByReference();
    int result = loaded.calls().cuDriverGetVersion(version);
    DriverAvailability availability;
    if (result != CudaResult.SUCCESS) {
      availability = new DriverAvailability.Broken(result, name(loaded.calls(), result));
    } else {
      availability =
          missing(loaded)
              .<DriverAvailability>map(
                  symbol -> new DriverAvailability.Outdated(version.getValue(), symbol))
              .orElseGet(() -> new DriverAvailability.Present(loaded.path(), version.getValue()));
    }
    cuda = loaded.calls();
    found = availability;
    return availability;
  }

  private static Optional<String> missing(LibrarySearch.Loaded<CudaLibrary> loaded) {
    for (String symbol : WANTED) {
      try {
        loaded.library().getFunction(symbol);
      } catch (UnsatisfiedLinkError e) {
        return Optional.of(symbol);
      }
    }
    return Optional.empty();
  }

  private CudaLibrary cuda() {
    CudaLibrary library = cuda;
    if (library == null) {
      throw new IllegalStateException("libcuda: expected a call of availability() first");
    }
    return library;
  }

  @Override
  public String resultName(int result) {
    return name(cuda(), result);
  }

  private static String name(CudaLibrary library, int result) {
    PointerByReference name = new PointerByReference();
    Pointer text =
        library.cuGetErrorName(result, name) == CudaResult.SUCCESS ? name.getValue() : null;
    return text == null ? "CUDA_ERROR_" + result : text.getString(0);
  }

  @Override
  public int init() {
    synchronized (initLock) {
      int result = initialised ? CudaResult.SUCCESS : cuda().cuInit(0);
      initialised = result == CudaResult.SUCCESS;
      return result;
    }
  }

  @Override
  public Reading state(int pid) {
    return reading(pid, cuda()::cuCheckpointProcessGetState);
  }

  @Override
  public Reading restoreThread(int pid) {
    return reading(pid, cuda()::cuCheckpointProcessGetRestoreThreadId);
  }

  private static Reading reading(int pid, ToIntBiFunction<Integer, IntByReference> call) {
    IntByReference value = new IntByReference();
    int result = call.applyAsInt(pid, value);
    return new Reading(result, value.getValue());
  }

  @Override
  public int lock(int pid, int timeoutMillis) {
    return CudaArguments.timeout(
        timeoutMillis, arguments -> cuda().cuCheckpointProcessLock(pid, arguments));
  }

  @Override
  public int checkpoint(int pid) {
    return CudaArguments.none(arguments -> cuda().cuCheckpointProcessCheckpoint(pid, arguments));
  }

  @Override
  public int restore(int pid, List<GpuPair> map) {
    return CudaArguments.pairs(map, arguments -> cuda().cuCheckpointProcessRestore(pid, arguments));
  }

  @Override
  public int unlock(int pid) {
    return CudaArguments.none(arguments -> cuda().cuCheckpointProcessUnlock(pid, arguments));
  }

  @Override
  public boolean persistence() {
    return nvml.persistence();
  }

  @Override
  public NodeGpus gpus() {
    return nvml.gpus(availability());
  }

  @Override
  public GpuMemory memoryOf(int pid) {
    return nvml.memoryOf(pid);
  }
}
