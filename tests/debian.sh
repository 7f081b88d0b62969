#!/bin/sh
# Install Debian's chromium if there is none.
set -eu
if command -v chromium >/dev/null; then exit 0; fi
if ! command -v apt-get >/dev/null; then
    echo "error: chromium is missing and there is no apt-get; install it and run this again" >&2
    exit 2
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "error: chromium is missing; install it as root" >&2; exit 2; }
    as_root=sudo
fi
$as_root apt-get update -qq
$as_root apt-get install -qq --yes --no-install-recommends chromium
