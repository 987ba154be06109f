package dev.stasis.operator.metric;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.cluster.Changed;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class NamespaceGaugeTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final NamespaceGauge<GpuCheckpoint> gauge =
      new NamespaceGauge<>("numbers", registry, it -> it.getMetadata().getName().equals("counts"));
  private final GpuCheckpoint other = checkpoint("ml", "other");
  private final GpuCheckpoint counts = checkpoint("ml", "counts");

  /** A count reads all objects, which may be thousands. */
  @Test
  void anObjectThatDoesNotCountIsNoReasonToCountAgain() {
    gauge.publish(List.of(other));

    assertThat(isNews(null, other, true)).as("created").isFalse();
    assertThat(isNews(other, other, true)).as("changed").isFalse();
    assertThat(isNews(other, null, true)).as("deleted").isFalse();
  }

  @Test
  void aChangedNumberIsPublished() {
    gauge.publish(List.of(other));

    assertThat(isNews(null, counts, true)).as("created").isTrue();
    assertThat(isNews(other, counts, true)).as("changed").isTrue();
    assertThat(isNews(counts, null, true)).as("deleted").isTrue();
    assertThat(isNews(counts, counts, true)).isFalse();
  }

  @Test
  void aNamespaceIsPublishedWhileItHasObjects() {
    gauge.publish(List.of(other));

    GpuCheckpoint first = checkpoint("web", "other");
    assertThat(isNews(null, first, true)).isTrue();
    gauge.publish(List.of(other, first));
    assertThat(isNews(null, first, true)).isFalse();
    assertThat(registry.get("numbers").tag("namespace", "web").gauge().value()).isZero();

    assertThat(isNews(first, null, false)).isTrue();
    gauge.publish(List.of(other));
    assertThat(isNews(first, null, false)).isFalse();
    assertThat(registry.find("numbers").tag("namespace", "web").gauge()).isNull();
  }

  private boolean isNews(
      @Nullable GpuCheckpoint before, @Nullable GpuCheckpoint after, boolean isUsed) {
    return gauge.isNews(
        new Changed<>(Optional.ofNullable(before), Optional.ofNullable(after)),
        namespace -> isUsed);
  }

  private static GpuCheckpoint checkpoint(String namespace, String name) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
    return checkpoint;
  }
}
