package dev.stasis.agent.criu;

/**
 * The reason why criu failed.
 *
 * @param kind the kind of failure
 * @param subject the file, mount, process or limit concerned, as criu names it
 * @param line criu's message
 */
public record CriuFault(Kind kind, String subject, String line) {

  /** The failures that a user can act on, and {@link #OTHER}. */
  public enum Kind {
    UNSUPPORTED_FILE("holds a file that criu cannot dump"),
    DELETED_FILE_TOO_LARGE("holds a deleted file above the ghost limit"),
    LEFT_OVER_LINK("a link of an earlier dump is in the way"),
    FILE_CHANGED("a file is not the one that was dumped"),
    FILE_MISSING("a file is missing"),
    MOUNT_UNKNOWN("a mount has no counterpart"),
    MOUNT_FAILED("a mount could not be created"),
    OUTSIDE_SOCKET("a socket is connected to a process outside"),
    OUTSIDE_SESSION("a process belongs to a session or terminal outside"),
    OUTSIDE_SHARED_MEMORY("shared memory belongs to another IPC namespace"),
    PID_TAKEN("a pid is taken"),
    NOT_SEIZED("a process could not be seized"),
    NOT_PERMITTED("a permission is missing"),
    CPU_DIFFERS("this CPU lacks features of the CPU on which the workload was started"),
    NO_MEMORY("out of memory"),
    NO_SPACE("the disk is full"),
    SEIZE_TIMEOUT("the processes could not be seized in time"),
    IMAGES_DAMAGED("the images are damaged"),
    NOT_STARTED("criu could not be started"),
    OTHER("criu failed");

    private final String meaning;

    Kind(String meaning) {
      this.meaning = meaning;
    }

    public String meaning() {
      return meaning;
    }
  }

  @Override
  public String toString() {
    return kind.meaning() + ": " + (subject.isEmpty() ? line : subject);
  }
}
