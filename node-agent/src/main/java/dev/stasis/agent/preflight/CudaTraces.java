package dev.stasis.agent.preflight;

import dev.stasis.agent.process.OpenFile;
import java.util.Collection;
import java.util.List;

/**
 * What a process that uses CUDA has. It tells of one that the driver cannot be asked about, since
 * somebody has stopped it: without any of this it does not use CUDA; with it, it may.
 *
 * @param mappedFiles the paths of the files in its memory
 * @param files its open files
 */
public record CudaTraces(Collection<String> mappedFiles, List<OpenFile> files) {

  public CudaTraces {
    mappedFiles = List.copyOf(mappedFiles);
    files = List.copyOf(files);
  }

  /** The driver's library in its memory, or one of its devices open. */
  public boolean any() {
    return mappedFiles.stream().anyMatch(path -> path.contains("libcuda.so"))
        || files.stream().anyMatch(file -> file.target().startsWith("/dev/nvidia"));
  }
}
