package dev.stasis.local.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * An image of one host program and the C library, without a shell or other files.
 *
 * @param program the program on the host
 * @param inImage its path in the image
 * @param libraries whether to include the C library; a static program needs none
 */
public record ProgramFiles(Path program, String inImage, boolean libraries)
    implements LocalImages.RootFiles {

  private static final List<String> FOLDERS =
      List.of("bin", "proc", "dev", "sys", "tmp", "run", "etc", "usr/lib/x86_64-linux-gnu");

  /** The libraries that the workload and a real driver's library need. */
  private static final List<String> LIBRARIES =
      List.of(
          "lib/x86_64-linux-gnu/libc.so.6",
          "lib/x86_64-linux-gnu/libdl.so.2",
          "lib/x86_64-linux-gnu/libpthread.so.0",
          "lib/x86_64-linux-gnu/libm.so.6",
          "lib/x86_64-linux-gnu/librt.so.1",
          "lib64/ld-linux-x86-64.so.2");

  @Override
  public void fill(Path rootfs) throws IOException {
    for (String folder : FOLDERS) {
      Files.createDirectories(rootfs.resolve(folder));
    }
    Files.setPosixFilePermissions(
        rootfs.resolve("tmp"), PosixFilePermissions.fromString("rwxrwxrwx"));
    copy(program, rootfs.resolve(inImage));
    if (libraries) {
      for (String library : LIBRARIES) {
        Path source = Path.of("/").resolve(library);
        if (Files.exists(source)) {
          copy(source, rootfs.resolve(library));
        }
      }
    }
  }

  private static void copy(Path source, Path target) throws IOException {
    Files.createDirectories(target.getParent());
    Files.copy(source.toRealPath(), target, StandardCopyOption.REPLACE_EXISTING);
  }
}
