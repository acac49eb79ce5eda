"""All text is read once and counted, the same in one process as in several."""

from pathlib import Path

from olmix.own_text import batches
from olmix.own_text.naming import domain_files, domains_of_folder
from olmix.own_text.survey import CANDIDATES, Candidate, DomainSurvey, survey_domains


def files_of(folder: Path) -> dict[str, list[Path]]:
    return {name: domain_files(place) for name, place in domains_of_folder(folder).items()}


def test_documents_bytes_and_oddities_are_counted(folder: Path):
    place = folder / "english"
    (place / "empty.txt").touch()
    (place / "picture.png").write_bytes(b"\x89PNG\0\0")
    (place / "latin.txt").write_bytes("Größe und Maß\n".encode("latin-1"))
    (place / "gone.txt").symlink_to("nowhere")
    found = dict(survey_domains(files_of(folder)))
    english = found["english"]
    texts = [path.read_text() for path in sorted(place.glob("0*.txt"))]
    assert english.files == 64 and english.documents == 61
    assert english.bytes == sum(map(len, texts)) + len("Größe und Maß\n".encode())
    assert english.skipped == {"empty": 1, "binary": 1, "unreadable": 1}
    assert english.recoded_files == 1
    assert str(place / "picture.png") in english.examples["binary"][0]
    assert found["code"].skipped == {}


def test_several_processes_find_what_one_does(folder: Path, monkeypatch):
    one = dict(survey_domains(files_of(folder)))
    monkeypatch.setattr(batches, "BATCH_BYTES", 2**16)
    seen: list[tuple[int, int]] = []
    several = survey_domains(
        files_of(folder), processes=2, on_progress=lambda done, total: seen.append((done, total))
    )
    assert dict(several) == one
    assert len(seen) > 3 and seen[-1][0] == seen[-1][1]


def test_candidates_are_the_smallest_prints_and_different_documents():
    survey = DomainSurvey()
    entries = [Candidate(number * 7919 % 1009, f"{number}") for number in range(1009)]
    for entry in entries:
        survey._keep([entry, entry])
    assert [entry.print for entry in survey.candidates] == list(range(CANDIDATES))


def test_a_survey_survives_json(folder: Path):
    for survey in dict(survey_domains(files_of(folder))).values():
        assert DomainSurvey.from_dict(survey.to_dict()) == survey
