package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The verification: the processes of the {@link RestoredProcessCheck} are alive, RUNNING according
 * to the driver, with their device memory, and no thread has more rights than the target pod. Only
 * then the gate opens: a mark is created in the holder's folder, on which the readiness of the pod
 * and the holder's next start depend.
 *
 * <p>Has no undo: the mark is created last.
 */
final class ProveStep implements Step<Restoring, FrozenWork> {

  /** The mark in the holder's folder. */
  static final String MARK = "restored";

  @Override
  public String name() {
    return "prove";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure, InterruptedException {
    Map<ProcessId, CudaProcess> cuda = new HashMap<>();
    restoring.work().cuda().forEach(one -> cuda.put(one.process(), one));
    Map<Integer, ProcessStat> living =
        new RestoredProcessCheck(restoring.byOwnPid(), cuda.keySet(), restoring.node().proc()::stat)
            .living();
    for (Map.Entry<Integer, ProcessStat> one : living.entrySet()) {
      ProcessStat stat = one.getValue();
      CudaProcess gpu = cuda.get(stat.id());
      restoring
          .proof()
          .add(
              new ProvenProcess(
                  one.getKey(),
                  stat.id(),
                  stat.comm(),
                  stat.state(),
                  gpu == null ? null : running(restoring, gpu),
                  gpu == null ? 0 : restoring.memory().require(gpu)));
    }
    new RightsCheck(restoring.node())
        .threads(new RestoredTree(restoring).restored(), restoring.target(), false);
    // From here on a successor keeps the workload: it is verified.
    restoring.note(work -> work.withPhase(Work.Phase.PUBLISHING));
    mark(restoring.holderFolder());
  }

  private static CudaState running(Restoring restoring, CudaProcess process)
      throws StepFailure, InterruptedException {
    CudaState state = restoring.node().calls().state(process);
    if (state != CudaState.RUNNING) {
      throw new StepFailure(
          Reason.NOT_PROVEN,
          "process %s: expected RUNNING, got %s".formatted(process.process(), state));
    }
    return state;
  }

  /** Opens the gate; it may be open already after a predecessor has died. */
  static void mark(Path holderFolder) throws StepFailure {
    Path mark = holderFolder.resolve(MARK);
    try {
      Files.newByteChannel(
              mark,
              Set.of(
                  StandardOpenOption.CREATE_NEW,
                  StandardOpenOption.WRITE,
                  LinkOption.NOFOLLOW_LINKS))
          .close();
    } catch (FileAlreadyExistsException e) {
      return;
    } catch (IOException e) {
      throw new StepFailure(
          Reason.NOT_PROVEN,
          "cannot write the mark of the restore " + mark + ": " + e.getMessage(),
          e);
    }
  }
}
