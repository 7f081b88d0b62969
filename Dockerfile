# For reviewers: the project with its pinned packages, in two commands.
#   docker build --tag bestarm .
#   docker run --rm bestarm
# The second checks all kept results (`bestarm verify`); `docker run --rm --interactive --tty bestarm bash` is
# a shell, in which every command of the README works.
#
# Not built on the machine that it was written on; .github/workflows/container.yml builds and runs it.
FROM debian:bookworm-20250811-slim@sha256:b1a741487078b369e78119849663d7f1a5341ef2768798f7b7406c4240f86aef
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /bestarm
COPY . .
RUN make setup
# For `--user` of any number, who has no home: Snakemake needs one that it can write to.
ENV HOME=/tmp PATH="/bestarm/.venv/bin:$PATH"
CMD ["bestarm", "verify"]
