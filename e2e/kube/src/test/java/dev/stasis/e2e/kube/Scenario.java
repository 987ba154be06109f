package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/** A namespace of its own on the cluster, and what a user does in it: mostly kubectl. */
final class Scenario {

  /** Limit of one wait: every step takes seconds, on a busy machine up to a minute. */
  static final Duration PATIENCE = Duration.ofMinutes(3);

  /** The same limit as an argument of kubectl. */
  static final String TIMEOUT = "--timeout=" + PATIENCE.toSeconds() + "s";

  /** A command in a container takes a second; a node may leave it waiting in vain. */
  private static final Duration COMMAND = Duration.ofSeconds(60);

  /** A request of the client takes a few milliseconds of CPU, kubectl a tenth of a second. */
  private static final Duration POLL = Duration.ofMillis(200);

  /** So kubectl says that a command in a container was started, and how it ended. */
  private static final String ENDED = "command terminated with exit code";

  private final KubernetesClient admin;
  private final Installation installation;
  private final String title;
  private final String namespace;
  private final Shell shell = new Shell();

  private Scenario(
      KubernetesClient admin, Installation installation, String title, String namespace) {
    this.admin = admin;
    this.installation = installation;
    this.title = title;
    this.namespace = namespace;
  }

  static Scenario begin(KubernetesClient admin, Installation installation, String title) {
    String words = title.replaceAll("^[A-Za-z]*Test\\.", "").replaceAll("[^A-Za-z0-9]", "");
    String name =
        "e2e-%s-%04x"
            .formatted(
                words.substring(0, Math.min(words.length(), 40)).toLowerCase(Locale.ROOT),
                ThreadLocalRandom.current().nextInt(0x10000));
    Scenario scenario = new Scenario(admin, installation, title, name);
    admin
        .namespaces()
        .resource(new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build())
        .create();
    // A pod made before its account is refused.
    scenario.until(
        "the default service account",
        () -> admin.serviceAccounts().inNamespace(name).withName("default").get() != null);
    return scenario;
  }

  /** Keeps what explains a failure, clears up, and fails if operator or agent has crashed. */
  void end(boolean failed) {
    List<Component> components = new ArrayList<>(List.of(installation.operator()));
    installation.nodes().forEach(node -> components.add(installation.agent(node)));
    List<String> crashes = components.stream().flatMap(it -> it.takeCrashes().stream()).toList();
    components.forEach(Component::start);
    if (failed || !crashes.isEmpty()) {
      Path kept = Path.of("target/kube-logs", title.replaceAll("[^A-Za-z0-9.\\[\\]-]", "_"));
      installation.keepLogs(kept);
      new Evidence(shell, kept).keep(namespace, installation.namespace());
    }
    installation.clearFaults();
    // Not waited for: the next scenario has a namespace of its own. Its GPUs come back by and by.
    admin.namespaces().withName(namespace).delete();
    if (!crashes.isEmpty()) {
      throw new AssertionError(
          "expected no crash of operator or agent, got %s".formatted(String.join("\n", crashes)));
    }
  }

  /** Skips the test on a cluster with a single node. */
  void needsTwoNodes() {
    Assumptions.assumeTrue(installation.nodes().size() > 1, "skipped: a migration needs two nodes");
  }

  KubernetesClient admin() {
    return admin;
  }

  Installation installation() {
    return installation;
  }

  String namespace() {
    return namespace;
  }

  /** Runs kubectl in the namespace, which has to do as told. */
  String kubectl(String... arguments) {
    return shell.must(inNamespace(arguments));
  }

  Shell.Result tryKubectl(String... arguments) {
    return shell.run(inNamespace(arguments));
  }

  Shell.Result feedKubectl(String input, String... arguments) {
    return shell.feed(input, inNamespace(arguments));
  }

  /** The same for what may wait in vain for an answer: it is ended then. */
  Shell.Result tryKubectlFor(Duration limit, String... arguments) {
    return feedKubectlFor(limit, "", arguments);
  }

  private Shell.Result feedKubectlFor(Duration limit, String input, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of("timeout", "--signal=KILL", Long.toString(limit.toSeconds()), "kubectl"));
    command.addAll(List.of("--namespace", namespace));
    command.addAll(List.of(arguments));
    return shell.feed(input, command.toArray(String[]::new));
  }

  /** A command in the workload's container of a pod. */
  Shell.Result exec(String pod, String... command) {
    return feedExec("", pod, command);
  }

  /**
   * The same, with something to read for it. A busy node may refuse to start it: then it is asked
   * again, until the command itself has ended.
   */
  Shell.Result feedExec(String input, String pod, String... command) {
    List<String> arguments = new ArrayList<>(List.of("exec"));
    if (!input.isEmpty()) {
      arguments.add("-i");
    }
    arguments.addAll(List.of(pod, "-c", Workload.CONTAINER, "--"));
    arguments.addAll(List.of(command));
    AtomicReference<Shell.Result> said = new AtomicReference<>(new Shell.Result(0, ""));
    until(
        "%s in pod %s".formatted(command[0], pod),
        () -> {
          Shell.Result result = feedKubectlFor(COMMAND, input, arguments.toArray(String[]::new));
          said.set(result);
          if (!result.ok() && !result.output().contains(ENDED)) {
            throw new Shell.Failed(result.output());
          }
          return true;
        });
    return Present.in("what the command said", said.get());
  }

  /** What the kernel of this machine last said of a standstill, or of a program that it ended. */
  String kernelWords() {
    String script =
        "dmesg -T 2>/dev/null | grep -E 'lockup|stall|segfault|trap |[Kk]illed process' | tail -n 2";
    return shell.run("sh", "-c", script).output().strip();
  }

  private String[] inNamespace(String... arguments) {
    String[] command = new String[arguments.length + 3];
    command[0] = "kubectl";
    command[1] = "--namespace";
    command[2] = namespace;
    System.arraycopy(arguments, 0, command, 3, arguments.length);
    return command;
  }

  /** {@code kubectl apply -f} of that YAML, which the API server has to take. */
  void apply(String yaml) {
    Shell.Result result = tryApply(yaml);
    if (!result.ok()) {
      throw new AssertionError("kubectl apply: " + result.output() + "\n" + yaml);
    }
  }

  Shell.Result tryApply(String yaml) {
    return feedKubectl(yaml, "apply", "-f", "-");
  }

  void apply(HasMetadata object) {
    apply(Serialization.asYaml(object));
  }

  /** Labels of the namespace, such as the level of Pod Security. */
  void label(Map<String, String> labels) {
    labels.forEach(
        (key, value) -> shell.must("kubectl", "label", "namespace", namespace, key + "=" + value));
  }

  Pod pod(String name) {
    return admin.pods().inNamespace(namespace).withName(name).require();
  }

  @Nullable Pod findPod(String name) {
    return admin.pods().inNamespace(namespace).withName(name).get();
  }

  /** An object of the namespace as it is now. */
  <T extends HasMetadata> @Nullable T find(Class<T> kind, String name) {
    return admin.resources(kind).inNamespace(namespace).withName(name).get();
  }

  /** Returns all objects of a kind in the namespace. */
  <T extends HasMetadata> List<T> all(Class<T> kind) {
    return admin.resources(kind).inNamespace(namespace).list().getItems();
  }

  /** Waits until the namespace has an event of that reason. */
  void awaitEvent(String reason) {
    until(
        "an event " + reason,
        () ->
            admin.v1().events().inNamespace(namespace).list().getItems().stream()
                .anyMatch(event -> reason.equals(event.getReason())));
  }

  /** Waits until an object is as wanted, and gives it; what it was instead stands in the error. */
  <T extends HasMetadata> T await(Class<T> kind, String name, String what, Predicate<T> wanted) {
    return await(kind, name, what, wanted, PATIENCE);
  }

  /** The same with another limit. */
  <T extends HasMetadata> T await(
      Class<T> kind, String name, String what, Predicate<T> wanted, Duration atMost) {
    AtomicReference<@Nullable T> seen = new AtomicReference<>();
    String title = kind.getSimpleName() + " " + name + " " + what;
    until(
        title,
        () -> {
          T found = find(kind, name);
          seen.set(found);
          return found != null && wanted.test(found);
        },
        () -> "got " + Serialization.asYaml(seen.get()),
        atMost);
    return Present.in(title, seen.get());
  }

  /** Pods of the namespace that are not on their way out. */
  List<Pod> pods() {
    return admin.pods().inNamespace(namespace).list().getItems().stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .toList();
  }

  /** Orders to agents on behalf of this namespace. */
  List<GpuNodeOperation> operations() {
    return admin
        .resources(GpuNodeOperation.class)
        .inNamespace(installation.namespace())
        .list()
        .getItems()
        .stream()
        .filter(each -> namespace.equals(each.getSpec().getRequester().namespace()))
        .toList();
  }

  Pod awaitPod(String name, String what, Predicate<Pod> wanted) {
    return await(() -> findPod(name), "pod " + name + " " + what, wanted);
  }

  private <T> T await(Supplier<@Nullable T> look, String what, Predicate<T> wanted) {
    Function<@Nullable T, Boolean> there = found -> found != null && wanted.test(found);
    return patiently(what).until(look::get, there::apply);
  }

  void until(String what, Callable<Boolean> wanted) {
    patiently(what).until(wanted);
  }

  /** The same; where it does not come about, the error says what was seen instead. */
  void until(String what, Callable<Boolean> wanted, Supplier<String> instead) {
    until(what, wanted, instead, PATIENCE);
  }

  private static void until(
      String what, Callable<Boolean> wanted, Supplier<String> instead, Duration atMost) {
    try {
      patiently(what).atMost(atMost).until(wanted);
    } catch (ConditionTimeoutException e) {
      String seen;
      try {
        seen = instead.get();
      } catch (RuntimeException | AssertionError nothing) {
        seen = "and what is there instead cannot be seen: " + nothing;
      }
      throw new AssertionError(
          "%s: not within %d s; %s".formatted(what, atMost.toSeconds(), seen), e);
    }
  }

  /** Where a request or a kubectl fails nothing was seen: the next look tells more. */
  private static ConditionFactory patiently(String what) {
    return Awaitility.await(what)
        .atMost(PATIENCE)
        .pollInterval(POLL)
        .ignoreExceptionsMatching(Scenario::sawNothing);
  }

  private static boolean sawNothing(Throwable failure) {
    return failure instanceof KubernetesClientException || failure instanceof Shell.Failed;
  }
}
