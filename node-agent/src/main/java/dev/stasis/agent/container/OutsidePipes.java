package dev.stasis.agent.container;

import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Distinguishes pipes with an end outside a tree from those between its own processes. */
final class OutsidePipes {

  /** More than an inspection accepts; a thaw needs none of them. */
  private static final int MOST = 400_000;

  private final ProcFs proc;

  OutsidePipes(ProcFs proc) {
    this.proc = proc;
  }

  /**
   * Returns those of a process and its descendants.
   *
   * @param processes all processes that may descend from it
   */
  List<OutsidePipe> of(ProcessId root, List<ProcessStat> processes) {
    Map<Long, Ends> pipes = new TreeMap<>();
    for (ProcessStat process : new Descendants(processes).of(root)) {
      for (OpenFile file : proc.openFiles(process.pid())) {
        if (file.isPipe() && file.inode().isPresent() && pipes.size() < MOST) {
          pipes.computeIfAbsent(file.inode().getAsLong(), inode -> new Ends()).add(file);
        }
      }
    }
    List<OutsidePipe> outside = new ArrayList<>();
    pipes.forEach(
        (inode, ends) -> {
          // With both ends inside, it needs no process outside.
          if (ends.read != ends.written) {
            outside.add(new OutsidePipe(inode, ends.lowest, ends.written));
          }
        });
    return outside;
  }

  private static final class Ends {
    private boolean read;
    private boolean written;
    private int lowest = Integer.MAX_VALUE;

    private void add(OpenFile file) {
      read |= file.isReadable();
      written |= file.isWritable();
      lowest = Math.min(lowest, file.fd());
    }
  }
}
