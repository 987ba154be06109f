package dev.stasis.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleSpec;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleStatus;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;

/** Checkpoints GPU pods on a schedule, applies retention, and restores pods that fail. */
@Group(Api.GROUP)
@Version(Api.VERSION)
@Plural("gpucheckpointschedules")
@ShortNames("gsched")
@Categories(Api.CATEGORY)
@JsonClassDescription(
    "Checkpoints GPU pods on a schedule, keeps the configured number, and restores pods that fail.")
@ValidationRule(
    value = "size(self.metadata.name) <= 52",
    message =
        "metadata.name: must have at most 52 characters, because each run appends eleven"
            + " characters")
@AdditionalPrinterColumn(
    name = "Schedule",
    jsonPath = ".spec.schedule",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Suspend",
    jsonPath = ".spec.suspend",
    type = AdditionalPrinterColumn.Type.BOOLEAN)
@AdditionalPrinterColumn(
    name = "Last",
    jsonPath = ".status.lastScheduleTime",
    type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
    name = "Kept",
    jsonPath = ".status.kept",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Size",
    jsonPath = ".status.keptSize",
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
    name = "Pods",
    jsonPath = ".status.matchedPods",
    type = AdditionalPrinterColumn.Type.INTEGER,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Newest",
    jsonPath = ".status.newestGood",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Store",
    jsonPath = ".spec.checkpoint.storageRef.name",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Message",
    jsonPath = ".status.message",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
public class GpuCheckpointSchedule
    extends CustomResource<GpuCheckpointScheduleSpec, GpuCheckpointScheduleStatus>
    implements Namespaced {}
