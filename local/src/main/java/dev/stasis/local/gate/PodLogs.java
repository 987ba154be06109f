package dev.stasis.local.gate;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the output of containers. */
@FunctionalInterface
public interface PodLogs {

  /**
   * Returns the output of a container's newest attempt.
   *
   * @param container empty for the pod's first container
   */
  Optional<Log> find(String namespace, String pod, String container);

  /**
   * @param file the complete output
   * @param pid pid of its first process, possibly ended
   */
  record Log(Path file, long pid) {

    /**
     * Copies the output.
     *
     * @param tail number of lines; empty or -1 for all
     * @param follow whether to continue until the process ends, or the reader is gone
     */
    void copyTo(OutputStream out, String tail, boolean follow) throws IOException {
      List<String> command =
          new ArrayList<>(List.of("tail", "-n", tail.isEmpty() || tail.equals("-1") ? "+1" : tail));
      if (follow) {
        command.addAll(List.of("-f", "--pid", Long.toString(pid)));
      }
      command.add(file.toString());
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      try (InputStream in = process.getInputStream()) {
        byte[] buffer = new byte[8192];
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
          out.write(buffer, 0, read);
          out.flush();
          if (out instanceof PrintStream print && print.checkError()) {
            return;
          }
        }
      } finally {
        process.destroy();
      }
    }
  }
}
