package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.util.function.UnaryOperator;

/** Controllers of one name whose pods run the usual workload. */
record Controllers(Scenario scenario, String name) {

  Controllers(Scenario scenario) {
    this(scenario, "trainer");
  }

  Deployment deployment(int replicas, UnaryOperator<PodBuilder> change) {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withReplicas(replicas)
        .withNewSelector()
        .addToMatchLabels("app", name)
        .endSelector()
        .withTemplate(template("Always", change))
        .endSpec()
        .build();
  }

  StatefulSet statefulSet() {
    return new StatefulSetBuilder(statefulSet(1, UnaryOperator.identity()))
        .editSpec()
        .withPodManagementPolicy(null)
        .endSpec()
        .build();
  }

  /** All of its pods at once, whichever are Ready. */
  StatefulSet statefulSet(int replicas, UnaryOperator<PodBuilder> change) {
    return new StatefulSetBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withReplicas(replicas)
        .withServiceName(name)
        .withPodManagementPolicy("Parallel")
        .withNewSelector()
        .addToMatchLabels("app", name)
        .endSelector()
        .withTemplate(template("Always", change))
        .endSpec()
        .build();
  }

  /** The first pod that fails would fail it. */
  JobBuilder job(String restartPolicy) {
    return job(restartPolicy, UnaryOperator.identity());
  }

  JobBuilder job(String restartPolicy, UnaryOperator<PodBuilder> change) {
    return new JobBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withBackoffLimit(0)
        .withTemplate(template(restartPolicy, change))
        .endSpec();
  }

  private PodTemplateSpec template(String restartPolicy, UnaryOperator<PodBuilder> change) {
    PodBuilder pod =
        Workload.pod(scenario, name, Workload.MIB)
            .editSpec()
            .withRestartPolicy(restartPolicy)
            .endSpec()
            .editMetadata()
            .addToLabels("app", name)
            .endMetadata();
    var made = change.apply(pod).build();
    return new PodTemplateSpecBuilder()
        .withNewMetadata()
        .withLabels(made.getMetadata().getLabels())
        .endMetadata()
        .withSpec(made.getSpec())
        .build();
  }
}
