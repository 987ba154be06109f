package dev.stasis.agent.criu;

import java.io.IOException;
import java.io.InputStream;

/**
 * What criu creates of inotify for a workload.
 *
 * @param instances number of inotify instances
 * @param watches number of watched files of all instances
 */
public record ImageWatches(long instances, long watches) {

  static final String FILE = "files.img";
  static final int MAGIC = 0x56303138;

  /** The kernel opens fewer files on a machine with a terabyte of memory. */
  private static final int MOST_FILES = 110_000_000;

  private static final int INOTIFY = 13;
  private static final int WATCH = 5;

  /** Reads the image with all open files. */
  static ImageWatches read(InputStream in) throws IOException {
    long[] found = {0, 0};
    new CriuImage(FILE, CriuImage.COMMON, MAGIC)
        .read(
            in,
            MOST_FILES,
            file -> {
              while (file.next()) {
                if (file.field() == INOTIFY) {
                  found[0]++;
                  file.message(
                      instance -> {
                        while (instance.next()) {
                          found[1] += instance.field() == WATCH ? 1 : 0;
                        }
                      });
                }
              }
            });
    return new ImageWatches(found[0], found[1]);
  }
}
