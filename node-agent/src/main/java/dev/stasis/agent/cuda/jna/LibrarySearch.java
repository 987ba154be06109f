package dev.stasis.agent.cuda.jna;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import dev.stasis.agent.cuda.DriverAvailability;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Finds a library of the driver. It must be the node's own, which matches the kernel module. If the
 * agent runs in a container, the container toolkit or the GPU operator chose its path.
 */
final class LibrarySearch {

  /** A library that was loaded. */
  record Loaded<T extends Library>(T calls, NativeLibrary library, String path) {}

  /** Thrown only by this class, if no candidate could be loaded. */
  static final class NotFound extends Exception {
    private static final long serialVersionUID = 1;
    private final transient DriverAvailability.NoLibrary why;

    NotFound(DriverAvailability.NoLibrary why) {
      super(why.describe());
      this.why = why;
    }

    DriverAvailability.NoLibrary why() {
      return why;
    }
  }

  /** Names the only libcuda to try. */
  static final String LIBCUDA = "STASIS_LIBCUDA";

  /** The same for NVML; if unset, the folder of {@link #LIBCUDA} is used, if that is set. */
  static final String LIBNVML = "STASIS_LIBNVML";

  private static final List<String> FOLDERS =
      List.of(
          "/usr/local/nvidia/lib64",
          "/usr/lib/x86_64-linux-gnu",
          "/usr/lib/aarch64-linux-gnu",
          "/usr/lib64",
          "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
          "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
          "/run/nvidia/driver/usr/lib64");

  private final Map<String, String> environment;

  LibrarySearch(Map<String, String> environment) {
    this.environment = environment;
  }

  Loaded<CudaLibrary> cuda() throws NotFound {
    String named = environment.getOrDefault(LIBCUDA, "");
    return load(
        CudaLibrary.class,
        "libcuda.so.1",
        named.isEmpty() ? everywhere("libcuda.so.1") : List.of(absolute(named).toString()));
  }

  Loaded<NvmlLibrary> nvml() throws NotFound {
    String name = "libnvidia-ml.so.1";
    String named = environment.getOrDefault(LIBNVML, "");
    String cuda = environment.getOrDefault(LIBCUDA, "");
    List<String> candidates;
    if (!named.isEmpty()) {
      candidates = List.of(absolute(named).toString());
    } else if (!cuda.isEmpty()) {
      candidates = List.of(absolute(cuda).resolveSibling(name).toString());
    } else {
      candidates = everywhere(name);
    }
    return load(NvmlLibrary.class, name, candidates);
  }

  private static List<String> everywhere(String name) {
    List<String> candidates = new ArrayList<>();
    // The dynamic loader first: it knows LD_LIBRARY_PATH and ld.so.cache.
    candidates.add(name);
    FOLDERS.forEach(folder -> candidates.add(folder + "/" + name));
    return candidates;
  }

  private static <T extends Library> Loaded<T> load(
      Class<T> type, String name, List<String> candidates) throws NotFound {
    List<String> tried = new ArrayList<>();
    for (String candidate : candidates) {
      try {
        NativeLibrary library = NativeLibrary.getInstance(candidate);
        return new Loaded<>(Native.load(candidate, type), library, candidate);
      } catch (LinkageError e) {
        // Also thrown if JNA itself cannot be unpacked: then no candidate can be loaded.
        boolean there = candidate.startsWith("/") && Files.exists(Path.of(candidate));
        tried.add(there ? candidate + " (" + cause(e) + ")" : candidate);
      }
    }
    throw new NotFound(new DriverAvailability.NoLibrary(name, tried));
  }

  /** JNA accepts a path only if it begins with a slash. */
  private static Path absolute(String path) {
    return Path.of(path).toAbsolutePath();
  }

  private static String cause(LinkageError e) {
    // The first line only repeats the path.
    return String.valueOf(e.getMessage()).lines().skip(1).findFirst().orElse(e.toString());
  }
}
