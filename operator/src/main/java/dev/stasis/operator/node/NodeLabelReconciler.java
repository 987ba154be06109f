package dev.stasis.operator.node;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Writes the labels of a node from its GpuNode. The node is the primary resource, so that a deleted
 * GpuNode, and a label changed by another client, trigger reconciliations like all other changes.
 */
@ControllerConfiguration(
    name = "nodelabels",
    generationAwareEventProcessing = false,
    informer = @Informer(itemStore = LabelsOnly.class, informerListLimit = 500))
// Retries until it succeeds, at most once a minute: a node without its labels gets no target.
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
// A last protection against a loop.
@RateLimited(maxReconciliations = 50, within = 5)
public class NodeLabelReconciler implements Reconciler<Node> {

  private static final System.Logger LOG = System.getLogger(NodeLabelReconciler.class.getName());

  /** After the end of the grace period, so that one more evaluation is enough. */
  private static final Duration AFTER_THE_END = Duration.ofSeconds(1);

  private final NodeLabels labels = new NodeLabels();
  private final Informers informers;
  private final Clock clock;

  NodeLabelReconciler(Informers informers, Clock clock) {
    this.informers = informers;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, Node>> prepareEventSources(EventSourceContext<Node> context) {
    return List.of(new ClusterSource<GpuNode, Node>(GpuNode.class, informers, this::ofGpuNode));
  }

  /** A heartbeat alone concerns none: at 1,000 nodes, there are 17 of them a second. */
  private List<ResourceID> ofGpuNode(Changed<GpuNode> change) {
    boolean concerns =
        change.cameOrWent()
            || labels.areAffected(
                change.before().orElseThrow(), change.after().orElseThrow(), clock.instant());
    return concerns ? List.of(new ResourceID(change.subject().getMetadata().getName())) : List.of();
  }

  @Override
  public UpdateControl<Node> reconcile(Node node, Context<Node> context) {
    Instant now = clock.instant();
    Optional<GpuNode> gpuNode = informers.gpuNode(node.getMetadata().getName());
    NodeLabels.Wanted wanted = labels.wanted(gpuNode, now);
    SortedMap<String, Optional<String>> changes =
        labels.changes(Marks.labels(node), wanted.labels());
    if (!changes.isEmpty()) {
      write(context, node.getMetadata().getName(), changes);
    }
    UpdateControl<Node> done = UpdateControl.noUpdate();
    wanted
        .until()
        .ifPresent(end -> done.rescheduleAfter(Duration.between(now, end).plus(AFTER_THE_END)));
    return done;
  }

  /** A merge patch of these labels only, which conflicts with no other client. */
  private static void write(
      Context<Node> context, String node, SortedMap<String, Optional<String>> changes) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ObjectNode labels = patch.putObject("metadata").putObject("labels");
    changes.forEach((key, value) -> labels.put(key, value.orElse(null)));
    try {
      context
          .getClient()
          .nodes()
          // Without an object the client would read it from the API server before the patch.
          .resource(new NodeBuilder().withNewMetadata().withName(node).endMetadata().build())
          .patch(PatchContext.of(PatchType.JSON_MERGE), patch.toString());
      LOG.log(System.Logger.Level.INFO, "node {0}: labels {1}", node, patch.at("/metadata/labels"));
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
      LOG.log(System.Logger.Level.DEBUG, "node {0} is gone", node);
    }
  }
}
