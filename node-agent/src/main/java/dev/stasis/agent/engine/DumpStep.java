package dev.stasis.agent.engine;

import dev.stasis.agent.criu.CriuOptions;
import dev.stasis.agent.criu.CriuOutcome;
import dev.stasis.agent.criu.CriuRunner;
import dev.stasis.agent.criu.DumpPlan;
import dev.stasis.agent.criu.InodePathCache;
import dev.stasis.agent.criu.LinkRemapLeftovers;
import dev.stasis.agent.criu.SavedMemory;
import dev.stasis.agent.criu.ThreadGuard;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Runs criu to dump the stopped tree without the pages that the mover has copied. It leaves the
 * tree stopped; it never ends one.
 */
final class DumpStep implements Step<Freeze, FrozenWork> {

  @Override
  public String name() {
    return "dump";
  }

  @Override
  public String undoName() {
    return "tidy";
  }

  @Override
  public void run(Freeze freeze) throws StepFailure, InterruptedException {
    boolean deadDevices = freeze.requireNoLiveDevices();
    ThreadGuard guard = guard(freeze);
    Optional<String> unsaved =
        guard.save(freeze.work().tree().stream().filter(freeze::alive).toList());
    if (unsaved.isPresent()) {
      throw new StepFailure(Reason.PROCESS_CONTROL, unsaved.get());
    }
    long bytes = freeze.bytesLeftToCriu();
    try (CriuImages images = images(freeze, bytes)) {
      dump(freeze, images, bytes, deadDevices);
      guard.forget();
      images.keep();
    } catch (IOException e) {
      throw new StepFailure(Reason.CRIU_FAILED, "criu dump: " + e.getMessage(), e);
    }
  }

  private void dump(Freeze freeze, CriuImages images, long bytes, boolean deadDevices)
      throws StepFailure, IOException, InterruptedException {
    NodeParts node = freeze.node();
    long ownMounts =
        node.proc().namespaces((int) ProcessHandle.current().pid()).getOrDefault("mnt", -1L);
    DumpPlan plan =
        new DumpPlan(
            node.tools().runtime(),
            node.tools().bundle(),
            freeze.source(),
            ownMounts,
            images.folder(),
            criuFolder(freeze),
            CriuOptions.usual().withDeadDevices(deadDevices).withSaved(saved(freeze)));
    try {
      new InodePathCache().write(plan.work(), freeze.watched());
    } catch (IOException e) {
      throw new StepFailure(Reason.CRIU_FAILED, "paths for criu: " + e.getMessage(), e);
    }
    CriuRunner runner = new CriuRunner(freeze::noteChild);
    CriuOutcome outcome =
        runner.dump(
            plan,
            runner.allowance(bytes),
            written -> freeze.listener().progress(name(), written, bytes));
    if (!(outcome instanceof CriuOutcome.Succeeded)) {
      throw new StepFailure(
          CriuFailures.reason(outcome), "criu dump: " + CriuFailures.describe(outcome));
    }
  }

  private static CriuImages images(Freeze freeze, long bytes)
      throws StepFailure, InterruptedException {
    try {
      return new CriuImages(freeze, bytes);
    } catch (IOException e) {
      throw new StepFailure(Reason.CRIU_FAILED, "folder for criu: " + e.getMessage(), e);
    }
  }

  /** Log and statistics of criu; created before criu starts. */
  private static Path criuFolder(FrozenWork frozen) {
    return frozen.node().journal().folderOf(frozen.work().containerId()).resolve("criu");
  }

  private static List<SavedMemory> saved(Freeze freeze) {
    return freeze.plans().stream()
        .flatMap(
            plan -> plan.regions().stream().map(region -> new SavedMemory(plan.process(), region)))
        .toList();
  }

  private static ThreadGuard guard(FrozenWork frozen) {
    NodeParts node = frozen.node();
    return new ThreadGuard(
        node.tools().runtime(),
        node.journal().folderOf(frozen.work().containerId()).resolve("threads.guard"),
        frozen::noteChild);
  }

  /**
   * A killed criu leaves its own registers in the threads, and may have continued them for a
   * moment.
   */
  private static void putBack(FrozenWork frozen) throws StepFailure, InterruptedException {
    ThreadGuard guard = guard(frozen);
    if (!guard.saved()) {
      return;
    }
    new StopAgain(frozen).stop();
    Optional<String> fault = guard.restore();
    if (fault.isPresent()) {
      throw new StepFailure(
          Reason.PROCESS_CONTROL, "cannot undo the changes of criu: " + fault.get());
    }
    try {
      guard.forget();
    } catch (IOException e) {
      throw new StepFailure(Reason.PROCESS_CONTROL, "the guard's journal: " + e.getMessage(), e);
    }
  }

  @Override
  public void undo(FrozenWork frozen) throws StepFailure, InterruptedException {
    putBack(frozen);
    Set<ProcessId> tree = new LinkedHashSet<>(frozen.work().tree());
    frozen
        .container()
        .ifPresent(
            found ->
                tree.addAll(frozen.node().tree().listAgain(found, List.copyOf(tree)).living()));
    Optional<String> silent = guard(frozen).calm(tree.stream().filter(frozen::alive).toList());
    if (silent.isPresent()) {
      throw new StepFailure(Reason.PROCESS_CONTROL, "TCP connections: " + silent.get());
    }
    // criu creates names for unnamed files; the workload must not see them.
    if (Files.exists(criuFolder(frozen))) {
      new LinkRemapLeftovers(frozen.node().proc()).remove(List.copyOf(tree));
    }
  }
}
