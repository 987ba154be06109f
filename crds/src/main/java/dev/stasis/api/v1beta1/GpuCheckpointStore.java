package dev.stasis.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;

/** A place to store artifacts. */
@Group(Api.GROUP)
@Version(Api.VERSION)
@Plural("gpucheckpointstores")
@ShortNames("gstore")
@Categories(Api.SYSTEM_CATEGORY)
@JsonClassDescription("A store of artifacts.")
@ValidationRule(
    value = "size(self.metadata.name) <= 63",
    message = "metadata.name: must have at most 63 characters")
@AdditionalPrinterColumn(
    name = "Type",
    jsonPath = ".status.type",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Default",
    jsonPath = ".spec.default",
    type = AdditionalPrinterColumn.Type.BOOLEAN,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Capacity",
    jsonPath = ".status.capacity",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Used",
    jsonPath = ".status.used",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Logical",
    jsonPath = ".status.logical",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Ratio",
    jsonPath = ".status.ratio",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Free",
    jsonPath = ".status.free",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Artifacts",
    jsonPath = ".status.artifacts",
    type = AdditionalPrinterColumn.Type.INTEGER,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
    name = "Reason",
    jsonPath = ".status.reason",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Message",
    jsonPath = ".status.message",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
public class GpuCheckpointStore
    extends CustomResource<GpuCheckpointStoreSpec, GpuCheckpointStoreStatus> {}
