import numpy as np

from olmix.regressors.autoscale import AutoScale


def mixes(runs, domains, seed, concentration=1.0):
    return np.random.default_rng(seed).dirichlet(np.full(domains, concentration), size=runs)


def autoscale_law(X, constant, share, exponent, tokens):
    """c_i + Σ_j (R(A_ij + p_j))^(−α_ij), one element at a time."""
    return np.array(
        [
            [
                c + sum((tokens * (a + p)) ** -e for a, p, e in zip(A, x, E, strict=True))
                for c, A, E in zip(constant, share, exponent, strict=True)
            ]
            for x in X
        ]
    )


def test_autoscale_predictions_on_held_out_mixes():
    rng = np.random.default_rng(5)
    tokens = 3e9
    share, exponent = rng.uniform(0.01, 0.2, (3, 4)), rng.uniform(0.04, 0.12, (3, 4))
    constant = rng.uniform(0.2, 0.6, 3)
    X, held_out = mixes(80, 4, 6), mixes(100, 4, 7)
    law = autoscale_law(X, constant, share, exponent, tokens)
    model = AutoScale(tokens=tokens, ridge=1e-9, max_iterations=500).fit(X, law)
    np.testing.assert_allclose(
        model.predict(held_out),
        autoscale_law(held_out, constant, share, exponent, tokens),
        rtol=2e-3,
    )


def test_autoscale_predicts_its_formula_within_its_bounds():
    rng = np.random.default_rng(8)
    X = mixes(20, 3, 9, concentration=0.3)
    model = AutoScale(tokens=1e8).fit(X, 1 + rng.random((20, 2)))
    assert ((model.share_ > 0) & (model.share_ <= 1)).all()
    assert (model.exponent_ >= 0).all()
    assert (model.constant_ >= 0).all()
    probes = np.vstack([np.eye(3), X])
    np.testing.assert_allclose(
        model.predict(probes),
        autoscale_law(probes, model.constant_, model.share_, model.exponent_, 1e8),
        rtol=1e-12,
    )
