package dev.stasis.agent.daemon.operation;

import java.util.ArrayList;
import java.util.List;
import org.jboss.logmanager.MDC;

/** What every line of the log that is written meanwhile says beside its sentence. */
final class LogFields implements AutoCloseable {

  private final List<String> keys = new ArrayList<>();

  private LogFields() {}

  static LogFields of(Assignment assignment, String node) {
    LogFields fields = new LogFields();
    var requester = assignment.spec().getRequester();
    fields.put("namespace", requester.namespace() == null ? "" : requester.namespace());
    fields.put("name", requester.name());
    fields.put("uid", requester.uid());
    fields.put("operation", assignment.name());
    fields.put("node", node);
    return fields;
  }

  /** The step in hand, for the engine's own lines. */
  static void step(String step) {
    var unused = MDC.put("step", step);
  }

  private void put(String key, String value) {
    var unused = MDC.put(key, value);
    keys.add(key);
  }

  @Override
  public void close() {
    keys.add("step");
    keys.forEach(MDC::remove);
  }
}
