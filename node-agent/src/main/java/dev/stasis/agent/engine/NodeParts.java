package dev.stasis.agent.engine;

import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.direct.Keepers;
import dev.stasis.agent.mover.JournalReader;
import dev.stasis.agent.mover.Mover;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The engine's components on this node.
 *
 * @param proc /proc
 * @param pids opens processes
 * @param tree lists their processes
 * @param driver the CUDA driver
 * @param calls the driver's calls with their deadlines and recovery
 * @param gate precedes every Restore
 * @param journal the recorded operations
 * @param mover moves regions
 * @param keepers keepers of the direct data path
 * @param tools our own programs
 * @param thp the huge page setting
 * @param stateDir the node's state folder
 * @param memoryStage a folder on a tmpfs of the host for stages in memory
 * @param rates how fast memory was copied
 * @param parallel runs tasks in parallel
 * @param threads copying and hashing threads
 * @param restoreWithoutAppArmor whether restored processes get no AppArmor profile of their
 *     container
 * @param storeSilence how long a store may make no progress while a workload is frozen
 * @param clock for times shown to users
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
    Keepers keepers,
    Tools tools,
    ThpSetting thp,
    Path stateDir,
    Path memoryStage,
    CopyRates rates,
    Parallel parallel,
    int threads,
    boolean restoreWithoutAppArmor,
    Duration storeSilence,
    Clock clock,
    LongSupplier nanoTime) {

  /** Reservations of running operations. */
  MemoryLedger ledger() {
    return new MemoryLedger(stateDir, locks, journal, proc);
  }

  /** Returns the room besides the reservations of other operations. */
  Room room() {
    MemoryLedger ledger = ledger();
    return new Room(
        proc,
        container -> {
          try {
            return ledger.others(container.id()).hostBytes();
          } catch (IOException e) {
            throw new UncheckedIOException("ledger of reserved memory", e);
          }
        });
  }
}
