"""Answer RQ6: where do we enforce repetition constraints, and what do they do?"""

from olmix.job import job_log
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.rq6 import answer

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        data = QuestionData.from_job(snakemake)
        answer(data, Answer(snakemake.output.answer, "rq6", data))
