# The engine `simulate`: a known law plus noise in place of training and evaluating. It writes the
# same tables as collect_swarm, for any swarm of the plan; everything after them is the same.


ruleorder: simulate_swarm > collect_swarm


rule simulate_swarm:
    input:
        data=rules.build_domains.output.data,
        mixes=rules.list_runs.input.mixes,
    output:
        ratios=f"{RESULTS}/collect_swarm/{{swarm}}/ratios.csv",
        metrics=f"{RESULTS}/collect_swarm/{{swarm}}/metrics.csv",
    log:
        f"{RESULTS}/logs/simulate_swarm/{{swarm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/simulate_swarm/{{swarm}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        # What lists the runs of a swarm for training says all there is to know about them.
        swarm=rules.list_runs.params.swarm,
        space=rules.list_runs.params.space,
        model=rules.list_runs.params.model,
        updates=rules.list_runs.params.updates,
        rerun_when=rules.list_runs.params.rerun_when,
    message:
        "Simulating {wildcards.swarm}: no model is trained"
    script:
        "../../scripts/simulate_swarm.py"
