"""Every figure and table of the paper can be asked for by its own path."""

import pytest

# In the paper's order.
FIGURES = (
    "proxy_size", "swarm_size", "swarm_size_target", "swarm_distribution", "regression_models",
    "regression_models_sources", "fit_by_domains", "granularity_proxy", "repetition_factor",
    "repetition_factor_all", "solvers", "solvers_sources", "main_results", "checkpoints",
    "proposed_mixes", "main_results_6t", "low_budget", "operators", "reuse_gap", "update_shift",
    "reused_vs_optimal", "partial_reuse_coupling", "kappa_reduction",
)  # fmt: skip
TABLES = (
    "tables/domain_updates", "tables/domain_sizes", "tables/eval_suite",
    "tables/model_architectures", "tables/design_choices", "tables/cost_full_recomputation",
    "tables/cost_swarm_reuse", "tables/cost_full_reuse", "tables/cost_partial_reuse",
    "rq3/dirichlet_priors", "rq4/bimix_autoscale_solvers", "rq5/granularity",
    "rq6/repetition_constraints", "updates/full_domain_mixtures",
)  # fmt: skip


@pytest.mark.slow
def test_all_of_them_are_targets(module_clone):
    drawn = [f"figures/{name}.pdf" for name in FIGURES]
    written = [f"results/{name}.csv" for name in TABLES]
    jobs = module_clone.planned(*drawn, *written)
    assert jobs["draw_figure"] == len(FIGURES) == 23
    assert jobs["make_tables"] == 1


@pytest.mark.slow
def test_a_table_is_made_by_its_path_and_then_its_folder_is_there(module_clone):
    done = module_clone.snakemake("results/tables/cost_full_reuse.csv", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (module_clone.folder / "results/tables/cost_full_reuse.csv").is_file()
    assert module_clone.planned("results/tables/", "results/tables/eval_suite.csv") == {}
