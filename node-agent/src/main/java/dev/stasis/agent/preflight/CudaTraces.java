package dev.stasis.agent.preflight;

import dev.stasis.agent.process.OpenFile;
import java.util.Collection;
import java.util.List;

/**
 * The files of CUDA in a process. They are used for a stopped process, for which the driver cannot
 * be called: without any of them it does not use CUDA; with one, it may.
 */
public record CudaTraces(Collection<String> mappedFiles, List<OpenFile> files) {

  public CudaTraces {
    mappedFiles = List.copyOf(mappedFiles);
    files = List.copyOf(files);
  }

  /** Returns whether the driver's library is mapped, or one of its devices is open. */
  public boolean any() {
    return mappedFiles.stream().anyMatch(path -> path.contains("libcuda.so"))
        || files.stream().anyMatch(file -> file.target().startsWith("/dev/nvidia"));
  }
}
