"""The explorer: a page that solves for the mix again as its reader moves k, R, λ and the rest."""
