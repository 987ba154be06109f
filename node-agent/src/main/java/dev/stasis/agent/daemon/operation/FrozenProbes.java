package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.probes.ContainerProbes;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.process.ProcessId;
import io.fabric8.kubernetes.api.model.Container;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * Has the probes of a container answered from the moment in which its tree is stopped. Whoever
 * answers ends by himself when the workload goes on, so there is nothing to end here.
 */
final class FrozenProbes implements StepListener {

  private static final System.Logger LOG = System.getLogger(FrozenProbes.class.getName());

  private final AgentParts parts;
  private final PodLookup.Place place;
  private final StepListener next;
  private final Executor executor;
  private String step = "";

  FrozenProbes(AgentParts parts, PodLookup.Place place, StepListener next, Executor executor) {
    this.parts = parts;
    this.place = place;
    this.next = next;
    this.executor = executor;
  }

  @Override
  public synchronized void progress(String now, long done, long total) {
    if (step.equals("stop") && !now.equals(step)) {
      executor.execute(this::answer);
    }
    step = now;
    next.progress(now, done, total);
  }

  @Override
  public void undoing(String why) {
    next.undoing(why);
  }

  private void answer() {
    String id = place.container().id();
    try {
      List<ProcessId> tree =
          parts.engine().thaw().inHand().stream()
              .filter(work -> work.containerId().equals(id))
              .map(Work::tree)
              .findFirst()
              .orElse(List.of());
      for (Container container : place.pod().getSpec().getContainers()) {
        if (container.getName().equals(place.container().name())) {
          var unused = parts.probes().begin(tree, new ContainerProbes(container).answerable());
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.WARNING, "probes of container " + id + " are not answered", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
