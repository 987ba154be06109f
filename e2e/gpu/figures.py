"""Figures of the scenario compare: figures.py PATH NAME reads the objects of one round as JSON and prints a line; figures.py
--medians reads such lines and prints a table."""
import json
import statistics
import sys

COLUMNS = ["frozen in place", "suspended, until the GPU is free", "resumed", "evicted, until the GPU is free", "restored"]


def line(path, name):
    timings = {item["metadata"]["name"]: item["status"]["timings"] for item in json.load(sys.stdin)["items"] if item["metadata"]["name"].startswith(name)}
    values = [timings[name + "-place"]["frozenMilliseconds"], timings[name + "-nap"]["freedMilliseconds"], timings[name + "-nap"]["resumeMilliseconds"],
              timings[name + "-away"]["freedMilliseconds"], timings[name + "-back"]["tookMilliseconds"]]
    print(path, *values)


def medians():
    rounds = {}
    for text in sys.stdin:
        path, *values = text.split()
        rounds.setdefault(path, []).append([int(value) for value in values])
    print("| path | rounds | " + " | ".join(COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for path, rows in rounds.items():
        cells = [f"{statistics.median(column):.0f} ({min(column)} to {max(column)})" for column in zip(*rows)]
        print(f"| {path} | {len(rows)} | " + " | ".join(cells) + " |")


if sys.argv[1] == "--medians":
    medians()
else:
    line(*sys.argv[1:])
