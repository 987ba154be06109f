package dev.stasis.agent.preflight;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The processes of a container with a CUDA context, and their possible connections.
 *
 * @param holders the processes. One that has only called cuInit (a launcher) has no context
 * @param unixPeers the peers of connected Unix sockets, by inode
 */
public record Contexts(List<Holder> holders, Map<Long, Long> unixPeers) {

  public Contexts {
    holders = List.copyOf(holders);
    unixPeers = Map.copyOf(unixPeers);
  }

  /** No connections, since there is at most one context. */
  public static Contexts none() {
    return new Contexts(List.of(), Map.of());
  }

  /**
   * A process with a CUDA context.
   *
   * @param member the process
   * @param memory the memory that it may share with others
   */
  public record Holder(Subject.Member member, Set<SharedMemory> memory) {

    public Holder {
      memory = Set.copyOf(memory);
    }
  }

  /**
   * A file of memory that a process maps shared or holds open.
   *
   * @param device its file system, as {@code MAJOR:MINOR} in hexadecimal
   * @param inode its inode there
   * @param path its name
   * @param writable whether the process can write to it
   */
  public record SharedMemory(String device, long inode, String path, boolean writable) {

    boolean isSameAs(SharedMemory other) {
      return inode == other.inode && device.equals(other.device);
    }
  }
}
