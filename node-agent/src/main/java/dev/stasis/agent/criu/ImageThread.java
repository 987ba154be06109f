package dev.stasis.agent.criu;

import dev.stasis.agent.process.ThreadRights;
import java.util.List;

/**
 * A thread that criu would restore.
 *
 * @param tid its number in its own namespace
 * @param rights the rights that it would get
 * @param filters its seccomp filters, oldest first
 * @param userNamespace whether its process would get a new user namespace
 */
public record ImageThread(
    int tid, ThreadRights rights, List<SeccompProgram> filters, boolean userNamespace) {

  public ImageThread {
    filters = List.copyOf(filters);
  }
}
