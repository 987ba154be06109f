package dev.stasis.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;

/** Checkpoints a running GPU pod: as an artifact in a store, or suspended in host memory. */
@Group(Api.GROUP)
@Version(Api.VERSION)
@Plural("gpucheckpoints")
@ShortNames("gckpt")
@Categories(Api.CATEGORY)
@JsonClassDescription(
    "Saves one running GPU pod: as an artifact in a store, or suspended in memory.")
@ValidationRule(
    value = "size(self.metadata.name) <= 63",
    message =
        "metadata.name: must have at most 63 characters, because the name becomes the value "
            + "of a label")
@AdditionalPrinterColumn(
    name = "Pod",
    jsonPath = ".spec.podRef.name",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Node",
    jsonPath = ".status.pod.node",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Phase",
    jsonPath = ".status.phase",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Size",
    jsonPath = ".status.artifact.size",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Frozen",
    jsonPath = ".status.timings.frozen",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
    name = "Reason",
    jsonPath = ".status.reason",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Store",
    jsonPath = ".status.artifact.store",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Driver",
    jsonPath = ".status.hardware.driver",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Message",
    jsonPath = ".status.message",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
public class GpuCheckpoint extends CustomResource<GpuCheckpointSpec, GpuCheckpointStatus>
    implements Namespaced {}
