package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.Story;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what happened to an object. */
@Command(
    name = "logs",
    description =
        "Tells the story of a checkpoint, restore or migration: phases, events, log lines.",
    footer = {
      "",
      "Log lines of the operator and the agents require permission to read pods/log in the"
          + " system namespace;",
      "without it only phases and events are shown."
    },
    sortOptions = false)
final class LogsCommand extends ClusterCommand {

  private static final String COMPONENT = "app.kubernetes.io/component";

  @Parameters(
      paramLabel = "OPERATION",
      description = "its name, KIND/NAME, or the name of a GpuNodeOperation")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String name;

  @Option(
      names = "--system-namespace",
      paramLabel = "NAMESPACE",
      defaultValue = "stasis-system",
      description = "namespace of Stasis; default: ${DEFAULT-VALUE}")
  String system = "stasis-system";

  private final Set<String> operations = new HashSet<>();
  private final Set<String> uids = new HashSet<>();
  private final Set<String> nodes = new HashSet<>();

  LogsCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() {
    Story story = new Story(session().json());
    String since = begin(story);
    systemSide(story, since);
    if (story.isEmpty()) {
      complain("nothing is recorded about " + name + " yet");
    } else {
      say(story.text());
    }
    return Exit.DONE;
  }

  /** Start time of the logs. */
  private String begin(Story story) {
    if (name.startsWith("gop/") || name.matches("(ckpt|rst|mig)-[0-9a-f-]{36}-.*")) {
      String of = name.substring(name.indexOf('/') + 1);
      Resource operation =
          cluster()
              .find(Kind.OPERATION, new Scope.Named(system), of)
              .orElseThrow(
                  () ->
                      new ClusterFailure(
                          ClusterFailure.Why.NOT_FOUND,
                          "there is no GpuNodeOperation " + of + " in " + system,
                          "kubectl get gpunodeoperations -A; or --system-namespace"));
      add(story, operation);
      return operation.text("metadata.creationTimestamp");
    }
    Resource object = new Finder(cluster()).request(name);
    uids.add(object.uid());
    story.phases(object);
    cluster()
        .list(
            List.of(Kind.EVENT),
            scope(object),
            "--field-selector=involvedObject.uid=" + object.uid())
        .forEach(story::event);
    return object.text("metadata.creationTimestamp");
  }

  private void systemSide(Story story, String since) {
    try {
      for (String uid : uids) {
        cluster()
            .list(
                List.of(Kind.OPERATION),
                new Scope.Named(system),
                "--selector=stasis.dev/operation-uid=" + uid)
            .forEach(operation -> add(story, operation));
      }
      for (Resource pod :
          cluster()
              .list(
                  List.of(Kind.POD),
                  new Scope.Named(system),
                  "--selector=app.kubernetes.io/name=stasis")) {
        boolean speaksOfIt =
            pod.label(COMPONENT).equals("operator")
                || (pod.label(COMPONENT).equals("agent")
                    && nodes.contains(pod.text("spec.nodeName")));
        if (speaksOfIt) {
          cluster()
              .log(system, pod.name(), since)
              .forEach(line -> story.logLine(pod.name(), line, operations, uids));
        }
      }
    } catch (ClusterFailure refused) {
      complain("log lines cannot be shown: " + refused.getMessage());
      if (refused.why() != ClusterFailure.Why.FORBIDDEN) {
        complain(refused.advice().isEmpty() ? "  see --system-namespace" : "  " + refused.advice());
      }
    }
  }

  private void add(Story story, Resource operation) {
    operations.add(operation.name());
    nodes.add(operation.text("spec.nodeName"));
    story.phases(operation);
  }
}
