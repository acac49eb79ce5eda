# One analysis per question: tidy data, a summary in numbers, and where they came from. Each folder of
# scripts/olmix/questions/ with a plan.py is a rule here, named after it.

for question in QUESTIONS:

    rule:
        name:
            question
        input:
            unpack(partial(question_input, question)),
        output:
            # The folder, and each table in it: both can be asked for.
            answer=directory(f"results/{question}"),
            tables=[
                f"results/{question}/{table}.csv"
                for table in QUESTIONS[question].tables
                if not lacking(table, SCALE)
            ],
        log:
            f"{RESULTS}/logs/{question}.log",
        benchmark:
            f"{RESULTS}/benchmarks/{question}.tsv"
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            question=question,
            scale=SCALE.name,
            settings=settings_of(question, SCALE),
            tables=PLAN.read_swarms(question),
            planned=JOBS.question(question).planned,
            method=JOBS.method,
        message:
            QUESTIONS[question].doing
        script:
            "../../scripts/answer_question.py"
