package dev.stasis.operator.workflow;

import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.common.Phase;
import java.util.List;
import java.util.stream.Collectors;

/** Describes workflows for the documentation, from their steps. */
public final class FlowPage {

  private FlowPage() {}

  /** Returns a diagram and a table of the steps of a kind. */
  public static <C extends RequestContext<P>, P extends Enum<P> & Phase<P>> String section(
      String kind, List<? extends Step<C, P>> steps) {
    StringBuilder text = new StringBuilder("## " + kind + "\n\n```mermaid\nflowchart TD\n");
    for (int i = 0; i < steps.size(); i++) {
      Step<C, P> step = steps.get(i);
      text.append("  s%d[\"%s<br>%s\"]\n".formatted(i, step.name(), phases(step)));
    }
    for (int i = 1; i < steps.size(); i++) {
      text.append("  s%d --> s%d\n".formatted(i - 1, i));
    }
    text.append("```\n\n| step | phase | timeout | why | longest retry wait | undo |\n");
    text.append("|---|---|---|---|---|---|\n");
    for (Step<C, P> step : steps) {
      text.append(
          "| `%s` | %s | %s | %s | %s | %s |\n"
              .formatted(
                  step.name(),
                  phases(step),
                  step.timeout().value(),
                  step.timeout().reason(),
                  new HumanDuration(step.longestWait()).text(),
                  step.undoes().isEmpty() ? "nothing" : step.undoes()));
    }
    return text.toString();
  }

  private static <P extends Enum<P> & Phase<P>> String phases(Step<?, P> step) {
    return step.phases().stream().map(Phase::value).collect(Collectors.joining(", "));
  }
}
