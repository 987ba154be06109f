package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Which processes of a restored workload must be alive once it runs. All of them existed, stopped,
 * before it was continued. A child that exits normally in between (a shell's command, a helper of a
 * data loader) does not count. The first process, a process that uses a GPU, and a process that was
 * ended by a signal do.
 *
 * @param restored all of them, by pid inside the container; the lowest is the first process
 * @param cuda processes that use a GPU
 * @param look reads the current state of one
 */
record RestoredProcessCheck(
    Map<Integer, ProcessId> restored,
    Set<ProcessId> cuda,
    Function<ProcessId, Optional<ProcessStat>> look) {

  /** Requires that none has ended. A stopped process does not exit by itself: it was killed. */
  void requireAll() throws StepFailure {
    for (Map.Entry<Integer, ProcessId> one : new TreeMap<>(restored).entrySet()) {
      Optional<ProcessStat> stat = look.apply(one.getValue());
      if (stat.filter(it -> !it.isZombie() && !it.isEnding()).isEmpty()) {
        throw ended(one, stat);
      }
    }
  }

  /** Returns the processes that have not ended, by PID inside the container. */
  Map<Integer, ProcessStat> living() throws StepFailure {
    Map<Integer, ProcessStat> living = new TreeMap<>();
    for (Map.Entry<Integer, ProcessId> one : new TreeMap<>(restored).entrySet()) {
      ProcessId process = one.getValue();
      Optional<ProcessStat> stat = look.apply(process);
      if (stat.isPresent() && !stat.get().isZombie()) {
        living.put(one.getKey(), stat.get());
      } else if (living.isEmpty()
          || cuda.contains(process)
          || stat.filter(ProcessStat::isSignaled).isPresent()) {
        throw ended(one, stat);
      }
    }
    return living;
  }

  private static StepFailure ended(
      Map.Entry<Integer, ProcessId> process, Optional<ProcessStat> stat) {
    return new StepFailure(
        Reason.NOT_PROVEN,
        "process %d of the container (%s on the node): expected a running process, got one that ended%s"
            .formatted(
                process.getKey(),
                stat.map(it -> it.comm() + ", ").orElse("") + process.getValue(),
                stat.filter(ProcessStat::isZombie).map(it -> " (" + it.ending() + ")").orElse("")));
  }
}
