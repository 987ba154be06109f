package dev.stasis.helm;

import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Users of a release, each with rights of its own. */
final class Users {

  private final Installed stasis;
  private int made;

  Users(Installed stasis) {
    this.stasis = stasis;
  }

  /** A user with the chart's role for editing, and these rights. */
  KubernetesClient user(PolicyRule... rules) {
    String name = stasis.release + "-user-" + ++made;
    stasis.make(
        new RoleBuilder()
            .withNewMetadata()
            .withNamespace(stasis.namespace)
            .withName(name)
            .endMetadata()
            .withRules(List.of(rules))
            .build());
    Stream.of(List.of("Role", name), List.of("ClusterRole", stasis.release + "-edit"))
        .forEach(role -> bind(name, role.get(0), role.get(1)));
    KubernetesClient user = stasis.client(config -> config.withImpersonateUsername(name));
    stasis.awaitRight(user, "create", "stasis.dev", "gpucheckpoints", null);
    for (PolicyRule rule : rules) {
      List<String> only = rule.getResourceNames();
      stasis.awaitRight(
          user,
          rule.getVerbs().get(0),
          "",
          rule.getResources().get(0),
          only.isEmpty() ? null : only.get(0));
    }
    return user;
  }

  private void bind(String user, String kind, String role) {
    stasis.make(
        new RoleBindingBuilder()
            .withNewMetadata()
            .withNamespace(stasis.namespace)
            .withName(user + "-" + kind.toLowerCase(Locale.ROOT))
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", kind, role)
            .addNewSubject()
            .withApiGroup("rbac.authorization.k8s.io")
            .withKind("User")
            .withName(user)
            .endSubject()
            .build());
  }

  /** Gives rights in every namespace, and of what is in none. */
  void everywhere(KubernetesClient user, PolicyRule... rules) {
    String name = stasis.release + "-everywhere-" + ++made;
    stasis.make(
        new ClusterRoleBuilder()
            .withNewMetadata()
            .withName(name)
            .endMetadata()
            .withRules(rules)
            .build());
    stasis.make(
        new ClusterRoleBindingBuilder()
            .withNewMetadata()
            .withName(name)
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", name)
            .addNewSubject()
            .withKind("User")
            .withName(user.getConfiguration().getImpersonateUsername())
            .endSubject()
            .build());
    for (PolicyRule rule : rules) {
      stasis.awaitRight(
          user,
          rule.getVerbs().get(rule.getVerbs().size() - 1),
          rule.getApiGroups().get(0),
          rule.getResources().get(0),
          null);
    }
  }

  static PolicyRule rule(String resource, String verb) {
    return new PolicyRuleBuilder()
        .withApiGroups("")
        .withResources(resource)
        .withVerbs(verb)
        .build();
  }
}
