package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.stasis.kubectl.doctor.Doctor;
import dev.stasis.kubectl.doctor.Finding;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;

/** Diagnoses a cluster. */
@Command(
    name = "doctor",
    description = "Reports problems of the cluster, node by node, with advice.",
    footer = {"", "Exit code 1 if there is a problem; warnings alone do not count."},
    sortOptions = false)
final class DoctorCommand extends ClusterCommand {

  DoctorCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() {
    Doctor doctor = new Doctor();
    List<Finding> findings = doctor.examine(new FactFinder(cluster(), session().clock()).facts());
    if (format == null) {
      findings.forEach(this::tell);
      say(summary(findings));
    } else {
      ArrayNode list = JsonNodeFactory.instance.arrayNode();
      findings.forEach(
          finding ->
              list.addObject()
                  .put("severity", finding.severity().value())
                  .put("where", finding.where())
                  .put("what", finding.what())
                  .put("advice", finding.advice()));
      say(format.text(list));
    }
    return doctor.isIll(findings) ? Exit.FAILED : Exit.DONE;
  }

  private void tell(Finding finding) {
    say(
        String.format(
            Locale.ROOT,
            "%-8s %s: %s",
            finding.severity().value(),
            finding.where(),
            finding.what()));
    if (!finding.advice().isEmpty()) {
      say("         -> " + finding.advice());
    }
  }

  private static String summary(List<Finding> findings) {
    long problems = count(findings, Finding.Severity.PROBLEM);
    long warnings = count(findings, Finding.Severity.WARNING);
    if (problems + warnings == 0) {
      return "no problems found";
    }
    return problems + " problems, " + warnings + " warnings";
  }

  private static long count(List<Finding> findings, Finding.Severity severity) {
    return findings.stream().filter(it -> it.severity() == severity).count();
  }
}
