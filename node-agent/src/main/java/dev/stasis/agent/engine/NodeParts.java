package dev.stasis.agent.engine;

import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.mover.JournalReader;
import dev.stasis.agent.mover.Mover;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.function.LongSupplier;

/**
 * What the engine works with on this node.
 *
 * @param proc /proc
 * @param pids holds on processes
 * @param containers finds containers
 * @param tree lists their processes
 * @param driver the CUDA driver
 * @param calls the driver's calls with their deadlines and what follows a hang
 * @param gate stands before every Restore
 * @param locks locks on the host
 * @param journal the work in hand
 * @param journals region journals
 * @param mover moves regions
 * @param tools programs of ours
 * @param thp the huge page setting
 * @param stateDir the node's state folder
 * @param memoryStage a folder on a tmpfs of the host for stages in memory
 * @param parallel does things side by side
 * @param threads copying and hashing threads
 * @param restoreWithoutAppArmor whether a container's AppArmor profile may be lost in a restore
 * @param clock for times that people read
 * @param nanoTime for durations
 */
record NodeParts(
    ProcFs proc,
    PidFds pids,
    ContainerResolver containers,
    ProcessTree tree,
    CudaDriver driver,
    GuardedDriver calls,
    GpuGate gate,
    HostLocks locks,
    WorkJournal journal,
    JournalReader journals,
    Mover mover,
    Tools tools,
    ThpSetting thp,
    Path stateDir,
    Path memoryStage,
    Parallel parallel,
    int threads,
    boolean restoreWithoutAppArmor,
    Clock clock,
    LongSupplier nanoTime) {

  /** What freezes in progress were promised. */
  MemoryLedger ledger() {
    return new MemoryLedger(stateDir, locks, journal, proc);
  }

  /** The room that is left beside what others were promised. */
  Room room() {
    MemoryLedger ledger = ledger();
    return new Room(
        proc,
        container -> {
          try {
            return ledger.others(container.id()).hostBytes();
          } catch (IOException e) {
            throw new UncheckedIOException("ledger of promised memory", e);
          }
        });
  }
}
