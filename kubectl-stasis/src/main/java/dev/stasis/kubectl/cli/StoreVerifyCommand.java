package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.cluster.Watching;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Has artifacts verified now. */
@Command(
    name = "verify",
    description = "Verifies every byte of artifacts now, instead of once a week.",
    sortOptions = false)
final class StoreVerifyCommand extends ClusterCommand {

  private static final Duration TICK = Duration.ofSeconds(1);

  @Parameters(
      paramLabel = "CHECKPOINT",
      arity = "0..*",
      description = "checkpoints whose artifacts are verified")
  List<String> checkpoints = new ArrayList<>();

  @Option(names = "--store", paramLabel = "STORE", description = "all artifacts in this store")
  @Nullable String store;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  ObjectSelection selection;

  @Option(names = "--wait", description = "waits for the results")
  boolean wait;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "30m",
      description = "how long to wait: 90s, 10m (default ${DEFAULT-VALUE})")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  String timeout;

  StoreVerifyCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    List<Resource> chosen = chosen();
    if (chosen.isEmpty()) {
      complain("no artifact found in this namespace");
    }
    Duration atMost = duration(timeout);
    Instant now = session().clock().instant().truncatedTo(ChronoUnit.SECONDS);
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").putObject("options").put("verifyAfter", now.toString());
    List<Resource> asked = new ArrayList<>();
    try (ObjectDocument document = document(checkpoints.size() != 1)) {
      for (Resource one : chosen) {
        asked.add(cluster().patch(Kind.CHECKPOINT, scope(one), one.name(), patch));
        if (!wait) {
          tell(asked.get(asked.size() - 1), " will be verified", document);
        }
      }
      return wait ? results(asked, now, atMost, document) : Exit.DONE;
    }
  }

  private void tell(Resource checkpoint, String state, ObjectDocument document) {
    if (format == null) {
      say(checkpoint.title() + state);
    } else {
      document.add(checkpoint);
    }
  }

  private List<Resource> chosen() {
    if (store == null) {
      selection.require(spec, checkpoints);
    } else if (!checkpoints.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "expected names of GpuCheckpoints, or --store, got both");
    }
    List<Resource> all =
        cluster().list(List.of(Kind.CHECKPOINT), new Scope.Current(), selection.options());
    if (checkpoints.isEmpty()) {
      String name = store == null ? "" : name(store, Kind.STORE);
      return all.stream()
          .filter(one -> !one.text("status.artifact.store").isEmpty())
          .filter(one -> name.isEmpty() || one.text("status.artifact.store").equals(name))
          .toList();
    }
    List<Resource> named = new ArrayList<>();
    for (String given : checkpoints) {
      String name = name(given, Kind.CHECKPOINT);
      named.add(
          all.stream()
              .filter(one -> one.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new ClusterFailure(
                          ClusterFailure.Why.NOT_FOUND,
                          "there is no GpuCheckpoint " + name + " in this namespace",
                          "list the checkpoints: kubectl stasis list")));
    }
    return named;
  }

  private int results(List<Resource> asked, Instant since, Duration atMost, ObjectDocument document)
      throws InterruptedException {
    Instant end = session().clock().instant().plus(atMost);
    int exit = Exit.DONE;
    for (Resource one : asked) {
      Resource last = one;
      try (Watching watching = cluster().watch(Kind.CHECKPOINT, scope(one), one.name())) {
        while (!isVerified(last, since)) {
          if (!session().clock().instant().isBefore(end)) {
            complain(
                one.title() + ": not verified after " + timeout + "; the verification continues");
            return Exit.NOT_YET;
          }
          last = watching.next(TICK).orElse(last);
        }
      }
      Resource restorable = last.condition("Restorable");
      if (restorable.text("reason").equals("ArtifactDamaged")) {
        tell(last, ": damaged: " + restorable.text("message"), document);
        exit = Exit.FAILED;
      } else {
        tell(last, ": whole", document);
      }
    }
    return exit;
  }

  private static boolean isVerified(Resource checkpoint, Instant since) {
    return checkpoint.time("status.lastVerified").filter(at -> !at.isBefore(since)).isPresent();
  }
}
