"""Compare whole mixing methods: BPB of what each proposes against the proxy runs it took."""

from olmix.job import job_log
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.methods import answer
from olmix.study.methods import MixingMethod

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        data = QuestionData.from_job(snakemake)
        methods = [MixingMethod(**choices) for choices in snakemake.params.methods]
        answer(data, Answer(snakemake.output.answer, "methods", data), methods)
