# Make the kept tables of data/ again. No other rule has them as input: they are made only when they
# are asked for by name and missing, or forced (snakemake --force data/battery/policies.csv).


rule crossings:
    """Play again: how often confidence sequences are crossed (data/anytime)."""
    output:
        table="data/anytime/crossings.csv",
        provenance="data/anytime/provenance.yaml",
    log:
        "results/logs/data/crossings.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.arena.crossings --out {output.table} --threads {threads} 2> {log}"


rule assumptions:
    """Play again: errors if rewards are not as assumed (data/assumptions)."""
    output:
        table="data/assumptions/errors.csv",
        provenance="data/assumptions/provenance.yaml",
    log:
        "results/logs/data/assumptions.log",
    threads: 2
    resources:
        mem_mb=each_attempt(2000),
        runtime=each_attempt(120),
    shell:
        "python -m bestarm.arena.assumptions --out {output.table} --threads {threads} 2> {log}"


rule drift:
    """Play again: errors if means change with time (data/drift)."""
    output:
        table="data/drift/errors.csv",
        provenance="data/drift/provenance.yaml",
    log:
        "results/logs/data/drift.log",
    threads: 2
    resources:
        mem_mb=each_attempt(2000),
        runtime=each_attempt(120),
    shell:
        "python -m bestarm.arena.drift --out {output.table} --threads {threads} 2> {log}"


rule verdict_rates:
    """Play again: the rule of verdicts on claims of known truth."""
    output:
        table="data/verdict-rates/rates.csv",
        provenance="data/verdict-rates/provenance.yaml",
    log:
        "results/logs/data/verdict-rates.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.verdicts.verdict_rates --out {output.table} --threads {threads} 2> {log}"


rule arena_cells:
    """Play again: the cells of the arena that are new or whose code has changed."""
    output:
        # The command reads the old tables, to keep rows that are up to date; so they are not deleted.
        table=update("data/arena/cells.csv"),
        beside=[
            update("data/arena/errors.csv"),
            update("data/arena/budgets.csv"),
            update("data/arena/fingerprints.csv"),
        ],
        provenance=update("data/arena/provenance.yaml"),
    log:
        "results/logs/data/arena.log",
    threads: 2
    resources:
        mem_mb=each_attempt(2000),
        runtime=each_attempt(120),
    shell:
        "python -m bestarm.arena --out {output.table} --threads {threads} 2> {log}"


rule certified_errors:
    """Play again: errors of Certified (data/certified-errors)."""
    output:
        table="data/certified-errors/errors.csv",
        provenance="data/certified-errors/provenance.yaml",
    log:
        "results/logs/data/certified-errors.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.lagex.certified.errors --out {output.table} --threads {threads} 2> {log}"


rule certified_directed:
    """Play again: Certified with directed sums (data/certified-directed)."""
    output:
        table="data/certified-directed/runs.csv",
        provenance="data/certified-directed/provenance.yaml",
    log:
        "results/logs/data/certified-directed.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.lagex.certified.directed_runs --out {output.table} --threads {threads} 2> {log}"


rule certified_times:
    """Play again: stopping times of Certified (data/certified-times)."""
    output:
        table="data/certified-times/times.csv",
        provenance="data/certified-times/provenance.yaml",
    log:
        "results/logs/data/certified-times.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.lagex.certified.times --out {output.table} --threads {threads} 2> {log}"


rule delayed_scales:
    """Play again: errors if scales of delayed feedback are wrong."""
    output:
        table="data/delayed-scales/errors.csv",
        provenance="data/delayed-scales/provenance.yaml",
    log:
        "results/logs/data/delayed-scales.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.delayed.scales --out {output.table} --threads {threads} 2> {log}"


rule unknown_sigma:
    """Play again: BAICS with an unknown standard deviation."""
    output:
        table="data/unknown-sigma/times.csv",
        provenance="data/unknown-sigma/provenance.yaml",
    log:
        "results/logs/data/unknown-sigma.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.baics.unknown_sigma --out {output.table} --threads {threads} 2> {log}"


rule rates:
    """Play again: BAICS on rates, by bets and with the sigma of each rate."""
    output:
        table="data/rates/times.csv",
        provenance="data/rates/provenance.yaml",
    log:
        "results/logs/data/rates.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.baics.rates --out {output.table} --threads {threads} 2> {log}"


rule standard:
    """Play again: stopping rules for the best arm, ours and the literature's, on one sample."""
    output:
        table="data/standard/times.csv",
        provenance="data/standard/provenance.yaml",
    log:
        "results/logs/data/standard.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.bai.standard --out {output.table} --threads {threads} 2> {log}"


rule self_normalised:
    """Play again: linear bandits with the self-normalised rule, and with the published ones."""
    output:
        table="data/self-normalised/times.csv",
        provenance="data/self-normalised/provenance.yaml",
    log:
        "results/logs/data/self-normalised.log",
    threads: 2
    resources:
        mem_mb=each_attempt(1000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.linear.self_normalised_times --out {output.table} --threads {threads}"
        " 2> {log}"


rule battery:
    """Simulate the battery policies again (data/battery; needs PyBaMM)."""
    output:
        table="data/battery/policies.csv",
        provenance="data/battery/provenance.yaml",
    log:
        "results/logs/data/battery.log",
    threads: 2
    resources:
        mem_mb=each_attempt(3000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.delayed.data.battery --out {output.table} --threads {threads} 2> {log}"


rule mip:
    """Solve the mixed-integer programs again (data/mip; needs SCIP)."""
    output:
        table="data/mip/traces.parquet",
        provenance="data/mip/provenance.yaml",
    log:
        "results/logs/data/mip.log",
    threads: 2
    resources:
        mem_mb=each_attempt(2000),
        runtime=each_attempt(60),
    shell:
        "python -m bestarm.delayed.data.cuts --out {output.table} --threads {threads} 2> {log}"


rule program_runs:
    """Run the released programs of LAGEX again (data/lagex-runs; hours)."""
    output:
        table="data/lagex-runs/runs.parquet",
        provenance="data/lagex-runs/provenance.yaml",
    log:
        "results/logs/data/program_runs.log",
    threads: 2
    resources:
        mem_mb=each_attempt(2000),
        runtime=each_attempt(600),
    shell:
        "python -m bestarm.lagex.released.runs --out {output.table} --threads {threads} 2> {log}"
