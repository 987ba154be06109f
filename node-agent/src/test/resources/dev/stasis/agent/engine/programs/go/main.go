// A server, a client that reads its stream, and a GPU child, all by Go's standard library.
package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"
)

func serve(out http.ResponseWriter, _ *http.Request) {
	for number := 1; ; number++ {
		fmt.Fprintf(out, "token %d\n", number)
		out.(http.Flusher).Flush()
		time.Sleep(20 * time.Millisecond)
	}
}

func main() {
	child := exec.Command("/bin/gpu-counter", "--mib", "8", "--interval-ms", "20")
	child.Stdout = os.Stdout
	if err := child.Start(); err != nil {
		fmt.Println("BAD", err)
	}
	go func() { fmt.Println("BAD child", child.Wait()) }()
	go func() { fmt.Println("BAD", http.ListenAndServe(":8080", http.HandlerFunc(serve))) }()
	answer, err := http.Get("http://127.0.0.1:8080/")
	for err != nil {
		time.Sleep(50 * time.Millisecond)
		answer, err = http.Get("http://127.0.0.1:8080/")
	}
	lines := bufio.NewScanner(answer.Body)
	for number := 1; lines.Scan(); number++ {
		if lines.Text() != fmt.Sprintf("token %d", number) {
			fmt.Println("BAD", lines.Text(), number)
		}
		progress, err := os.OpenFile("/data/progress", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			fmt.Println("BAD", err)
		}
		fmt.Fprintln(progress, number)
		progress.Close()
	}
	fmt.Println("BAD end of the stream", lines.Err())
}
