"""Figures of the scenario compare: figures.py PATH NAME reads the objects of one round as JSON and prints a line; figures.py
--medians reads such lines and prints a table."""
import json
import statistics
import sys

COLUMNS = ["frozen in place", "suspended, until the GPU is free", "resumed", "evicted, until the GPU is free", "restored"]


def line(path, name):
    timings = {item["metadata"]["name"]: item["status"]["timings"] for item in json.load(sys.stdin)["items"] if item["metadata"]["name"].startswith(name)}
    values = [timings[name + "-place"]["frozenMilliseconds"], timings[name + "-nap"]["freedMilliseconds"], timings[name + "-nap"]["resumeMilliseconds"],
              # A keeper that still holds the memory of an evicted workload has not freed it.
              timings[name + "-away"].get("freedMilliseconds", -1), timings[name + "-back"]["tookMilliseconds"]]
    print(path, *values)


def medians():
    rounds = {}
    for text in sys.stdin:
        path, *values = text.split()
        rounds.setdefault(path, []).append([int(value) for value in values])
    print("| path | rounds | " + " | ".join(COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for path, rows in rounds.items():
        cells = []
        for column in zip(*rows):
            known = [value for value in column if value >= 0]
            cells.append(f"{statistics.median(known):.0f} ({min(known)} to {max(known)})" if known else "not reported")
        print(f"| {path} | {len(rows)} | " + " | ".join(cells) + " |")


if sys.argv[1] == "--medians":
    medians()
else:
    line(*sys.argv[1:])
