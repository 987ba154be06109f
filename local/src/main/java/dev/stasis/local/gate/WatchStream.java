package dev.stasis.local.gate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A watch as lines of JSON, one per change, until the reader is gone or its time is over. */
final class WatchStream implements Watcher<GenericKubernetesResource> {

  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * kubectl sends the duration of its watch, and reconnects afterwards; other clients get an hour.
   */
  private static final long LONGEST_SECONDS = 3600;

  private final OutputStream out;
  private final UnaryOperator<JsonNode> form;
  private final CountDownLatch over = new CountDownLatch(1);

  /**
   * @param form formats an object
   */
  WatchStream(OutputStream out, UnaryOperator<JsonNode> form) {
    this.out = out;
    this.form = form;
  }

  void run(KubernetesClient client, Kind kind, String namespace, Query query)
      throws InterruptedException {
    var resources = client.genericKubernetesResources(kind.context());
    var there = namespace.isEmpty() ? resources.inAnyNamespace() : resources.inNamespace(namespace);
    String labels = query.get("labelSelector");
    try (Watch watch =
        query.name().isEmpty()
            ? labels.isEmpty() ? there.watch(this) : there.withLabelSelector(labels).watch(this)
            : there.withField("metadata.name", query.name()).watch(this)) {
      // An object deleted between the reader's list and its watch would never be reported: the
      // server behind it keeps no history.
      boolean seen = !query.name().isEmpty() && !query.get("resourceVersion").isEmpty();
      if (seen && there.withField("metadata.name", query.name()).list().getItems().isEmpty()) {
        eventReceived(Action.DELETED, remains(kind, namespace, query.name()));
      }
      String limit = query.get("timeoutSeconds");
      over.await(limit.isEmpty() ? LONGEST_SECONDS : Long.parseLong(limit), TimeUnit.SECONDS);
    }
  }

  /** All that is known of a deleted object. */
  private static GenericKubernetesResource remains(Kind kind, String namespace, String name) {
    GenericKubernetesResource gone = new GenericKubernetesResource();
    gone.setApiVersion(kind.apiVersion());
    gone.setKind(kind.kind());
    gone.setMetadata(
        new ObjectMetaBuilder()
            .withName(name)
            .withNamespace(namespace.isEmpty() ? null : namespace)
            .build());
    return gone;
  }

  @Override
  public synchronized void eventReceived(Action action, GenericKubernetesResource resource) {
    try {
      ObjectNode event = JSON.createObjectNode().put("type", action.name());
      event.set("object", form.apply(JSON.valueToTree(resource)));
      out.write((event + "\n").getBytes(StandardCharsets.UTF_8));
      out.flush();
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      // The reader is gone.
      over.countDown();
    }
  }

  @Override
  public void onClose(WatcherException cause) {
    over.countDown();
  }

  @Override
  public void onClose() {
    over.countDown();
  }
}
