# Around the jobs: before them, what cannot be trained here is refused. While they go on, a person sees
# besides Snakemake's own lines the finished runs, the time left and the best so far, and at the end what
# was made and what is open; `--quiet` leaves it out; `python -m olmix progress` tells it elsewhere.


onstart:
    refuse_missing_nodes()
    refuse_long_jobs()
    if "public" in SCALE["data"]:
        tell_data_plan()
        refuse_lacking()
    note_start()
    watch_training()


onsuccess:
    end_watch()
    tell_end()


onerror:
    end_watch()
