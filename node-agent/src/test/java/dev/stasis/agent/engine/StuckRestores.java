package dev.stasis.agent.engine;

/** An engine whose restores fail with running processes that their undo cannot end. */
public final class StuckRestores {

  private StuckRestores() {}

  /** Returns an engine on the node of a lab. */
  public static NodeEngine on(EngineLab lab) {
    HookedStep.Hook hook =
        (moment, step) -> {
          boolean fails = moment == HookedStep.Moment.AFTER && step.equals("unlock");
          boolean sticks = moment == HookedStep.Moment.BEFORE_UNDO && step.equals("criu-restore");
          if (fails || sticks) {
            throw new StepFailure(Reason.PROCESS_CONTROL, "injected " + moment + " " + step);
          }
        };
    return new NodeEngine(lab.parts(), Checkpoint.steps(), HookedStep.all(Restore.steps(), hook));
  }
}
