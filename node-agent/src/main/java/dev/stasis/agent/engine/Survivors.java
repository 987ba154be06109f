package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Who of a restored workload has to be alive once it runs. All were there, stopped, before it went
 * on; a child that comes to its end in the moment between (a shell's command, a helper of a data
 * loader) is the workload's own affair. Its first process, one that uses a GPU, and one that a
 * signal has ended are not.
 *
 * @param restored all of them, by pid inside the container; the lowest is the first process
 * @param cuda those that use a GPU
 * @param look what is seen of one now
 */
record Survivors(
    Map<Integer, ProcessId> restored,
    Set<ProcessId> cuda,
    Function<ProcessId, Optional<ProcessStat>> look) {

  /** Those that live, by pid inside the container. */
  Map<Integer, ProcessStat> living() throws StepFailure {
    Map<Integer, ProcessStat> living = new TreeMap<>();
    for (Map.Entry<Integer, ProcessId> one : new TreeMap<>(restored).entrySet()) {
      ProcessId process = one.getValue();
      Optional<ProcessStat> stat = look.apply(process);
      if (stat.isPresent() && !stat.get().isZombie()) {
        living.put(one.getKey(), stat.get());
      } else if (living.isEmpty() || cuda.contains(process)) {
        throw new StepFailure(
            Reason.NOT_PROVEN, "process %s: wanted it alive, found it ended".formatted(process));
      } else if (stat.isPresent() && stat.get().isSignaled()) {
        throw new StepFailure(
            Reason.NOT_PROVEN,
            "process %s: wanted it alive, found it ended by a signal".formatted(process));
      }
    }
    return living;
  }
}
