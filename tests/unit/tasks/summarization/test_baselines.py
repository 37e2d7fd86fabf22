"""Baselines that copy sentences: what they choose, and the run folder they leave."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.languages.words import folded_words
from heron.tasks.summarization.baselines import rank_sentences, textrank
from small_runs import TINY, heron, in_folder
from tiers import quick

SENTENCES = [
    "The strike began in May.",
    "It rained.",
    "The workers of the port began the strike over pay.",
    "The strike over pay ended when the port raised the pay of the workers.",
]


def test_a_sentence_like_all_others_comes_first_and_one_like_none_last():
    rank_S = rank_sentences(SENTENCES)
    assert rank_S.argmin() == 1
    assert rank_S.sum() == pytest.approx(1)
    assert textrank(SENTENCES, 3) == [0, 2, 3]
    assert textrank(SENTENCES, 9) == [0, 1, 2, 3]
    assert textrank([], 3) == []


@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=6), min_size=2, max_size=7)
)
def test_ranks_are_those_of_networkx(drawn):
    sentences = [" ".join(words) for words in drawn]
    vectorizer = TfidfVectorizer(analyzer=folded_words, norm=None, smooth_idf=True)
    # scikit-learn adds 1 to every idf; that is taken off again.
    counts_SV = vectorizer.fit_transform(sentences).toarray() / vectorizer.idf_
    similar_SS = cosine_similarity(counts_SV * (vectorizer.idf_ - 1))
    np.fill_diagonal(similar_SS, 0)
    similar_SS[similar_SS < 1e-12] = 0
    graph = networkx.from_numpy_array(similar_SS)
    theirs = networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=10_000)
    np.testing.assert_allclose(rank_sentences(sentences), list(theirs.values()), atol=1e-6)


@pytest.mark.parametrize("name", quick(["textrank", "lead", "oracle"]))
def test_a_baseline_leaves_the_run_folder_of_any_system(name, tmp_path, capsys, monkeypatch):
    words = (*TINY, *in_folder(tmp_path), "data=chronicle_summaries", f"baseline={name}")
    small = ("data.generator.size=100", "run.job=base")
    assert heron("train", *words, *small) == 0
    run = RunFolder(tmp_path / "runs" / "chronicle_summaries-summarization" / "base")
    scores = read_json(run.scores)["test"]
    same = {"lead": "lead3", "oracle": "oracle"}.get(name)
    if same:
        for measure in ("rouge1", "rouge2", "rougeL"):
            assert scores[measure] == pytest.approx(scores[f"{same}_{measure}"])
    row = read_table(run.predictions("test")).rows[0]
    assert row["prediction"].split(". ")[0] in row["text"]
    assert scores["novel_1"] == 0
    capsys.readouterr()
    code = heron("predict", f"run={run.path}", f"text={row['text']}")
    found = capsys.readouterr()
    if name == "oracle":
        assert code != 0
        assert "baseline=oracle chooses sentences by it" in found.err
    else:
        assert (code, found.out.strip()) == (0, row["prediction"])
