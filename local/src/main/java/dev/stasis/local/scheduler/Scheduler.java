package dev.stasis.local.scheduler;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Schedules every pod without a node, whenever a pod or the node has changed. */
public final class Scheduler implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Scheduler.class.getPackageName());
  private static final Set<String> OVER = Set.of("Succeeded", "Failed");

  /** No other event may lead to another attempt. */
  private static final long AGAIN_MILLISECONDS = 200;

  private static final String CONDITION = "PodScheduled";

  private final KubernetesClient client;
  private final Clock clock;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final List<SharedIndexInformer<?>> informers = new ArrayList<>();

  public Scheduler(KubernetesClient client, Clock clock) {
    this.client = client;
    this.clock = clock;
  }

  public void start() {
    informers.add(client.pods().inAnyNamespace().inform(new WorkloadInspector<>()));
    informers.add(client.nodes().inform(new WorkloadInspector<>()));
  }

  private final class WorkloadInspector<T> implements ResourceEventHandler<T> {
    @Override
    public void onAdd(T object) {
      thread.execute(Scheduler.this::look);
    }

    @Override
    public void onUpdate(T before, T object) {
      thread.execute(Scheduler.this::look);
    }

    @Override
    public void onDelete(T object, boolean unknown) {
      thread.execute(Scheduler.this::look);
    }
  }

  private void look() {
    try {
      List<Node> nodes = client.nodes().list().getItems();
      List<Pod> pods = client.pods().inAnyNamespace().list().getItems();
      List<Pod> waiting =
          pods.stream()
              .filter(Scheduler::waits)
              .sorted(Comparator.comparing(pod -> pod.getMetadata().getCreationTimestamp()))
              .toList();
      for (Node node : nodes) {
        String name = node.getMetadata().getName();
        List<Pod> there =
            new ArrayList<>(
                pods.stream()
                    .filter(pod -> name.equals(pod.getSpec().getNodeName()))
                    .filter(pod -> !OVER.contains(pod.getStatus().getPhase()))
                    .toList());
        for (Pod pod : waiting) {
          List<String> against = new NodeMatch(node, there).against(pod);
          if (against.isEmpty()) {
            there.add(bind(pod, name));
          } else {
            unschedulable(pod, "0/1 nodes are available: " + String.join(", ", against) + ".");
          }
        }
      }
    } catch (KubernetesClientException e) {
      // Another write came between, or the API server did not answer.
      LOG.log(Level.DEBUG, "scheduling", e);
      CompletableFuture.delayedExecutor(AGAIN_MILLISECONDS, TimeUnit.MILLISECONDS, thread)
          .execute(this::look);
    }
  }

  private static boolean waits(Pod pod) {
    String node = pod.getSpec().getNodeName();
    return (node == null || node.isEmpty())
        && pod.getMetadata().getDeletionTimestamp() == null
        && pod.getSpec().getSchedulingGates().isEmpty();
  }

  private Pod bind(Pod pod, String node) {
    Pod bound = new PodBuilder(pod).editSpec().withNodeName(node).endSpec().build();
    return client.resource(bound).update();
  }

  private void unschedulable(Pod pod, String message) {
    boolean said =
        pod.getStatus().getConditions().stream()
            .filter(it -> it.getType().equals(CONDITION))
            .map(PodCondition::getMessage)
            .anyMatch(it -> Objects.equals(it, message));
    if (said) {
      return;
    }
    PodCondition condition =
        new PodConditionBuilder()
            .withType(CONDITION)
            .withStatus("False")
            .withReason("Unschedulable")
            .withMessage(message)
            .withLastTransitionTime(clock.instant().truncatedTo(ChronoUnit.SECONDS).toString())
            .build();
    Pod told =
        new PodBuilder(pod)
            .editStatus()
            .removeMatchingFromConditions(it -> it.getType().equals(CONDITION))
            .addToConditions(condition)
            .endStatus()
            .build();
    client.resource(told).updateStatus();
  }

  @Override
  public void close() {
    informers.forEach(SharedIndexInformer::close);
    thread.shutdownNow();
  }
}
