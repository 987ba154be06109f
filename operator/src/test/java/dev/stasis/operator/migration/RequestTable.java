package dev.stasis.operator.migration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Requests of an operator by the objects for which they are.
 *
 * @param requests by what waits
 */
record RequestTable(Map<String, List<String>> requests) {

  /** Returns the requests for each object; those for none are of the operator itself. */
  static RequestTable of(List<String> all, Map<String, String> owners) {
    Map<String, List<String>> requests = new TreeMap<>();
    owners.values().forEach(state -> requests.put(state, new ArrayList<>()));
    for (String request : all) {
      String state =
          owners.entrySet().stream()
              .filter(owner -> request.contains(owner.getKey()))
              .map(Map.Entry::getValue)
              .findFirst()
              .orElse("(no object)");
      requests.computeIfAbsent(state, it -> new ArrayList<>()).add(request);
    }
    return new RequestTable(requests);
  }

  /** Prints it for docs/evidence. */
  void print(Duration observed) {
    System.out.println("| what waits | requests per minute | which |\n|---|---|---|");
    requests.forEach(
        (state, all) ->
            System.out.printf(
                Locale.ROOT,
                "| %s | %.1f | %s |%n",
                state,
                60.0 * all.size() / observed.toSeconds(),
                String.join(", ", all.stream().limit(4).toList())));
  }
}
