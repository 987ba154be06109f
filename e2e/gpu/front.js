// A server on libuv and its client around a GPU child: front.js COMMAND... The client prints the lines of the child, which
// the server streams to it; one that is missing or comes twice is BAD.
const http = require("http");
const readline = require("readline");
const { spawn } = require("child_process");

const child = spawn(process.argv[2], process.argv.slice(3), { stdio: ["ignore", "pipe", "inherit"] });
child.on("exit", (code, signal) => console.log("BAD child", code, signal) || process.exit(1));
http
  .createServer((request, response) => child.stdout.pipe(response))
  .listen(8080, "0.0.0.0", () =>
    http.get({ host: "127.0.0.1", port: 8080 }, (response) => {
      let last = 0;
      readline.createInterface({ input: response }).on("line", (line) => {
        const number = Number((line.match(/^step (\d+) /) || [])[1]);
        console.log(number === ++last ? line : `BAD line ${last}: ${line}`);
      });
      response.on("end", () => console.log("BAD end of the stream"));
    }),
  );
