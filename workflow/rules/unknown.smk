# A name that no rule makes is answered with the nearest that there are.


rule unknown:
    input:
        lambda wildcards: refuse_unknown(wildcards.asked),
    output:
        "{asked}",
    wildcard_constraints:
        # A figure, a question, a file in a question's folder, a rule; none that there is.
        asked=rf"(?!({'|'.join(map(re.escape, KNOWN_NAMES))})/?$)"
        r"(figures/[^/]+|results/[^/]+/?|"
        rf"results/({'|'.join(ANSWERS)})/[^/]+|[a-z]\w*)",
