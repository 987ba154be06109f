package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.direct.Gate;
import dev.stasis.agent.direct.Keeper;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One run of the {@link OffloadStep}: gates closed, and memory taken over. Its content is stored
 * now if the workload is suspended, otherwise in parallel to the next steps.
 */
final class Offload {

  /**
   * With several processes, each waits for the others with its gate closed, and opens it again
   * after 10 s without a message.
   */
  private static final Duration CLOSE_ONE_OF_SEVERAL = Duration.ofSeconds(5);

  private final Freeze freeze;
  private final DataPath.Direct direct;

  Offload(Freeze freeze, DataPath.Direct direct) {
    this.freeze = freeze;
    this.direct = direct;
  }

  void run() throws StepFailure, InterruptedException {
    try (Keeper keeper = freeze.node().keepers().open(freeze.work().containerId())) {
      Map<ProcessId, Gate> gates;
      try {
        gates = closeGates(keeper);
      } catch (KeeperFailure e) {
        leaveToDriver(Reason.LOCK_TIMEOUT, e.getMessage());
        return;
      }
      Optional<String> missing = noWayBack(gates);
      if (missing.isPresent()) {
        leaveToDriver(Reason.NO_ROOM, missing.get());
        return;
      }
      try {
        takeOver(keeper);
      } catch (KeeperFailure e) {
        throw failure(e);
      }
    } catch (KeeperFailure e) {
      leaveToDriver(Reason.REGION_MOVE, e.getMessage());
    }
  }

  /** Checks again what was checked before the freeze: it may have allocated since. */
  private Optional<String> noWayBack(Map<ProcessId, Gate> gates) throws StepFailure {
    return freeze.request().after() == After.SUSPEND
        ? Optional.empty() // The GPU is empty when it resumes.
        : new WayBack(freeze.node().calls(), freeze.node().gate()).missing(gates);
  }

  private Map<ProcessId, Gate> closeGates(Keeper keeper)
      throws KeeperFailure, StepFailure, InterruptedException {
    List<ProcessId> processes = direct.processes();
    List<Offloaded> begun = new ArrayList<>();
    for (ProcessId process : processes) {
      begun.add(new Offloaded(process, freeze.ownPid(process), Map.of(), null));
    }
    note(begun);
    for (ProcessId process : processes) {
      keeper.attach(process);
    }
    Duration limit = freeze.request().options().lockTimeout();
    boolean shorter = processes.size() > 1 && limit.compareTo(CLOSE_ONE_OF_SEVERAL) > 0;
    Map<ProcessId, Gate> closed = new LinkedHashMap<>();
    for (ProcessId process : processes) {
      Gate gate = keeper.close(process, shorter ? CLOSE_ONE_OF_SEVERAL : limit);
      for (ProcessId waiting : closed.keySet()) {
        keeper.status(waiting);
      }
      closed.put(process, gate);
    }
    return closed;
  }

  private void note(List<Offloaded> offloaded) {
    freeze.note(work -> work.withOffloaded(offloaded, freeze.stage().folder().toString()));
  }

  /** Nothing was passed on yet, so the driver can checkpoint everything. */
  private void leaveToDriver(Reason reason, @Nullable String why)
      throws StepFailure, InterruptedException {
    if (direct.only()) {
      throw new StepFailure(reason, "direct data path, the only one here: " + why);
    }
    new Reload(freeze).run();
    freeze.node().keepers().rest(freeze.work().containerId());
    freeze.note(work -> work.withOffloaded(List.of(), null));
    freeze.offloading().leaveToDriver(String.valueOf(why));
  }

  /** From here on a failure is undone: memory that was passed on is given back. */
  private void takeOver(Keeper keeper) throws KeeperFailure, StepFailure, InterruptedException {
    boolean suspend = freeze.request().after() == After.SUSPEND;
    List<Offloaded> all = new ArrayList<>();
    for (Offloaded one : freeze.work().offloaded()) {
      // No process can allocate any more.
      all.add(
          new Offloaded(
              one.process(),
              one.ownPid(),
              freeze.deviceBytes(one.process()),
              suspend ? freeze.offloading().file(one.ownPid()).toString() : null));
    }
    note(all);
    // The prepared keeper may have been replaced, and the workload may use another GPU by now.
    Set<GpuUuid> gpus = new TreeSet<>();
    all.forEach(one -> gpus.addAll(one.deviceBytes().keySet()));
    keeper.use(gpus);
    for (Offloaded one : all) {
      keeper.export(one.process());
    }
    for (Offloaded one : all) {
      keeper.unload(one.process());
    }
    List<Offloaded> unsaved = new ArrayList<>();
    for (Offloaded one : all) {
      if (freeze.request().after() != After.RESUME || !copied(keeper, one)) {
        unsaved.add(one);
      }
    }
    if (suspend) {
      save(keeper, unsaved);
    }
    for (Offloaded one : all) {
      keeper.detach(one.process());
    }
    if (suspend) {
      // The GPU must be free: from here on the file is the only copy.
      for (Offloaded one : all) {
        keeper.drop(one.process());
      }
      // Its own context takes some hundred MiB; the reload starts another keeper.
      freeze.node().keepers().end(freeze.work().containerId());
    } else if (!unsaved.isEmpty()) {
      freeze.copyBeside(() -> save(unsaved));
    }
  }

  /** The driver's Checkpoint and the dump do not touch this memory. */
  private void save(List<Offloaded> all) throws StepFailure, InterruptedException {
    try (Keeper keeper = freeze.node().keepers().open(freeze.work().containerId())) {
      save(keeper, all);
    } catch (KeeperFailure e) {
      throw failure(e);
    }
  }

  private void save(Keeper keeper, List<Offloaded> all)
      throws KeeperFailure, StepFailure, InterruptedException {
    for (Offloaded one : all) {
      Path file = freeze.offloading().file(one.ownPid());
      try {
        freeze
            .storeCalls()
            .call("device memory", pulse -> Files.createDirectories(file.resolveSibling(".")));
      } catch (IOException e) {
        throw new StepFailure(Reason.STORE_FAILED, "device memory: " + e.getMessage(), e);
      }
      new KeeperSave(keeper, freeze.node().storeSilence(), freeze.storeCalls())
          .run(
              one.process(),
              file,
              one.totalBytes(),
              bytes -> freeze.offloading().grew(file, bytes));
      freeze.offloading().saved(one.process(), file);
    }
    freeze.offloading().done();
  }

  private static StepFailure failure(KeeperFailure e) {
    return new StepFailure(
        e.isSilentStore() ? Reason.STORE_FAILED : Reason.REGION_MOVE,
        "direct data path: " + e.getMessage(),
        e);
  }

  /**
   * Copies the content of a workload that resumes immediately, which changes it: on the GPU, or
   * into the room that was made in host memory. The copy is written after the thaw. If neither has
   * space, the content is written now.
   */
  private boolean copied(Keeper keeper, Offloaded one) throws KeeperFailure, InterruptedException {
    try {
      keeper.snapshot(one.process(), freeze.offloading().snapshotReserveMib());
      return true;
    } catch (KeeperFailure noRoom) {
      if (noRoom.connectionLost()) {
        throw noRoom;
      }
    }
    try {
      keeper.stage(one.process(), freeze.offloading().file(one.ownPid()));
      freeze.offloading().staged(one.process());
      return true;
    } catch (KeeperFailure noRoom) {
      if (noRoom.connectionLost()) {
        throw noRoom;
      }
      return false;
    }
  }
}
