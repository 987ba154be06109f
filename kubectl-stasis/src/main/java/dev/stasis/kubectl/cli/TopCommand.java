package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.report.Course;
import dev.stasis.kubectl.report.Outcome;
import dev.stasis.kubectl.screen.Printable;
import dev.stasis.kubectl.top.Picture;
import dev.stasis.kubectl.top.Screen;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows current activity; without a terminal once, as text. */
@Command(
    name = "top",
    description =
        "Shows nodes, frozen workloads, requests in progress and failures of all namespaces.",
    footer = {
      "",
      "Keys: j, k or arrows select; e shows details; c cancels; r resumes; q quits.",
      "Without a terminal the table is printed once."
    },
    sortOptions = false)
final class TopCommand extends ClusterCommand {

  /**
   * The interval at which the agents' progress changes; each refresh takes one request per kind.
   */
  private static final Duration EACH = Duration.ofSeconds(2);

  private static final String HOME = "\u001b[H";
  private static final String REST_OF_LINE = "\u001b[K";
  private static final String REST_OF_SCREEN = "\u001b[J";
  private static final String OTHER_SCREEN = "\u001b[?1049h\u001b[?25l";
  private static final String FIRST_SCREEN = "\u001b[?25h\u001b[?1049l";

  @Option(names = "--once", description = "prints the table once, even on a terminal")
  boolean once;

  private int chosen;
  private String note = "";

  TopCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws InterruptedException, IOException {
    if (once || !session().terminal().isScreen()) {
      say(String.join("\n", new Screen(look(), -1).lines(0)));
      return Exit.DONE;
    }
    try (Keyboard keyboard = new Keyboard()) {
      session().terminal().out().print(OTHER_SCREEN);
      loop(keyboard);
    } finally {
      session().terminal().out().print(FIRST_SCREEN);
      session().terminal().out().flush();
    }
    return Exit.DONE;
  }

  private void loop(Keyboard keyboard) throws InterruptedException {
    while (true) {
      Picture picture = look();
      List<Resource> choices = picture.choices(Screen.FAILURES);
      chosen = Math.max(0, Math.min(chosen, choices.size() - 1));
      draw(picture, keyboard.size());
      int key = keyboard.next(EACH);
      if (key == 'q') {
        return;
      }
      if (key == Keyboard.DOWN || key == Keyboard.UP) {
        chosen += key == Keyboard.DOWN ? 1 : -1;
        note = "";
      } else if (key != Keyboard.NONE && !choices.isEmpty()) {
        press(key, choices.get(chosen), keyboard);
      }
    }
  }

  private void press(int key, Resource object, Keyboard keyboard) throws InterruptedException {
    try {
      switch (key) {
        case 'e' -> note = tell(object);
        case 'c' -> note = cancel(object, keyboard);
        case 'r' -> note = resume(object);
        default -> note = "";
      }
    } catch (ClusterFailure refused) {
      note = String.valueOf(refused.getMessage());
    }
  }

  private static String tell(Resource object) {
    Course course = new Course(object);
    return course.isOver()
        ? new Outcome().text(object)
        : object.title() + ": " + course.phase() + "\n" + String.join("\n", course.reasons());
  }

  private String cancel(Resource object, Keyboard keyboard) throws InterruptedException {
    if (new Course(object).isOver()) {
      return object.title() + " is finished; nothing to cancel";
    }
    note = "cancel " + object.title() + "? y";
    draw(look(), keyboard.size());
    if (keyboard.next(Duration.ofSeconds(10)) != 'y') {
      return "not cancelled";
    }
    cancel(object);
    return object.title() + " is being cancelled";
  }

  private String resume(Resource object) {
    if (!new Course(object).phase().equals("Suspended")) {
      return object.title() + " is not suspended";
    }
    change(object, spec -> spec.put("desiredState", "Running"));
    return object.title() + " resumes " + object.text("spec.podRef.name");
  }

  private void change(Resource object, Consumer<ObjectNode> edit) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    edit.accept(patch.putObject("spec"));
    cluster().patch(Kind.of(object.kind()).orElseThrow(), scope(object), object.name(), patch);
  }

  private Picture look() {
    List<Resource> nodes;
    try {
      nodes = cluster().list(List.of(Kind.NODE), new Scope.Current());
    } catch (ClusterFailure refused) {
      if (refused.why() != ClusterFailure.Why.FORBIDDEN) {
        throw refused;
      }
      nodes = List.of();
    }
    List<Resource> requests = cluster().list(Kind.REQUESTS, new Scope.All());
    return new Picture(nodes, requests, session().clock().instant());
  }

  private void draw(Picture picture, int[] size) {
    StringBuilder frame = new StringBuilder(HOME);
    List<String> bottom =
        note.isEmpty()
            ? List.of("j/k choose  e more  c cancel  r resume  q end")
            : note.lines().map(Printable::line).toList();
    new Screen(picture, chosen)
        .lines(size[1]).stream()
            .limit(Math.max(1, size[0] - bottom.size() - 2))
            .forEach(line -> frame.append(line).append(REST_OF_LINE).append("\r\n"));
    frame.append(REST_OF_SCREEN).append("\r\n").append(String.join("\r\n", bottom));
    session().terminal().out().print(frame);
    session().terminal().out().flush();
  }
}
