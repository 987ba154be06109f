// Reads objects of stasis.dev as JSON from standard input, one after the other, and prints the
// verdict of kstatus (sigs.k8s.io/cli-utils) for each kind and phase as a Markdown table. Exits
// with 1 if a verdict does not fit the phase, or if the health check for Argo CD in the page that is
// the first argument has another one.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// verdicts of the phases that are not work in progress.
var ended = map[string][]status.Status{
	"Ready":       {status.CurrentStatus},
	"Explained":   {status.CurrentStatus},
	"Succeeded":   {status.CurrentStatus},
	"ColdStarted": {status.CurrentStatus},
	// In progress while the workload is to be resumed, and the attempt failed.
	"Suspended":  {status.CurrentStatus, status.InProgressStatus},
	"Failed":     {status.FailedStatus},
	"Cancelled":  {status.FailedStatus},
	"RolledBack": {status.FailedStatus},
}

// Kinds with phases: these objects are requests.
var requests = map[string]bool{"GpuCheckpoint": true, "GpuRestore": true, "GpuMigration": true}

type row struct {
	kind, state, reason string
	verdict             status.Status
}

func main() {
	check, err := argoCheck(os.Args[1])
	if err != nil {
		fail(err)
	}
	counts := map[row]int{}
	seen := map[string]bool{}
	foreign, same := 0, 0
	var wrong []string
	decoder := json.NewDecoder(os.Stdin)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fail(err)
		}
		version := string(object.GetUID()) + "/" + object.GetResourceVersion()
		if object.GetResourceVersion() == "" {
			// Of a test without an API server.
			version = fmt.Sprint(object.Object)
			object.SetGeneration(max(1, object.GetGeneration()))
		}
		if seen[version] {
			continue
		}
		seen[version] = true
		if isForeign(object) {
			foreign++
			continue
		}
		result, err := status.Compute(object)
		if err != nil {
			fail(fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err))
		}
		at := row{object.GetKind(), state(object), text(object, "reason"), result.Status}
		counts[at]++
		if allowed := expected(object); !contains(allowed, result.Status) {
			wrong = append(wrong, fmt.Sprintf("%s %s/%s, %s %s: expected %v, got %s: %s",
				at.kind, object.GetNamespace(), object.GetName(), at.state, at.reason, allowed,
				result.Status, result.Message))
		}
		health, err := argo(check, object)
		if err != nil {
			fail(err)
		}
		if health == result.Status {
			same++
		} else {
			wrong = append(wrong, fmt.Sprintf("%s %s/%s, %s: expected %s of Argo CD, got %s",
				at.kind, object.GetNamespace(), object.GetName(), at.state, result.Status, health))
		}
	}
	print(counts)
	fmt.Printf("\nThe health check for Argo CD has the same verdict on %d of %d versions.\n", same, len(seen)-foreign)
	if foreign > 0 {
		fmt.Printf("\nNot counted: %d versions with a status that a test wrote.\n", foreign)
	}
	for _, line := range wrong {
		fmt.Fprintln(os.Stderr, line)
	}
	if len(counts) == 0 {
		fail(errors.New("expected objects on standard input, got none"))
	}
	if len(wrong) > 0 {
		os.Exit(1)
	}
}

// expected returns the verdicts that fit what the object reports about itself.
func expected(object *unstructured.Unstructured) []status.Status {
	if object.GetDeletionTimestamp() != nil {
		return []status.Status{status.TerminatingStatus}
	}
	if !isObserved(object) {
		return []status.Status{status.InProgressStatus}
	}
	if !requests[object.GetKind()] {
		return configured(object)
	}
	phase := text(object, "phase")
	suspensions, _, _ := unstructured.NestedInt64(object.Object, "status", "suspensions")
	if allowed, found := ended[phase]; found {
		if phase == "Ready" && suspensions > 0 {
			// It may wait to be suspended again.
			allowed = append(allowed, status.InProgressStatus)
		}
		return allowed
	}
	resting := text(object, "reason") == "NotSuspended" || suspensions > 0
	if phase == "Pending" && resting {
		// Its workload runs, as its user requires: it waits for nothing.
		return []status.Status{status.CurrentStatus, status.InProgressStatus}
	}
	return []status.Status{status.InProgressStatus}
}

// configured returns the verdicts that fit a schedule, a policy or a store.
func configured(object *unstructured.Unstructured) []status.Status {
	ready := condition(object, "Ready")
	switch {
	case condition(object, "Stalled") == "True":
		return []status.Status{status.FailedStatus}
	case ready == "False":
		return []status.Status{status.InProgressStatus}
	default:
		return []status.Status{status.CurrentStatus}
	}
}

// isForeign tells whether something else than the operator has written the status: the operator
// and the default of the schema always have a generation.
func isForeign(object *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return !found
}

func isObserved(object *unstructured.Unstructured) bool {
	return observedGeneration(object) == object.GetGeneration()
}

func observedGeneration(object *unstructured.Unstructured) int64 {
	observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return observed
}

func state(object *unstructured.Unstructured) string {
	phase := text(object, "phase")
	switch {
	case object.GetDeletionTimestamp() != nil:
		return "being deleted"
	case observedGeneration(object) < 0:
		return "not seen yet"
	case !isObserved(object):
		return "changed, not seen yet"
	case requests[object.GetKind()] && phase == "":
		return "no phase yet"
	case requests[object.GetKind()]:
		return phase
	default:
		return "Ready " + condition(object, "Ready")
	}
}

func text(object *unstructured.Unstructured, field string) string {
	value, _, _ := unstructured.NestedString(object.Object, "status", field)
	return value
}

func conditions(object *unstructured.Unstructured) []any {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	return list
}

func condition(object *unstructured.Unstructured, name string) string {
	for _, each := range conditions(object) {
		if fields, ok := each.(map[string]any); ok && fields["type"] == name {
			return fmt.Sprint(fields["status"])
		}
	}
	return "absent"
}

func contains(allowed []status.Status, verdict status.Status) bool {
	for _, each := range allowed {
		if each == verdict {
			return true
		}
	}
	return false
}

// print groups the reasons of each kind, state and verdict.
func print(counts map[row]int) {
	reasons := map[row][]string{}
	totals := map[row]int{}
	for at, count := range counts {
		group := row{kind: at.kind, state: at.state, verdict: at.verdict}
		totals[group] += count
		reason := at.reason
		if reason == "" {
			reason = "none"
		}
		reasons[group] = append(reasons[group], fmt.Sprintf("%s %d", reason, count))
	}
	groups := make([]row, 0, len(totals))
	for group := range totals {
		groups = append(groups, group)
	}
	sort.Slice(groups, func(i, j int) bool {
		return fmt.Sprint(groups[i]) < fmt.Sprint(groups[j])
	})
	fmt.Println("| kind | phase, or state | kstatus | versions | reason of each |")
	fmt.Println("|---|---|---|---|---|")
	for _, group := range groups {
		sort.Strings(reasons[group])
		fmt.Printf("| %s | %s | %s | %d | %s |\n", group.kind, group.state, group.verdict,
			totals[group], strings.Join(reasons[group], ", "))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "kstatus:", err)
	os.Exit(1)
}
