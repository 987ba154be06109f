package dev.stasis.e2e.kube;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.awaitility.Awaitility;

/**
 * The classes that a program loads until it is ready, in an archive (class data sharing): with it,
 * a start needs half of the processor time. The JVM writes it at the regular end of a process.
 */
final class ClassArchive {

  private final Path archive;
  private final Path options;

  /** An archive of that name, which does not exist yet. */
  ClassArchive(Path folder, String name) throws IOException {
    this.archive = folder.resolve(name + ".jsa");
    this.options = Files.createFile(folder.resolve(name + ".options"));
  }

  /** Returns an option for all processes of the program: a file, which each start reads. */
  String option() {
    return "@" + options;
  }

  /** Starts the program once and ends it. Without an archive, later starts only take longer. */
  void write(LocalProcess program) throws IOException {
    options("-XX:ArchiveClassesAtExit=" + archive);
    program.start();
    Awaitility.await("the first start of " + program.address())
        .atMost(Scenario.PATIENCE)
        .until(
            () -> {
              program.checkAlive();
              return program.isReady();
            });
    program.end();
    options(Files.exists(archive) ? "-XX:SharedArchiveFile=" + archive : "");
    System.out.println("archive of classes: " + (Files.exists(archive) ? archive : "none"));
  }

  private void options(String line) throws IOException {
    Path next = options.resolveSibling(options.getFileName() + ".next");
    Files.writeString(next, line + "\n");
    Files.move(next, options, StandardCopyOption.ATOMIC_MOVE);
  }
}
