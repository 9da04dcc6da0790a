#!/bin/sh
# Prints what a jq filter finds in a file.
set -eu
exec jq -r -- "$1" "$2"
