package dev.stasis.operator.event;

import dev.stasis.operator.cluster.RecentMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.Objects;

/** Creates events on the API server. The name of an event is derived from its content. */
@Singleton
public class ClusterEvents implements EventRecorder {

  private static final Logger LOG = System.getLogger(ClusterEvents.class.getName());

  /** The namespace of events about cluster-scoped objects. */
  private static final String DEFAULT = "default";

  /** A name may have 253 characters: 200 of the object's name, and the digest. */
  private static final int OF_NAME = 200;

  private static final int DIGEST_BYTES = 8;

  /** The API server refuses longer messages. */
  private static final int MESSAGE = 1024;

  /** Enough for one hour of events in a large cluster, which is how long Kubernetes keeps them. */
  private static final int REMEMBERED = 20_000;

  private final KubernetesClient client;
  private final Clock clock;

  /** Events that this operator created; those of an earlier one exist under the same names. */
  private final RecentMap<String, Boolean> created = new RecentMap<>(REMEMBERED);

  public ClusterEvents(KubernetesClient client, Clock clock) {
    this.client = client;
    this.clock = clock;
  }

  @Override
  public boolean tell(Story story) {
    if (created.put(digest(story), true) != null) {
      return false;
    }
    Level level = story.warning() ? Level.WARNING : Level.INFO;
    LOG.log(level, "{0}: {1}", story.reason().value(), story.message());
    try {
      client.v1().events().resource(event(story)).create();
    } catch (KubernetesClientException e) {
      if (e.getCode() == 0 || e.getCode() >= HttpURLConnection.HTTP_INTERNAL_ERROR) {
        // The next reconciliation creates it: the API server was unavailable.
        created.remove(digest(story));
      }
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        // A namespace that is being deleted, or an overloaded API server, refuses events.
        LOG.log(Level.WARNING, "Could not create event: {0}", e.getMessage());
      }
    }
    return true;
  }

  private Event event(Story story) {
    ObjectMeta about = story.about().getMetadata();
    String namespace = Objects.requireNonNullElse(about.getNamespace(), DEFAULT);
    String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    String name = about.getName();
    return new EventBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name.substring(0, Math.min(name.length(), OF_NAME)) + "." + digest(story))
        .endMetadata()
        .withNewInvolvedObject()
        .withApiVersion(story.about().getApiVersion())
        .withKind(story.about().getKind())
        .withNamespace(about.getNamespace())
        .withName(name)
        .withUid(about.getUid())
        .endInvolvedObject()
        .withType(story.warning() ? "Warning" : "Normal")
        .withReason(story.reason().value())
        .withMessage(shortened(story.message()))
        .withNewSource()
        .withComponent("stasis-operator")
        .endSource()
        .withReportingComponent("stasis.dev/operator")
        .withFirstTimestamp(now)
        .withLastTimestamp(now)
        .withCount(1)
        .build();
  }

  private static String shortened(String message) {
    return message.length() <= MESSAGE ? message : message.substring(0, MESSAGE - 3) + "...";
  }

  private static String digest(Story story) {
    String content =
        String.join(
            "\n",
            Objects.requireNonNullElse(story.about().getMetadata().getUid(), ""),
            story.reason().value(),
            story.occasion());
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is part of every Java platform", e);
    }
  }
}
