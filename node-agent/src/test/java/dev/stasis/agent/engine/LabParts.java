package dev.stasis.agent.engine;

import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.criu.CriuBundle;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.mover.Mover;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;

/** The parts of a lab's node, one of them replaced. */
final class LabParts {

  private LabParts() {}

  /** No call of that name to the driver waits longer than that. */
  static NodeParts patience(EngineLab lab, String call, Duration longest) {
    return driver(lab, new BriefDriver(lab.worker(), call, longest));
  }

  /** Another driver answers. */
  static NodeParts driver(EngineLab lab, CudaDriver driver) {
    NodeParts node = lab.parts();
    GuardedDriver calls = new GuardedDriver(driver, new WorkerRecovery(lab.worker(), node.proc()));
    return of(node, driver, calls, node.mover(), node.tools());
  }

  /** Another program moves the regions. */
  static NodeParts mover(EngineLab lab, Path program) {
    NodeParts node = lab.parts();
    return of(node, node.driver(), node.calls(), new Mover(program), node.tools());
  }

  /** Another program dumps and restores. */
  static NodeParts criu(EngineLab lab, Path program) {
    NodeParts node = lab.parts();
    try {
      CriuBundle bundle = new CriuBundle(Files.createTempDirectory(lab.folder(), "bundle"));
      bundle.install(program);
      Tools tools = new Tools(node.tools().runtime(), bundle, node.tools().criuVersion());
      return of(node, node.driver(), node.calls(), node.mover(), tools);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Another program enters containers, guards threads and calms connections. */
  static NodeParts runtime(EngineLab lab, Path program) {
    NodeParts node = lab.parts();
    Tools tools = new Tools(program, node.tools().bundle(), node.tools().criuVersion());
    return of(node, node.driver(), node.calls(), node.mover(), tools);
  }

  /** What the machine says of its processes and its memory is read there. */
  static NodeParts proc(EngineLab lab, ProcFs proc) {
    NodeParts node = lab.parts();
    return of(
        proc,
        node,
        node.driver(),
        node.calls(),
        node.mover(),
        node.tools(),
        node.storeSilence(),
        node.clock());
  }

  /** Times are read there, not durations. */
  static NodeParts clock(EngineLab lab, Clock clock) {
    NodeParts node = lab.parts();
    return of(
        node.proc(),
        node,
        node.driver(),
        node.calls(),
        node.mover(),
        node.tools(),
        node.storeSilence(),
        clock);
  }

  /** A store that makes no progress for so long is given up while a workload is frozen. */
  static NodeParts silence(EngineLab lab, Duration silence) {
    NodeParts node = lab.parts();
    return of(
        node.proc(),
        node,
        node.driver(),
        node.calls(),
        new Mover(node.tools().runtime(), silence),
        node.tools(),
        silence,
        node.clock());
  }

  private static NodeParts of(
      NodeParts node, CudaDriver driver, GuardedDriver calls, Mover mover, Tools tools) {
    return of(node.proc(), node, driver, calls, mover, tools, node.storeSilence(), node.clock());
  }

  private static NodeParts of(
      ProcFs proc,
      NodeParts node,
      CudaDriver driver,
      GuardedDriver calls,
      Mover mover,
      Tools tools,
      Duration storeSilence,
      Clock clock) {
    return new NodeParts(
        proc,
        node.pids(),
        new ContainerResolver(proc),
        new ProcessTree(proc),
        driver,
        calls,
        node.gate(),
        node.locks(),
        node.journal(),
        node.journals(),
        mover,
        node.keepers(),
        tools,
        node.thp(),
        node.stateDir(),
        node.memoryStage(),
        node.rates(),
        node.parallel(),
        node.threads(),
        node.restoreWithoutAppArmor(),
        storeSilence,
        clock,
        node.nanoTime());
  }
}
