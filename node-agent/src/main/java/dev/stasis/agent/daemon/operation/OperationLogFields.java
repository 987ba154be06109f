package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.common.ObjectReference;
import java.util.Map;
import java.util.Objects;
import org.jboss.logmanager.MDC;

/** The fields of an operation in each log line of a thread, until they are closed. */
final class OperationLogFields implements AutoCloseable {

  private static final String STEP = "step";

  private final Map<String, String> fields;

  OperationLogFields(ActiveOperation operation, String node) {
    ObjectReference requester = operation.spec().getRequester();
    this.fields =
        Map.of(
            "namespace",
            Objects.requireNonNullElse(requester.namespace(), ""),
            "name",
            String.valueOf(requester.name()),
            "uid",
            String.valueOf(requester.uid()),
            "operation",
            operation.name(),
            "node",
            node);
    fields.forEach(MDC::put);
  }

  static void step(String name) {
    var unused = MDC.put(STEP, name);
  }

  @Override
  public void close() {
    fields.keySet().forEach(MDC::remove);
    MDC.remove(STEP);
  }
}
