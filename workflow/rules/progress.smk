# What a person sees of a run while it goes on, besides Snakemake's own lines: finished runs, time
# left, the best so far. `--quiet` leaves it out; `python -m olmix progress` tells it elsewhere.


onstart:
    watch_training()


onsuccess:
    end_watch()


onerror:
    end_watch()
