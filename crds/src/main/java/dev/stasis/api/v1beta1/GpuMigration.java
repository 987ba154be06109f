package dev.stasis.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;

/** Moves a running GPU pod to another node with the same GPU topology. */
@Group(Api.GROUP)
@Version(Api.VERSION)
@Plural("gpumigrations")
@ShortNames("gmig")
@Categories(Api.CATEGORY)
@JsonClassDescription("Moves one running GPU pod to another node of the same topology.")
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
    name = "From",
    jsonPath = ".status.source.node",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "To",
    jsonPath = ".status.target.node",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Phase",
    jsonPath = ".status.phase",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Done",
    jsonPath = ".status.progress",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Downtime",
    jsonPath = ".status.downtime",
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
    name = "Rate",
    jsonPath = ".status.rate",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Driver",
    jsonPath = ".status.sourceHardware.driver",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Message",
    jsonPath = ".status.message",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
public class GpuMigration extends CustomResource<GpuMigrationSpec, GpuMigrationStatus>
    implements Namespaced {}
