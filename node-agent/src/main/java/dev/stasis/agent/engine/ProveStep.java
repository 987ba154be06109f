package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The proof: every process alive, no zombie, RUNNING for the driver, its device memory back. Only
 * then the gate opens: the holder's folder gets its mark, which the readiness of a pod and the
 * holder's next start go by.
 */
final class ProveStep implements Step<Restoring, FrozenWork> {

  /** The driver rounds, and its own contexts differ a little from GPU to GPU. */
  private static final long TOLERANCE_BYTES = 64L << 20;

  private static final Duration QUESTION_DEADLINE = Duration.ofSeconds(30);

  /** The mark in the holder's folder. */
  static final String MARK = "restored";

  @Override
  public String name() {
    return "prove";
  }

  @Override
  public String undoName() {
    return "keep-mark";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure, InterruptedException {
    for (ProcessId process : restoring.byOwnPid().values()) {
      Optional<ProcessStat> stat = restoring.node().proc().stat(process);
      if (stat.isEmpty() || stat.get().isZombie()) {
        throw new StepFailure(
            Reason.NOT_PROVEN, "process %s: wanted it alive, found it ended".formatted(process));
      }
    }
    for (CudaProcess process : restoring.work().cuda()) {
      CudaState state = restoring.node().calls().state(process);
      if (state != CudaState.RUNNING) {
        throw new StepFailure(
            Reason.NOT_PROVEN,
            "process %s: wanted RUNNING, found %s".formatted(process.process(), state));
      }
      restoring
          .proof()
          .add(process.process() + " RUNNING, " + bytes(restoring, process) + " bytes");
    }
    open(restoring);
  }

  private static long bytes(Restoring restoring, CudaProcess process) throws StepFailure {
    DriverAnswer<Map<GpuUuid, Long>> answer =
        restoring.node().driver().memoryOf(process.process(), QUESTION_DEADLINE);
    if (!(answer instanceof DriverAnswer.Done<Map<GpuUuid, Long>> done)) {
      throw new StepFailure(
          Reason.NOT_PROVEN,
          "device memory of process %s is not known: %s"
              .formatted(process.process(), answer.describe()));
    }
    for (Map.Entry<GpuUuid, Long> wanted : process.deviceBytes().entrySet()) {
      long found = done.value().getOrDefault(wanted.getKey(), 0L);
      if (found < wanted.getValue() - TOLERANCE_BYTES) {
        throw new StepFailure(
            Reason.NOT_PROVEN,
            "device memory of process %s on GPU %s: wanted %d bytes, found %d"
                .formatted(process.process(), wanted.getKey(), wanted.getValue(), found));
      }
    }
    return done.value().values().stream().mapToLong(Long::longValue).sum();
  }

  private static void open(Restoring restoring) throws StepFailure {
    Path mark = restoring.holderFolder().resolve(MARK);
    try {
      Files.newByteChannel(
              mark,
              Set.of(
                  StandardOpenOption.CREATE_NEW,
                  StandardOpenOption.WRITE,
                  LinkOption.NOFOLLOW_LINKS))
          .close();
    } catch (IOException e) {
      throw new StepFailure(
          Reason.NOT_PROVEN, "the mark of the restore " + mark + ": " + e.getMessage(), e);
    }
  }

  /** The mark is the last thing that is made, so there is nothing to take back. */
  @Override
  public void undo(FrozenWork frozen) {}
}
