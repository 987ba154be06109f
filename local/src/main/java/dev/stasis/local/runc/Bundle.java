package dev.stasis.local.runc;

import java.nio.file.Path;

/** Where the parts of one container lie. */
public record Bundle(Path folder) {

  /** The root file system, as the container sees it. */
  public Path rootfs() {
    return folder.resolve("rootfs");
  }

  /** What it wrote into its root file system. */
  public Path upper() {
    return folder.resolve("upper");
  }

  Path work() {
    return folder.resolve("work");
  }

  Path config() {
    return folder.resolve("config.json");
  }

  Path pidFile() {
    return folder.resolve("pid");
  }

  Path exitFile() {
    return folder.resolve("exited");
  }

  Path runcLog() {
    return folder.resolve("runc.log");
  }
}
