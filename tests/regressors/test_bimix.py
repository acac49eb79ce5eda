import numpy as np

from olmix.regressors.bimix import BiMix


def mixes(runs, domains, seed, concentration=1.0):
    return np.random.default_rng(seed).dirichlet(np.full(domains, concentration), size=runs)


def bimix_law(X, scale, exponent, floor=1e-3):
    """Σ_j A_ij·(p_j + floor)^(−α_ij), one element at a time."""
    return np.array(
        [
            [sum(a * (p + floor) ** -e for a, p, e in zip(A, x, E, strict=True)) for A, E in
             zip(scale, exponent, strict=True)]
            for x in X
        ]
    )  # fmt: skip


def test_bimix_predictions_on_held_out_mixes():
    rng = np.random.default_rng(0)
    scale, exponent = rng.uniform(0.05, 0.4, (3, 4)), rng.uniform(0.02, 0.3, (3, 4))
    X, held_out = mixes(80, 4, 1), mixes(100, 4, 2)
    model = BiMix(ridge=1e-9, max_iterations=500).fit(X, bimix_law(X, scale, exponent))
    np.testing.assert_allclose(
        model.predict(held_out), bimix_law(held_out, scale, exponent), rtol=2e-3
    )


def test_bimix_predicts_its_formula():
    rng = np.random.default_rng(3)
    X = mixes(20, 3, 4, concentration=0.3)
    model = BiMix().fit(X, 1 + rng.random((20, 2)))
    assert (model.scale_ > 0).all()
    assert (model.exponent_ >= 0).all()
    assert (model.exponent_ <= model.max_exponent).all()
    probes = np.vstack([np.eye(3), X])
    np.testing.assert_allclose(
        model.predict(probes), bimix_law(probes, model.scale_, model.exponent_), rtol=1e-12
    )
