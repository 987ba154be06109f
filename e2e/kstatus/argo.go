package main

import (
	"fmt"
	"os"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

var healths = map[string]status.Status{
	"Healthy":     status.CurrentStatus,
	"Progressing": status.InProgressStatus,
	"Degraded":    status.FailedStatus,
}

// argoCheck returns the first block of Lua of a page: the health check for Argo CD.
func argoCheck(page string) (string, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return "", err
	}
	_, after, found := strings.Cut(string(text), "```lua\n")
	code, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		return "", fmt.Errorf("%s: expected a block of Lua, got none", page)
	}
	return code, nil
}

// argo returns the verdict of a health check, in the library that Argo CD runs it with.
func argo(code string, object *unstructured.Unstructured) (status.Status, error) {
	if object.GetDeletionTimestamp() != nil {
		// Argo CD decides it before the check.
		return status.TerminatingStatus, nil
	}
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", value(state, object.Object))
	if err := state.DoString(code); err != nil {
		return "", err
	}
	result, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", fmt.Errorf("expected a table, got %s", state.Get(-1).Type())
	}
	return healths[result.RawGetString("status").String()], nil
}

func value(state *lua.LState, from any) lua.LValue {
	switch from := from.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, each := range from {
			table.RawSetString(key, value(state, each))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, each := range from {
			table.Append(value(state, each))
		}
		return table
	case string:
		return lua.LString(from)
	case bool:
		return lua.LBool(from)
	case int64:
		return lua.LNumber(from)
	case float64:
		return lua.LNumber(from)
	default:
		return lua.LNil
	}
}
