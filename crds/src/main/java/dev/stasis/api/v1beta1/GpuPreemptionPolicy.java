package dev.stasis.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicySpec;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicyStatus;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;

/**
 * Lets pending GPU pods preempt running ones of lower priority. The preempted pods are checkpointed
 * and restored automatically.
 */
@Group(Api.GROUP)
@Version(Api.VERSION)
@Plural("gpupreemptionpolicies")
@ShortNames("gpol")
@Categories(Api.SYSTEM_CATEGORY)
@JsonClassDescription(
    "Lets pending GPU pods of high priority preempt running ones, which are checkpointed and"
        + " restored automatically.")
@ValidationRule(
    value = "size(self.metadata.name) <= 63",
    message = "metadata.name: must have at most 63 characters")
@AdditionalPrinterColumn(
    name = "Victims",
    jsonPath = ".spec.victims.maxPriority",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Preemptors",
    jsonPath = ".spec.preemptors.minPriority",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Used",
    jsonPath = ".status.budgetUsed",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Waiting",
    jsonPath = ".status.waiting",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Evicted",
    jsonPath = ".status.evicted",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
    name = "Reason",
    jsonPath = ".status.reason",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "MinRun",
    jsonPath = ".spec.minRunTime",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Gangs",
    jsonPath = ".spec.options.groupPolicy",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Message",
    jsonPath = ".status.message",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
public class GpuPreemptionPolicy
    extends CustomResource<GpuPreemptionPolicySpec, GpuPreemptionPolicyStatus> {}
