package dev.stasis.operator.log;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.List;
import org.jboss.logmanager.MDC;
import org.jspecify.annotations.Nullable;

/**
 * The object that the log lines of this thread concern, until it is closed: the fields namespace,
 * name, uid, operation, step and node of every line.
 */
public final class LogContext implements AutoCloseable {

  private final List<String> fields = new ArrayList<>();

  private LogContext() {}

  public static LogContext of(HasMetadata object) {
    return new LogContext()
        .with("namespace", object.getMetadata().getNamespace())
        .with("name", object.getMetadata().getName())
        .with("uid", object.getMetadata().getUid());
  }

  public LogContext operation(@Nullable String name) {
    return with("operation", name);
  }

  public LogContext step(@Nullable String step) {
    return with("step", step);
  }

  public LogContext node(@Nullable String node) {
    return with("node", node);
  }

  private LogContext with(String field, @Nullable String value) {
    if (value != null) {
      MDC.put(field, value);
      fields.add(field);
    }
    return this;
  }

  @Override
  public void close() {
    fields.forEach(MDC::remove);
  }
}
