import pytest

from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.updates.operators import (
    Add,
    DomainSplit,
    Partition,
    Remove,
    ReuseSplit,
    Revise,
    Update,
    full_reuse,
    infer_update,
    partial_reuse,
)

BASE = DomainSet.from_token_counts({"web:news": 600, "web:blogs": 300, "code": 100})
RUN = Mix(BASE.names, [0.5, 0.3, 0.2])
NO_CODE = Mix(BASE.names, [0.5, 0.5, 0.0])
WIKI = Domain.named("wiki", 50)
HALVES = (Domain.named("code:c", 75), Domain.named("code:go", 25))


@pytest.mark.parametrize(
    ("operator", "after", "split"),
    [
        (
            Add((WIKI,)),
            {"web:news": 600, "web:blogs": 300, "code": 100, "wiki": 50},
            DomainSplit(("web:news", "web:blogs", "code"), (), ("wiki",)),
        ),
        (
            Remove(("code",)),
            {"web:news": 600, "web:blogs": 300},
            DomainSplit(("web:news", "web:blogs"), ("code",), ()),
        ),
        (
            Partition("code", HALVES),
            {"web:news": 600, "web:blogs": 300, "code:c": 75, "code:go": 25},
            DomainSplit(("web:news", "web:blogs"), ("code",), ("code:c", "code:go")),
        ),
    ],
)
def test_operators_and_their_split(operator, after, split):
    assert operator.apply(BASE) == DomainSet.from_token_counts(after)
    assert operator.split(BASE) == split


def test_revise_changes_the_version_even_with_the_same_tokens():
    once = Revise("code").apply(BASE)
    assert once["code"] == Domain("code", "code", None, 100, version="2")
    assert Revise("code").split(BASE) == DomainSplit(
        ("web:news", "web:blogs"), ("code",), ("code",)
    )
    assert Revise("code", tokens=80).apply(once)["code"].tokens == 80
    assert Revise("code").apply(once)["code"].version == "3"
    named = Revise("code", version="2024-05").apply(BASE)
    assert Revise("code").apply(named)["code"].version == "2024-05+1"


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (Add((Domain.named("code", 5),)), "add: domain 'code' is already in the set"),
        (Remove(("books",)), "remove: domain 'books' is not in the set of 3"),
        (Remove(BASE.names), "no domain is left"),
        (Partition("books", HALVES), "partition: domain 'books' is not in the set"),
        (Partition("code", HALVES[:1]), "into 1 parts, expected 2 or more"),
        (
            Partition("code", (Domain.named("x", 70), Domain.named("y", 25))),
            "the 2 parts of 'code' hold 95 tokens, expected the 100 of the whole",
        ),
        (
            Partition("code", (Domain.named("web:news", 75), Domain.named("y", 25))),
            "part 'web:news' is already in the set",
        ),
        (Partition("code", (HALVES[0], Domain.named("code:c", 25))), "'code:c' appears more than"),
        (Revise("books"), "revise: domain 'books' is not in the set"),
        (Revise("code", tokens=0), "'code': tokens is 0"),
        (Revise("code", version="1"), "'code' already has version '1'"),
    ],
)
def test_operators_that_do_not_fit_are_refused(operator, message):
    with pytest.raises(OlmixError, match=message):
        operator.apply(BASE)


def test_old_runs_on_the_new_domains():
    assert Add((WIKI,)).represent(RUN, BASE).to_dict() == {**RUN.to_dict(), "wiki": 0.0}
    split = Partition("code", HALVES).represent(RUN, BASE).to_dict()
    assert split == pytest.approx(
        {"web:news": 0.5, "web:blogs": 0.3, "code:c": 0.15, "code:go": 0.05}, abs=1e-15
    )
    for operator in (Remove(("code",)), Revise("code")):
        assert operator.represent(RUN, BASE) is None
        carried = operator.represent(NO_CODE, BASE)
        assert carried.names == operator.apply(BASE).names
        assert carried["web:news"] == 0.5


def test_an_update_of_several_operators_is_their_composition():
    update = Update((Partition("code", HALVES), Add((WIKI,)), Remove(("code:go",))))
    after = update.apply(BASE)
    assert after.names == ("web:news", "web:blogs", "code:c", "wiki")
    assert update.split(BASE) == DomainSplit(
        ("web:news", "web:blogs"), ("code",), ("code:c", "wiki")
    )
    assert update.represent(RUN, BASE) is None  # its code was partly Go
    assert update.represent(NO_CODE, BASE) == NO_CODE.aligned(after.names)


def test_inferred_update():
    after = DomainSet.from_token_counts(
        {"web:news": 600, "web:blogs": 310, "code:c": 75, "code:go": 25, "wiki": 50}
    )
    update = infer_update(BASE, after, {"code": ["code:c", "code:go"]})
    assert update == Update((Partition("code", HALVES), Revise("web:blogs", 310), Add((WIKI,))))
    without = infer_update(BASE, after)
    assert without.split(BASE).affected == ("web:blogs", "code")
    assert Remove(("code",)) in without.operators
    newer = Revise("code").apply(BASE)
    assert infer_update(BASE, newer).apply(BASE) == newer


def test_inferred_update_refusals():
    with pytest.raises(OlmixError, match="the same, so there is nothing to update"):
        infer_update(BASE, BASE)
    with pytest.raises(OlmixError, match="'code' is still in the new set"):
        infer_update(BASE, Add((WIKI,)).apply(BASE), {"code": ["wiki"]})
    with pytest.raises(OlmixError, match="no domain 'code:x'"):
        infer_update(BASE, Remove(("code",)).apply(BASE), {"code": ["code:x", "code:y"]})


def test_full_reuse_is_one_virtual_domain_and_the_affected():
    split = full_reuse(BASE, Add((WIKI,)).apply(BASE))
    assert split == ReuseSplit({"existing": BASE.names}, ("wiki",))
    assert split.names == ("existing", "wiki")
    assert split.dimension == 2
    removed = full_reuse(BASE, Remove(("code",)).apply(BASE))
    assert removed == ReuseSplit({"existing": ("web:news", "web:blogs")}, ())
    assert removed.dimension == 0  # one virtual domain with weight 1


def test_partial_reuse_splits():
    after = Add((WIKI,)).apply(BASE)
    assert partial_reuse(BASE, after, recompute=["code"]) == ReuseSplit(
        {"existing": ("web:news", "web:blogs")}, ("code", "wiki")
    )
    within = partial_reuse(BASE, after, reuse_within=["web", "code", "wiki"])
    # A source of one domain has no ratios to freeze, and an added one none to reuse.
    assert within == ReuseSplit({"web": ("web:news", "web:blogs")}, ("code", "wiki"))
    revised = Revise("web:news").apply(BASE)
    assert partial_reuse(BASE, revised, reuse_within=["web"]).groups == {}
    assert partial_reuse(BASE, after, recompute=BASE.names) == ReuseSplit({}, after.names)


def test_partial_reuse_refuses_what_is_not_unaffected():
    after = Add((WIKI,)).apply(BASE)
    with pytest.raises(OlmixError, match=r"'wiki' .*the update already recomputes it"):
        partial_reuse(BASE, after, recompute=["wiki"])
    with pytest.raises(OlmixError, match=r"'books' .*no such domain"):
        partial_reuse(BASE, after, recompute=["books"])


@pytest.mark.parametrize(
    ("groups", "recomputed", "message"),
    [
        ({"v": ()}, ("a",), "'v' has no members"),
        ({"v": ("a", "b"), "w": ("b",)}, (), "'b' is in more than one place"),
        ({"v": ("a", "b")}, ("a",), "'a' is in more than one place"),
        ({"a": ("b", "c")}, ("a",), "'a' has the name of a domain"),
        ({"a": ("a", "b")}, (), "'a' has the name of a domain"),
    ],
)
def test_muddled_splits_are_refused(groups, recomputed, message):
    with pytest.raises(OlmixError, match=message):
        ReuseSplit(groups, recomputed)
