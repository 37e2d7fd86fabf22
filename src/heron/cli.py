"""`heron <command>`: finds the command and hands over; imports nothing heavy before it must."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from heron import __version__
from heron.base.errors import ConfigError, HeronError, nearest, os_error_text
from heron.base.secrets import redact
from heron.base.signals import exit_code, interruptible, terminable

# oneDNN keeps its last 1,024 kernels, each with its memory, and batches of texts have ever new
# shapes: with bf16, a training of 12 layers grew beyond 7 GB, with this limit to 4 or 5 GB.
_KERNELS_KEPT = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")


class Command(NamedTuple):
    """One sub-command: the module whose `run(arguments)` does it, and what its help says."""

    module: str
    summary: str
    usage: str


COMMANDS = {
    "train": Command(
        "heron.commands.train",
        "train, score and predict; with -m a whole sweep",
        """\
heron train [key=value ...] [-m] [--cfg job]

Every key of the configuration can be overridden; `heron train --cfg job` prints them all.

  heron train                                        the built-in corpus, a small encoder
  heron train experiment=trc/ess seed=1 trainer.max_epochs=3
  heron train -m head=ess,emp,seq_cls seed=0,1       six runs and a table
  heron train -m experiment=ronli/grid run.n_jobs=2  two jobs side by side
  heron train experiment=trc/ess trainer=ddp         two devices: every batch is divided
  heron train experiment=trc/window encoder=onlplab/alephbert-base paths.data=DIR
  heron train -m sweeper=random sweeper.trials=20 'optim.lr=tag(log,interval(1e-5,1e-3))'
  heron train -m sweeper=optuna sweeper.pruner=median head=ess,emp 'head.dropout=interval(0,0.5)'
  heron train -m launcher=slurm launcher.partition=gpu launcher.workers=8 seed=range(0,40)
  heron train -m launcher=ray launcher.address=auto launcher.workers=4 seed=range(0,40)
  heron train data=chronicle_nli head=siamese_cls encoder.freeze=all
  heron train experiment=lchaim/sequential encoder=DIR paths.data=DIR      in stages
  heron train -m experiment=demo curriculum=none,cart_clpp,competence       curricula, equal budgets
  heron train -m data=ronli baseline=cbow_svm baseline.C=0.1,1,10
  heron train --cfg job experiment=trc/ess           print the composed configuration
  heron train --config-dir DIR data=mine             with YAML in DIR, a folder laid out as conf/
  heron train run.from=runs/trc-ess/seed=0-1a2b3c4d  that run again, from its config.yaml

The same command again goes on where it was stopped, and skips what is done; run.retry=failed tries
again what failed. Jobs of a sweep have processes of their own (run.isolate=false: one for all), and
print to log.txt in their folders, too; `heron sweep` shows how far they are. A sweep is a grid, or
(sweeper=random, optuna) draws from a space of choices, ranges and intervals; its jobs run here, or
(launcher=slurm, ray) in workers; launcher.wait=false leaves those to SLURM.""",
    ),
    "options": Command(
        "heron.commands.options",
        "list heads, encoders, experiments; and every key with its meaning and range",
        """\
heron options [GROUP | KEY]

  heron options                                      all groups with their options, parts with keys
  heron options head                                 what each head is, and the keys of a head
  heron options experiment                           every experiment in one line
  heron options optim.lr                             one key: its range, default and meaning
  heron options data.columns                         the keys of a part""",
    ),
    "predict": Command(
        "heron.commands.predict",
        "label new rows with a trained run",
        """\
heron predict run=DIR input=FILE [out=FILE] [key=value ...]

  heron predict run=runs/trc-ess/seed=0-1a2b3c4d input=rows.csv
  heron predict run=DIR input=rows.jsonl out=labels.parquet
  heron predict run=DIR text="Plouă." text_pair="E senin."    one text or pair, printed
  heron predict run=DIR context="..." question="..."          answers, best first, with their places
  heron predict run=DIR text="..."                            a summary, for runs that write them
  heron predict run=DIR,DIR2,DIR3 input=rows.csv              the mean of several runs' logits
  heron predict run=DIR input=rows.csv task.max_answer_tokens=20     also: encoder.stride=
  heron predict run=DIR input=rows.csv batching.tokens=1024   smaller batches take less memory
  heron predict run=DIR input=rows.csv data.columns.text=body        columns of other names

FILE is CSV, JSONL or Parquet with the text columns of the run's data set, in their form; it is
predicted 10,000 rows at a time and may be of any length (JSON is read at once). Rows that
cannot be used are reported by line; all others are predicted: guid, label, one probability per
class; or guid, answer, its place in the text in characters, and its probability.""",
    ),
    "evaluate": Command(
        "heron.commands.evaluate",
        "score a trained run on a split or on another file",
        """\
heron evaluate run=DIR [split=test] [key=value ...]

  heron evaluate run=DIR                             the run's own test split
  heron evaluate run=DIR split=validation
  heron evaluate run=DIR input=labelled.csv
  heron evaluate run=DIR input=labelled.csv data.columns.label=gold data.unlabelled=drop
                                                     its columns, its rows without a label
  heron evaluate run=DIR,DIR2,DIR3                   the mean of several runs' logits
  heron evaluate run=DIR data=FOLDER                 data sets have moved since training
  heron evaluate run=DIR bertscore=ENCODER bertscore_layer=9      summaries; see heron score
  heron evaluate run=DIR split=validation task.max_answer_tokens=10,20,30
                                                     answers no longer than that, one line each
  heron evaluate run=DIR encoder.stride=64           windows that share fewer tokens

Several values are scored with the model opened once. A threshold for "no answer" stays the one of
training. The run's own scores are never written over; out=FILE.json takes these.""",
    ),
    "score": Command(
        "heron.commands.score",
        "score any system's predictions against gold labels",
        """\
heron score task=relation|nli gold=FILE predictions=FILE [data=NAME | labels=A,B,...] [out=FILE]
heron score task=qa|summarization gold=FILE predictions=FILE [data=NAME] [language=he] [out=FILE]

  heron score task=relation gold=test.csv predictions=mine.jsonl
  heron score task=nli data=lchaim gold=test.jsonl predictions=mine.csv     `e` is entailment
  heron score task=relation labels=BEFORE,AFTER,EQUAL,VAGUE gold=... predictions=...  0 is BEFORE
  heron score task=relation gold=test.csv predictions=mine.parquet out=scores.json
  heron score task=qa gold=dev.json predictions=mine.json      SQuAD's JSON, {id: answer}
  heron score task=summarization gold=test.csv predictions=mine.csv     article,summary; prediction
  heron score task=summarization gold=... predictions=... bertscore=ENCODER bertscore_layer=9

Files are CSV, JSON(L) or Parquet, perhaps .gz; rows are joined on `guid`, by position if neither
has one or with join=position. Whole numbers are positions of labels only with labels=, or as the
data set says. Probabilities (`p/<label>`) are scored for calibration. Also: relaxed=,
group_column=, guid_column=, gold_column=, prediction_column=. BERTScore (an encoder, hub id or
folder; the layer has no default) is printed with a signature that says how it was computed; also:
bertscore_idf=, bertscore_long=skip|cut|windows, bertscore_precision=, bertscore_baseline=. Gold
files: data.columns.*=, data.unlabelled=drop and the like (of labels with data=NAME).""",
    ),
    "sweep": Command(
        "heron.commands.sweep",
        "how far a sweep is: jobs by state, failures, time left",
        """\
heron sweep DIR [--watch] [every=5]

  heron sweep runs/trc-table4                        a table; leaves with 1 if any job failed
  heron sweep runs/trc-table4 --watch                again every five seconds, until all is done

It reads what the jobs have written, so it works beside a sweep, after it, and from elsewhere.""",
    ),
    "report": Command(
        "heron.commands.report",
        "tables, figures and an HTML page of a run or a sweep",
        """\
heron report DIR [against=GROUP] [out=DIR] [published=FILE]

  heron report runs/chronicle-relation               all runs of a sweep, side by side
  heron report runs/trc-table4                       the paper's Tables 4 and 5 beside ours
  heron report runs/trc-table4 against=head=seq_cls  each system tested against one of them

Curricula are tested against the runs without one, and what each has spent is shown, unasked.""",
    ),
    "dashboard": Command(
        "heron.commands.dashboard",
        "one page to explore a sweep: runs, settings, curves, the best, the spread",
        """\
heron dashboard DIR [out=DIR] [wandb=true] [entity=NAME]

  heron dashboard runs/ronli-grid                    writes runs/ronli-grid/dashboard.html
  heron dashboard runs/ronli-grid out=pages
  heron dashboard runs/ronli-grid wandb=true         a W&B workspace too; needs an account

One file that works offline: a table to sort and filter, parallel coordinates of the settings and a
score, learning curves, the best setting by validation with the command that trains it again, the
spread over seeds, what was spent. Unfinished and failed runs are shown as such.""",
    ),
    "analyze": Command(
        "heron.commands.analyze",
        "a run's scores slice by slice, or a data set's statistics",
        """\
heron analyze run=DIR [split=test] [by=reasoning,ttr,length,overlap]
heron analyze data=NAME [data.<key>=value ...] [by=COLUMN] [sheet=NEW.csv sample=50 seed=0]
heron analyze sheet=FILLED.csv

  heron analyze run=runs/lchaim-mlp3/seed=0-1a2b     all that its data can be sliced by
  heron analyze run=DIR by=reasoning types=FILE      FILE holds guid and types
  heron analyze run=DIR by=genre data.columns.side=[genre]
  heron analyze data=ronli words=whitespace          rows, lengths and overlap, as in Table 2
  heron analyze data=ronli_auto words=whitespace     its validation file, as Table 2 averages it

Question answering:
  heron analyze run=DIR                              scores by question_word, answer_length,
                                                     question_length, overlap_class; answers.html
                                                     shows each answer beside the gold one
  heron analyze run=DIR by=overlap_class split=validation
  heron analyze data=parashoot                       sizes, question words, lengths
  heron analyze data=parashoot sheet=judge.csv       50 gold answers for people to judge
  heron analyze sheet=judge.csv                      what they judged, and the ceiling of F1

Summaries:
  heron analyze run=DIR                              ROUGE by article_length, summary_length,
                                                     compression, novelty; statistics beside gold;
                                                     summaries.html shows all of them
  heron analyze run=DIR by=summaries beside=DIR2,mine.csv    several systems on one page
  heron analyze data=hesum                           lengths, morphology, novel n-grams,
                                                     compression, redundancy; the paper's beside
  heron analyze data=hesum_subset by=summary_kind morphology=simplemma-prefixes
  heron analyze data=hesum bertscore=ENCODER bertscore_layer=9    summaries beside their articles
  heron analyze data=hesum texts=texts.jsonl         every text once, for another tool to analyse;
  heron analyze data=hesum morphology=conllu:FILE    its analyses, as CoNLL-U (a folder, too)

No model is needed: stored predictions are joined with the data. Also: bins=, words=, paths.data=,
out=, published=FILE, morphology=simplemma|surface|stanza|simplemma-prefixes|conllu:PATH.""",
    ),
    "map": Command(
        "heron.commands.map",
        "draw a run's data map: which examples are easy, ambiguous, hard",
        """\
heron map run=DIR [with=DIR] [colour=correctness|label|COLUMN] [columns=FILE] [key=value ...]

  heron map run=runs/chronicle-relation/seed=0-1a2b  figures, a page to explore, a table of guids
  heron map run=DIR with=OTHER                       where each example lies in two runs
  heron map run=DIR columns=known.csv colour=flipped colour by columns of your own, by guid
  heron map run=DIR burn_out=2 group=tercile_partition

Needs dynamics (dynamics.enabled=true). Writes map.png, map.pdf, map.html (one file, works offline;
texts=false leaves the texts out), map.csv and map.parquet to DIR/map. Also: out=,
format=png,pdf,jsonl (the records as other cartography tools read them; run=FOLDER reads theirs),
include_ci=, megabytes=, paths.data=, paths.cache=.""",
    ),
    "noise": Command(
        "heron.commands.noise",
        "the training examples whose labels look wrong, most suspicious first",
        """\
heron noise run=DIR [score=confidence] [top=100] [burn_out=K] [out=DIR]

  heron noise run=runs/chronicle-relation/tiny       suspects.csv, for people to look at
  heron noise run=DIR score=aum top=500

Where the data set knows the right labels (data.columns.truth), every score is graded: AUROC and
precision among the most suspicious, beside length and chance. Also: paths.data=, paths.cache=.""",
    ),
    "compare": Command(
        "heron.commands.compare",
        "test whether systems differ, from stored predictions",
        """\
heron compare A [B ...] [against=A] [split=test] [metric=macro_f1|f1|rouge1] [out=DIR]

  heron compare runs/trc-table4 against=head=seq_cls       all settings of a sweep
  heron compare runs/trc-table4/head=ess runs/trc-table4/head=emp     names that begin so
  heron compare runs/trc-ess mine.csv metric=micro_f1      any system's file beside runs
  heron compare a.parquet b.jsonl groups=documents.csv     whole documents are drawn
  heron compare runs/parashoot metric=he_f1                answers: any score of the task
  heron compare a.csv b.csv task=qa language=he            answers of any systems
  heron compare runs/hesum other.csv metric=rouge2         summaries, beside copied sentences

A, B are run folders, sweeps, globs, or files with guid, gold, prediction. Runs that differ by seed
only are one system. Prints mean and sd over seeds, the run that is best on validation, the
difference with its interval, paired tests, Holm's correction. Also: draws=, seed=, alpha=,
resample=row|group, groups=, rows=shared, task=, labels=, relaxed=, language=.""",
    ),
    "judge": Command(
        "heron.commands.judge",
        "people judge summaries: blind forms, agreement, correlation with metrics",
        """\
heron judge sample systems=RUN_OR_FILE,... out=DIR [gold=true] [articles=62] [raters=7] [overlap=K]
heron judge collect forms=FILES key=DIR/key.json [out=DIR] [metrics=FILE]

  heron judge sample systems=runs/hesum/base,gpt4.jsonl gold=true out=study
  heron judge sample systems=a:1.csv,b:2.csv language=ro articles=30 raters=5 overlap=3 out=study
  heron judge sample systems=runs/hesum/base criteria=fluency,faithfulness errors=none out=study
  heron judge sample systems=runs/hesum/base criteria=mine.csv wording=en out=study
  heron judge collect forms=returned key=study/key.json
  heron judge collect forms=returned/*.json,late.csv key=study/key.json metrics=bertscore.csv

`sample` draws articles that all systems have summarized (files: guid, prediction, and in one of
them text) and writes key.json, which says who wrote what, and forms: for each rater an HTML page
that works offline and a CSV file. Every article goes to K raters (default all). Criteria:
coherence, completeness, faithfulness, fluency, or a table with name, description, lowest, highest;
errors= alike. `collect` writes ratings.csv, report.html, report.md and every table as CSV: means,
Krippendorff's alpha, correlations with the systems' columns of numbers, errors. It leaves with 1
where answers cannot be used, and names them. Also: language=, wording=he, split=, seed=,
and bertscore=ENCODER bertscore_layer=9, as for heron score, to be correlated as well.""",
    ),
    "data": Command(
        "heron.commands.data",
        "list data sets: present, missing, licence, how to get them",
        """\
heron data [NAME] [data.key=value ...] [paths.data=DIR]

  heron data                                         every data set, one line each
  heron data trc                                     one in full: files, hashes, licence, citation
  heron data trc fetch=true                          download what is missing, verified
  heron data own_nli data.files.train.path=FILE      files of your own, as a run would read them""",
    ),
    "audit": Command(
        "heron.commands.audit",
        "look for leakage and shortcuts in a data set before training on it",
        """\
heron audit data=NAME [data.key=value ...] [paths.data=DIR] [out=DIR] [near=0.8] [strict=true]

  heron audit data=ronli                             the split files that are there
  heron audit data=ronli data.files.test.path=FILE   name a file; data.verify=false takes any
  heron audit data=ronli data.normalize_case=capitalize
  heron audit data=trc strict=true                   leave with 1 if anything is serious

Exact and near duplicates inside and across splits, rules of one feature (casing, length, overlap,
words, punctuation), probes that see one text only, drift. Of articles with summaries: copies, and
summaries that are copied, short or too long, articles that were cut. Writes audit.html, audit.md
and findings.json to runs/audit/NAME; `heron train` then warns of what is serious.""",
    ),
    "demo": Command(
        "heron.commands.demo",
        "train on the built-in corpus offline and show the results",
        """\
heron demo [out=DIR]

  heron demo                                         under a minute on two cores, no network""",
    ),
}


# Commands that write into the run folder they read, which may belong to somebody else.
_INTO_RUNS = ("analyze", "dashboard", "map", "noise", "report")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0 done, 2 a user's mistake, 130 interrupted by Ctrl+C, 143 by SIGTERM.
    """
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has closed the pipe, such as `head`
        if arguments is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes what is left at its end
        return 0


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if arguments[0] in ("-V", "--version"):
        print(f"heron {__version__}")
        return 0
    name, rest = arguments[0], arguments[1:]
    os.environ.setdefault(*_KERNELS_KEPT)  # before torch is imported; workers inherit it
    try:
        if name not in COMMANDS:
            raise ConfigError(f"unknown command '{name}'.{nearest(name, COMMANDS)}")
        if "-h" in rest or "--help" in rest:
            print(f"{COMMANDS[name].summary}\n\nusage: {COMMANDS[name].usage}")
            return 0
        with terminable(), interruptible():
            return importlib.import_module(COMMANDS[name].module).run(rest) or 0
    except HeronError as error:
        print(f"heron {name}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise  # `main` ends quietly
    except OSError as error:
        refused = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        hint = "; out=DIR writes to another folder" if refused and name in _INTO_RUNS else ""
        print(f"heron {name}: {redact(os_error_text(error, rest))}{hint}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        then = "goes on from here" if name == "train" else "begins again"
        print(f"\nheron {name}: interrupted; the same command {then}", file=sys.stderr)
        return exit_code(error)


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            f"heron {__version__}: Hebrew, Romanian, NLU",
            "",
            "usage: heron <command> [key=value ...]",
            "",
            *lines,
            "",
            "Examples: heron demo",
            "          heron train experiment=trc/ess seed=1",
            "          heron <command> --help",
        ]
    )
