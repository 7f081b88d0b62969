#!/bin/sh
# tests/debian.sh PROGRAM PACKAGE...: install Debian packages if a program of theirs is missing.
set -eu
program=$1
shift
PATH="$PATH:/usr/sbin"
if command -v "$program" >/dev/null; then exit 0; fi
if ! command -v apt-get >/dev/null; then
    echo "error: $program is missing and there is no apt-get; install it and run this again" >&2
    exit 2
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "error: $program is missing; install it as root" >&2; exit 2; }
    as_root=sudo
fi
$as_root apt-get update -qq
$as_root apt-get install -qq --yes --no-install-recommends "$@"
