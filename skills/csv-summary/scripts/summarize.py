#!/usr/bin/env python3
"""Prints how many numbers each column of a CSV file has, their least, greatest and mean."""

import argparse
import csv
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file")
parser.add_argument("--out", help="write the summary there, as CSV")
options = parser.parse_args()

numbers = {}
with open(options.file, newline="", encoding="utf-8") as table:
    for row in csv.DictReader(table):
        for column, text in row.items():
            try:
                numbers.setdefault(column, []).append(float(text))
            except (TypeError, ValueError):
                continue

rows = [
    [column, len(values), min(values), max(values), round(sum(values) / len(values), 6)]
    for column, values in numbers.items()
]
if not rows:
    sys.exit(f"No column of {options.file} holds numbers.")

head = ["column", "count", "min", "max", "mean"]
csv.writer(sys.stdout, delimiter="\t", lineterminator="\n").writerows([head, *rows])
if options.out:
    with open(options.out, "w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows([head, *rows])
