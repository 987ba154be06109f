// A server and its client around a GPU child, by Go's standard library: front COMMAND... The client prints the lines of
// the child, which the server streams to it; one that is missing or comes twice is BAD.
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

func must(err error) {
	if err != nil {
		fmt.Println("BAD", err)
		os.Exit(1)
	}
}

func main() {
	child := exec.Command(os.Args[1], os.Args[2:]...)
	child.Stderr = os.Stderr
	lines, err := child.StdoutPipe()
	must(err)
	must(child.Start())
	listener, err := net.Listen("tcp", ":8080")
	must(err)
	go func() {
		must(http.Serve(listener, http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			for in := bufio.NewScanner(lines); in.Scan(); {
				fmt.Fprintln(out, in.Text())
				out.(http.Flusher).Flush()
			}
		})))
	}()
	answer, err := http.Get("http://127.0.0.1:8080/")
	must(err)
	in := bufio.NewScanner(answer.Body)
	for number := 1; in.Scan(); number++ {
		if strings.HasPrefix(in.Text(), fmt.Sprintf("step %d ", number)) {
			fmt.Println(in.Text())
		} else {
			fmt.Println("BAD line", number, in.Text())
		}
	}
	fmt.Println("BAD end of the stream", in.Err())
	must(child.Wait())
}
