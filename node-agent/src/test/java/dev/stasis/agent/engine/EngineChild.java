package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.SimGpuNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * An agent in a process of its own that does a checkpoint or a restore and dies, or stays, at one
 * moment of it. Arguments: state folder, memory stage, folder, GPUs, what (a {@link
 * DataPathChoice}, or the folder of an artifact), container, moment, step, {@code die} or {@code
 * stay}.
 */
final class EngineChild {

  private EngineChild() {}

  public static void main(String[] args) throws Exception {
    Path state = Path.of(args[0]);
    Path folder = Path.of(args[2]);
    SimGpuNode gpus = SimGpuNode.at(Path.of(args[3]));
    boolean stay = args[8].equals("stay");
    Stop stop = new Stop(args[6], args[7], stay, folder.resolve("reached"));
    try (DriverWorker worker = EngineLab.worker(gpus, state)) {
      NodeParts node =
          new NodeEngine(
                  EngineLab.settings(gpus, state, Path.of(args[1]), folder),
                  worker,
                  Clock.systemUTC())
              .node();
      if (args[4].startsWith("/")) {
        new Restore(node, HookedStep.all(Restore.steps(), stop))
            .run(restore(args), EngineLab.control(), stop);
      } else {
        new Checkpoint(node, HookedStep.all(Checkpoint.steps(), stop))
            .run(checkpoint(args, folder), EngineLab.control(), stop);
      }
    }
  }

  private static CheckpointRequest checkpoint(String[] args, Path folder) {
    String id = UUID.randomUUID().toString();
    return new CheckpointRequest(
        id,
        "a-" + id.substring(0, 8),
        "an agent that dies",
        null,
        args[5],
        folder.resolve("store"),
        After.RESUME,
        options(DataPathChoice.valueOf(args[4])),
        null,
        java.util.Set.of());
  }

  private static CheckpointRequest.Options options(DataPathChoice path) {
    CheckpointRequest.Options usual = CheckpointRequest.Options.defaults();
    return new CheckpointRequest.Options(
        usual.lockTimeout(),
        usual.stagePlace(),
        path,
        usual.tcp(),
        usual.thpAlways(),
        usual.nothingShared(),
        usual.threads(),
        usual.heldUntilDecided(),
        usual.requireRestorable());
  }

  private static RestoreRequest restore(String[] args) {
    return new RestoreRequest(
        UUID.randomUUID().toString(),
        "an agent that dies",
        null,
        Path.of(args[4]),
        null,
        args[5],
        RestoreRequest.Options.defaults());
  }

  /** The moment: a step's, or the first word of progress of that name. */
  private record Stop(String moment, String step, boolean stay, Path note)
      implements HookedStep.Hook, StepListener {

    @Override
    public void at(Moment now, String name) {
      if (now.name().equals(moment) && name.equals(step)) {
        reached();
      }
    }

    @Override
    public void progress(String name, long done, long total) {
      if (moment.equals("DURING") && name.equals(step) && (total == 0 || done > 0)) {
        reached();
      }
    }

    private void reached() {
      try {
        Files.writeString(note, step);
        if (!stay) {
          new ProcessBuilder(List.of("kill", "-KILL", "" + ProcessHandle.current().pid())).start();
        }
        while (true) {
          LockSupport.park();
        }
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
