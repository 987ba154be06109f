// A server and its client on libuv, files by its thread pool or its ring, and a GPU child.
const fs = require("fs");
const http = require("http");
const { spawn } = require("child_process");

spawn("/bin/gpu-counter", ["--mib", "8", "--interval-ms", "20"], { stdio: ["ignore", "inherit", "inherit"] });

http
  .createServer((request, response) => {
    let number = 0;
    setInterval(() => response.write(`token ${++number}\n`), 20);
  })
  .listen(8080, "0.0.0.0");

let last = 0;
const client = () =>
  http
    .get({ host: "127.0.0.1", port: 8080 }, (response) => {
      let rest = "";
      response.on("data", async (data) => {
        const lines = (rest + data).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          if (line !== `token ${++last}`) console.log("BAD", line, last);
        }
        await fs.promises.appendFile("/data/progress", lines.map((line) => line.slice(6) + "\n").join(""));
      });
      response.on("end", () => console.log("BAD end of the stream"));
    })
    .on("error", () => setTimeout(client, 50));
client();
