package dev.stasis.operator.trace;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.trace.Span;
import dev.stasis.trace.SpanContext;
import dev.stasis.trace.Spans;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tells a collector of each request, once it has come to an end: one span for all of it, from the
 * moment in which it was made, and one for each phase. It hears what the watch of the leading
 * operator tells, and so no reconciler knows of it.
 */
@Singleton
public class RequestTraces {

  private final Informers informers;
  private final Spans spans;

  public RequestTraces(Informers informers, Spans spans) {
    this.informers = informers;
    this.spans = spans;
  }

  void begin(@Observes StartupEvent started) {
    if (spans.areWanted()) {
      informers.listen(GpuCheckpoint.class, this::look);
      informers.listen(GpuRestore.class, this::look);
      informers.listen(GpuMigration.class, this::look);
    }
  }

  /** What was over before somebody looked was told by whoever looked then. */
  void look(Changed<? extends HasMetadata> change) {
    if (change.cameOrWent() || Course.of(change.before().orElseThrow()).isOver()) {
      return;
    }
    HasMetadata request = change.subject();
    Course course = Course.of(request);
    if (course.isOver()) {
      tell(request, course);
    }
  }

  private void tell(HasMetadata request, Course course) {
    SpanContext root = SpanContext.of(request.getMetadata().getUid(), request.getKind());
    List<Course.Entered> phases = course.phases();
    String end = course.last().phase();
    boolean well = !List.of("Failed", "Cancelled", "RolledBack").contains(end);
    spans.add(
        new Span(
            root,
            Optional.empty(),
            request.getKind(),
            Instant.parse(request.getMetadata().getCreationTimestamp()),
            course.last().at(),
            Map.of(
                "k8s.namespace.name",
                request.getMetadata().getNamespace(),
                "stasis.requester",
                request.getKind() + "/" + request.getMetadata().getName(),
                "stasis.phase",
                end),
            well ? Optional.empty() : Optional.of(course.message())));
    for (int i = 0; i + 1 < phases.size(); i++) {
      spans.add(
          new Span(
              root.child(i + "/" + phases.get(i).phase()),
              Optional.of(root.spanId()),
              phases.get(i).phase(),
              phases.get(i).at(),
              phases.get(i + 1).at(),
              Map.of(),
              Optional.empty()));
    }
  }
}
