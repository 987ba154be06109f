package dev.stasis.agent.daemon.probes;

import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Finds the sockets on which processes listen. */
final class ListeningSockets {

  private static final String LISTEN = "0A";
  private static final int HEX = 16;

  private final ProcFs proc;

  ListeningSockets(ProcFs proc) {
    this.proc = proc;
  }

  /** A descriptor of a process that is a listening socket. */
  record Socket(ProcessId process, int fd) {}

  /**
   * Every socket of these processes that listens on a port, whatever its address; one for each,
   * though several may hold it.
   */
  List<Socket> of(List<ProcessId> tree, int port) throws IOException {
    List<Socket> found = new ArrayList<>();
    if (tree.isEmpty()) {
      return found;
    }
    // All processes of a container are in one network namespace.
    Set<Long> wanted = inodes(tree.get(0).pid(), port);
    for (ProcessId process : tree) {
      for (OpenFile file : proc.openFiles(process.pid())) {
        if (file.target().startsWith("socket:[")
            && file.inode().isPresent()
            && wanted.remove(file.inode().getAsLong())) {
          found.add(new Socket(process, file.fd()));
        }
      }
    }
    return found;
  }

  private Set<Long> inodes(int pid, int port) throws IOException {
    Set<Long> inodes = new HashSet<>();
    for (String table : List.of("net/tcp", "net/tcp6")) {
      Path file = proc.folder(pid).resolve(table);
      if (Files.exists(file)) {
        for (String line : Files.readAllLines(file)) {
          // sl, local address, remote address, state, queues, timer, retransmits, uid, timeout,
          // inode
          String[] field = line.trim().split("\\s+");
          if (field.length > 9 && field[3].equals(LISTEN) && port(field[1]) == port) {
            inodes.add(Long.parseLong(field[9]));
          }
        }
      }
    }
    return inodes;
  }

  private static int port(String address) {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1), HEX);
  }
}
