package dev.stasis.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;

/** Restores a GpuCheckpoint as a running pod. */
@Group(Api.GROUP)
@Version(Api.VERSION)
@Plural("gpurestores")
@ShortNames("grst")
@Categories(Api.CATEGORY)
@JsonClassDescription("Restores a GpuCheckpoint as a running pod.")
@ValidationRule(
    value = "size(self.metadata.name) <= 63",
    message =
        "metadata.name: must have at most 63 characters, because the name becomes the value "
            + "of a label")
@AdditionalPrinterColumn(
    name = "Checkpoint",
    jsonPath = ".spec.checkpointRef.name",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Pod",
    jsonPath = ".status.pod.name",
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
    name = "Took",
    jsonPath = ".status.timings.took",
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
    name = "Driver",
    jsonPath = ".status.hardware.driver",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Message",
    jsonPath = ".status.message",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
public class GpuRestore extends CustomResource<GpuRestoreSpec, GpuRestoreStatus>
    implements Namespaced {}
