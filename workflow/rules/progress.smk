# Around the jobs: before them, what cannot be trained here is refused. While they go on, a person sees
# besides Snakemake's own lines the finished runs, the time left and the best so far; `--quiet` leaves
# it out; `python -m olmix progress` tells it elsewhere.


onstart:
    refuse_missing_nodes()
    if "public" in SCALE["data"]:
        tell_data_plan()
    watch_training()


onsuccess:
    end_watch()


onerror:
    end_watch()
