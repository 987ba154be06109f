package dev.stasis.operator.trace;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
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
 * Exports a trace of each finished request: one span for the request and one for each phase. It
 * listens to the informers of the leading operator, independently of the reconcilers.
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
      informers.listen(GpuCheckpoint.class, this::onChange);
      informers.listen(GpuRestore.class, this::onChange);
      informers.listen(GpuMigration.class, this::onChange);
    }
  }

  /** A request that had finished before this change was exported then. */
  void onChange(Changed<? extends HasMetadata> change) {
    if (change.cameOrWent() || PhaseHistory.of(change.before().orElseThrow()).isOver()) {
      return;
    }
    HasMetadata request = change.subject();
    PhaseHistory history = PhaseHistory.of(request);
    if (history.isOver()) {
      export(request, history);
    }
  }

  private void export(HasMetadata request, PhaseHistory history) {
    SpanContext root = SpanContext.of(request.getMetadata().getUid(), request.getKind());
    List<PhaseHistory.Entered> phases = history.phases();
    String end = history.last().phase();
    boolean well = !List.of("Failed", "Cancelled", "RolledBack").contains(end);
    spans.add(
        new Span(
            root,
            Optional.empty(),
            request.getKind(),
            Instant.parse(request.getMetadata().getCreationTimestamp()),
            history.last().at(),
            Map.of(
                "k8s.namespace.name",
                request.getMetadata().getNamespace(),
                "stasis.requester",
                request.getKind() + "/" + request.getMetadata().getName(),
                "stasis.phase",
                end),
            well ? Optional.empty() : Optional.of(history.message())));
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
