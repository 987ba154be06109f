package dev.stasis.local.runc;

import java.nio.file.Path;

/** The paths of one container. */
public record Bundle(Path folder) {

  /** The root file system as the container sees it. */
  public Path rootfs() {
    return folder.resolve("rootfs");
  }

  /** The files that it wrote into its root file system. */
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
