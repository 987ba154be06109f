package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.PodReference;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How many GpuCheckpoints an operator carries through: {@code bin/bench operator}. A real API
 * server and a real operator; the nodes, their pods and their agents are in the API server only.
 */
class OperatorBenchmark {

  /** In each batch. */
  private static final int CHECKPOINTS = Integer.getInteger("bench.checkpoints", 500);

  /** The JVM compiles during the first ones; the last one shows the steady state. */
  private static final int BATCHES = Integer.getInteger("bench.batches", 6);

  private static final int NODES = Integer.getInteger("bench.nodes", 100);

  /** Pods without a GPU, which the operator sees and has nothing to do with. */
  private static final int OTHERS = Integer.getInteger("bench.pods", 0);

  /** GpuCheckpoints that were Ready before it began. */
  private static final int FINISHED = Integer.getInteger("bench.finished", 0);

  private static final String JAVA = System.getProperty("bench.java", "java");
  private static final String SYSTEM = "stasis-system";
  private static final String PODS = "bench";

  /** Half a minute shows half of the heartbeats of all agents, which are a minute apart. */
  private static final Duration IDLE = Duration.ofSeconds(30);

  /** A benchmark that takes longer has come to a standstill. */
  private static final Duration LIMIT = Duration.ofMinutes(20);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private final Map<String, Instant> asked = new ConcurrentHashMap<>();
  private final Map<String, Instant> ready = new ConcurrentHashMap<>();

  @Test
  void carriesThemThrough() throws IOException, InterruptedException {
    Checkout checkout = Checkout.ofThisBuild();
    try (KubernetesClient admin =
            new KubernetesClientBuilder().withConfig(Config.autoConfigure(null)).build();
        FakeNodes nodes = new FakeNodes(admin)) {
      new InstalledChart(checkout, new Shell()).apply(admin, SYSTEM);
      LocalInstallation.defaultStore(new Shell());
      admin.resource(namespace()).create();
      inParallel(NODES, index -> nodes.node("fake-" + index));
      inParallel(CHECKPOINTS, index -> nodes.pod(PODS, "pod-" + index, "fake-" + index % NODES));
      OrdinaryPods others = new OrdinaryPods(admin, PODS);
      inParallel(OTHERS, index -> others.make("service-" + index, "fake-" + index % NODES));
      FinishedCheckpoints finished = new FinishedCheckpoints(admin);
      finished.namespace();
      inParallel(FINISHED, index -> finished.make("finished-" + index));
      Path kubeconfig = new Identity(admin, folder).kubeconfig(SYSTEM, "stasis-operator");
      try (LocalProcess operator =
          new Commands(checkout, folder, SYSTEM, "")
              .operator(kubeconfig, JAVA, options(checkout))) {
        operator.start();
        measure(admin, operator);
      } finally {
        Files.copy(
            folder.resolve("operator.log"),
            Files.createDirectories(Path.of("target/bench")).resolve("operator.log"),
            java.nio.file.StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  /** As in its container: the limit of the chart, the image's options, and those to be tried. */
  private static List<String> options(Checkout checkout) throws IOException {
    List<String> options = new ArrayList<>(new ShippedOperator(checkout).options());
    String tried = System.getProperty("bench.jvm", "");
    if (!tried.isEmpty()) {
      options.addAll(List.of(tried.split(",")));
    }
    return options;
  }

  private void measure(KubernetesClient admin, LocalProcess operator)
      throws InterruptedException, IOException {
    try (FakeAgents agents = new FakeAgents(admin, SYSTEM);
        SharedIndexInformer<GpuCheckpoint> watched = watch(admin);
        WriteCount<GpuCheckpoint> writes = new WriteCount<>(admin, GpuCheckpoint.class, PODS);
        WriteCount<GpuNodeOperation> orders =
            new WriteCount<>(admin, GpuNodeOperation.class, SYSTEM)) {
      // One alone first: the operator has started, and its classes are loaded.
      checkpoint(admin, "warm", "pod-0");
      await("the first one", agents, () -> ready.containsKey("warm"));
      Map<String, String> results = new TreeMap<>();
      results.put("checkpoints", "%d batches of %d".formatted(BATCHES, CHECKPOINTS));
      results.put("nodes", Integer.toString(NODES));
      BatchTable table = new BatchTable();
      for (int number = 1; number <= BATCHES; number++) {
        batch(number, admin, operator, agents, writes, orders, table);
        System.out.printf("batch %d of %d%n", number, BATCHES);
      }
      assertThat(watched.isRunning()).isTrue();
      results.put("idle, own time in ms per second", idle(operator));
      results.put(
          "events per checkpoint",
          "%.2f".formatted(events(admin) / (double) (BATCHES * CHECKPOINTS)));
      results.put("other pods", others(admin));
      results.put(
          "finished checkpoints",
          "%d of %d bytes".formatted(FINISHED, new FinishedCheckpoints(admin).bytes()));
      results.put("operator memory", operator.memory());
      results.put("operator heap in use", live(operator));
      report(table, results);
    }
  }

  /** Carries a batch through, and adds its figures. */
  private void batch(
      int number,
      KubernetesClient admin,
      LocalProcess operator,
      FakeAgents agents,
      WriteCount<GpuCheckpoint> writes,
      WriteCount<GpuNodeOperation> orders,
      BatchTable table)
      throws InterruptedException, IOException {
    asked.clear();
    ready.clear();
    String name = "b" + number + "-";
    long before = writes.changes();
    long ordersBefore = orders.changes();
    RequestCount requestsBefore = RequestCount.now(admin);
    ProcessorUse useBefore = ProcessorUse.of(admin, operator.pid());
    Instant start = Instant.now();
    inParallel(CHECKPOINTS, index -> checkpoint(admin, name + index, "pod-" + index));
    Instant allAsked = Instant.now();
    await("all of them", agents, () -> ready.size() == CHECKPOINTS);
    ProcessorUse use = ProcessorUse.of(admin, operator.pid()).since(useBefore);
    Duration measured = Duration.between(start, Instant.now());
    RequestCount requests = RequestCount.now(admin);
    Instant end = ready.values().stream().max(Instant::compareTo).orElseThrow();
    ProcessorTime time = use.operator();
    table.add("operator's own time, ms each", milliseconds(time.own()));
    table.add("first compiler, ms each", milliseconds(time.firstCompiler()));
    table.add("second compiler, ms each", milliseconds(time.secondCompiler()));
    table.add("collector, ms each", milliseconds(time.collector()));
    table.add("writes per checkpoint", perOne(writes.changes() - before));
    table.add("writes per operation", perOne(orders.changes() - ordersBefore));
    table.add(
        "per second",
        "%.1f".formatted(CHECKPOINTS * 1000.0 / Duration.between(start, end).toMillis()));
    table.add("processors busy: operator", processors(time.total(), measured));
    table.add("processors busy: API server", processors(use.apiServer(), measured));
    table.add("processors busy: simulated agents", processors(use.agents(), measured));
    table.add("processors busy: etcd and others", processors(use.others(), measured));
    table.add("requested in s", seconds(start, allAsked));
    table.add("Ready in s", seconds(start, end));
    table.add("queue in ms", percentiles(agents.seen()));
    table.add("Ready in ms", percentiles(ready));
    table.add("resident", operator.memory());
    table.add("requests each", perCheckpoint(requests.since(requestsBefore)));
  }

  /**
   * Returns what the operator takes without any request: the heartbeats of all agents. The time of
   * a batch contains it, and the more of it the longer the batch takes.
   */
  private static String idle(LocalProcess operator) throws IOException {
    ProcessorTime before = ProcessorTime.of(operator.pid());
    Instant end = Instant.now().plus(IDLE);
    org.awaitility.Awaitility.await().atMost(LIMIT).until(() -> Instant.now().isAfter(end));
    Duration own = ProcessorTime.of(operator.pid()).since(before).own();
    return "%.1f".formatted(own.toNanos() / 1e6 / IDLE.toSeconds());
  }

  /**
   * What is left of its heap after a full collection, which this command of the JVM begins with.
   */
  private static String live(LocalProcess operator) {
    Path command = Path.of(JAVA).resolveSibling("jcmd");
    String[] total =
        new Shell()
            .must(command.toString(), Long.toString(operator.pid()), "GC.class_histogram")
            .strip()
            .replaceFirst("(?s).*\\n", "")
            .split("\\s+");
    return "%d MB".formatted(Long.parseLong(total[total.length - 1]) / 1_000_000);
  }

  private static String others(KubernetesClient admin) {
    return OTHERS == 0
        ? "0"
        : "%d of %d bytes".formatted(OTHERS, new OrdinaryPods(admin, PODS).bytes("service-0"));
  }

  private SharedIndexInformer<GpuCheckpoint> watch(KubernetesClient admin) {
    return admin
        .resources(GpuCheckpoint.class)
        .inNamespace(PODS)
        .inform(
            new ResourceEventHandler<>() {
              @Override
              public void onAdd(GpuCheckpoint added) {}

              @Override
              public void onUpdate(GpuCheckpoint before, GpuCheckpoint now) {
                if (now.getStatus() != null
                    && now.getStatus().getPhase() == CheckpointPhase.READY) {
                  ready.putIfAbsent(now.getMetadata().getName(), Instant.now());
                }
              }

              @Override
              public void onDelete(GpuCheckpoint gone, boolean unknown) {}
            });
  }

  private static void await(
      String what, FakeAgents agents, java.util.concurrent.Callable<Boolean> wanted) {
    org.awaitility.Awaitility.await(what)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(100))
        .until(
            () -> {
              agents.checkWell();
              return wanted.call();
            });
  }

  private void checkpoint(KubernetesClient admin, String name, String pod) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(new ObjectMetaBuilder().withName(name).withNamespace(PODS).build());
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodRef(PodReference.of(pod));
    asked.put(name, Instant.now());
    // The client repeats a request that was not answered in time, which then exists.
    admin.resource(checkpoint).createOr(it -> checkpoint);
  }

  /** From the request until then: half of them, 99 of 100, all of them. */
  private String percentiles(Map<String, Instant> then) {
    List<Long> times =
        asked.entrySet().stream()
            .filter(each -> then.containsKey(each.getKey()))
            .map(each -> Duration.between(each.getValue(), then.get(each.getKey())).toMillis())
            .sorted()
            .toList();
    return times.isEmpty()
        ? "none"
        : "p50 %d, p99 %d, most %d"
            .formatted(
                times.get(times.size() / 2),
                times.get((int) (times.size() * 0.99)),
                times.get(times.size() - 1));
  }

  private static long events(KubernetesClient admin) {
    return admin.resources(Event.class).inNamespace(PODS).list().getItems().size();
  }

  private static Namespace namespace() {
    return new NamespaceBuilder().withNewMetadata().withName(PODS).endMetadata().build();
  }

  private static String perCheckpoint(Map<String, Long> requests) {
    return requests.entrySet().stream()
        .filter(each -> each.getValue() * 10 >= CHECKPOINTS)
        .map(each -> each.getKey() + " " + perOne(each.getValue()))
        .collect(Collectors.joining(", "));
  }

  private static String milliseconds(Duration all) {
    return "%.1f".formatted(all.toNanos() / 1e6 / CHECKPOINTS);
  }

  private static String processors(Duration busy, Duration measured) {
    return "%.2f".formatted(busy.toMillis() / (double) measured.toMillis());
  }

  private static String perOne(long all) {
    return "%.2f".formatted(all / (double) CHECKPOINTS);
  }

  private static String seconds(Instant from, Instant to) {
    return "%.1f".formatted(Duration.between(from, to).toMillis() / 1000.0);
  }

  private static void report(BatchTable table, Map<String, String> results) throws IOException {
    StringBuilder text = new StringBuilder(table.text()).append(System.lineSeparator());
    results.forEach((name, value) -> text.append("%-29s %s%n".formatted(name, value)));
    System.out.println(text);
    Files.writeString(
        Files.createDirectories(Path.of("target/bench")).resolve("operator.txt"), text);
  }

  private static void inParallel(int count, java.util.function.IntConsumer each)
      throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(16);
    Semaphore finished = new Semaphore(0);
    ConcurrentHashMap<Integer, Throwable> failures = new ConcurrentHashMap<>();
    IntStream.range(0, count)
        .forEach(
            index ->
                threads.execute(
                    () -> {
                      try {
                        each.accept(index);
                      } catch (RuntimeException e) {
                        failures.put(index, e);
                      } finally {
                        finished.release();
                      }
                    }));
    assertThat(finished.tryAcquire(count, LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    threads.shutdown();
    assertThat(failures).isEmpty();
  }
}
