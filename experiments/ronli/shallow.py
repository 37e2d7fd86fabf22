"""RoNLI's shallow systems: `cbow_svm` and `cbow_softmax`.

Classifiers are fitted by scikit-learn, then stored and applied as plain arrays, because its own
files are pickles, which can run code and depend on the version. A test checks that both give the
same decisions.

Shape suffixes: R rows, F features, C classes, K classes in the training rows, S support vectors,
P pairs of these classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from heron.base.errors import ConfigError, DataError
from heron.base.files import atomic_open, read_json, write_json
from heron.data import TASKS
from heron.data.examples import Example
from heron.tasks.class_baselines import WEIGHTS, ClassBaseline, training_rows
from heron.tasks.config import Config

from .rules import CbowConfig, other_vectors
from .word_vectors import CbowFeatures, VectorSource, kept_vectors, vector_source

VECTORS = "vectors.json"
_CHUNK = 2048  # rows per kernel matrix, so that it stays small


@dataclass(frozen=True, slots=True)
class LinearClassifier:
    """One weight vector per class, float64; a class without training rows has bias -inf."""

    weights_CF: np.ndarray
    bias_C: np.ndarray

    def scores(self, features_RF: np.ndarray) -> np.ndarray:
        """Return scores_RC: decision values of support vectors, or logits."""
        scores_RC: np.ndarray = features_RF @ self.weights_CF.T + self.bias_C
        return scores_RC


@dataclass(frozen=True, slots=True)
class KernelClassifier:
    """Support vectors with an RBF kernel, one machine per pair of classes.

    Args:
        supports_SF: the support vectors, float64.
        weights_PS: their coefficients in each machine, positive for the pair's first class.
        bias_P: float64.
        gamma: of the kernel, exp(-gamma |x - s|^2); an array of one number.
        classes_K: ids of the classes in the training rows, ascending.
        total: C; an array of one number.
    """

    supports_SF: np.ndarray
    weights_PS: np.ndarray
    bias_P: np.ndarray
    gamma: np.ndarray
    classes_K: np.ndarray
    total: np.ndarray

    def scores(self, features_RF: np.ndarray) -> np.ndarray:
        """Return scores_RC: votes of the machines, ties broken by their summed decision values."""
        from sklearn.metrics.pairwise import rbf_kernel  # start-up time

        scores_RC = np.full((len(features_RF), int(self.total[0])), -np.inf)
        for start in range(0, len(features_RF), _CHUNK):
            chunk_RF = np.asarray(features_RF[start : start + _CHUNK], dtype=np.float64)
            kernel_RS = rbf_kernel(chunk_RF, self.supports_SF, gamma=float(self.gamma[0]))
            decisions_RP = kernel_RS @ self.weights_PS.T + self.bias_P
            scores_RC[start : start + _CHUNK, self.classes_K] = self._vote(decisions_RP)
        return scores_RC

    def _vote(self, decisions_RP: np.ndarray) -> np.ndarray:
        """Count votes as scikit-learn's `decision_function_shape="ovr"` does."""
        votes_RK = np.zeros((len(decisions_RP), len(self.classes_K)))
        sums_RK = np.zeros_like(votes_RK)
        pairs = combinations(range(len(self.classes_K)), 2)
        for pair, (first, second) in enumerate(pairs):
            decision_R = decisions_RP[:, pair]
            votes_RK[:, first] += decision_R >= 0
            votes_RK[:, second] += decision_R < 0
            sums_RK[:, first] += decision_R
            sums_RK[:, second] -= decision_R
        # Less than a third in absolute value: breaks ties and never changes votes.
        return votes_RK + sums_RK / (3 * (np.abs(sums_RK) + 1))


Classifier = LinearClassifier | KernelClassifier
_KINDS: dict[str, type[Any]] = {"linear": LinearClassifier, "kernel": KernelClassifier}


@dataclass(frozen=True, slots=True)
class Scaling:
    """Scaling of each feature: subtract `shift_F`, then multiply by `factor_F`."""

    shift_F: np.ndarray
    factor_F: np.ndarray

    @classmethod
    def fit(cls, features_RF: np.ndarray, how: str) -> Scaling:
        """Fit on the train split; a constant feature is only shifted."""
        features_RF = np.asarray(features_RF, dtype=np.float64)
        width = features_RF.shape[1]
        if how == "none":
            return cls(np.zeros(width), np.ones(width))
        if how == "standard":
            shift_F = features_RF.mean(axis=0)
            range_F = features_RF.std(axis=0)
        else:
            shift_F = features_RF.min(axis=0)
            range_F = np.ptp(features_RF, axis=0)

        divisor_F = np.where(range_F == 0, 1, range_F)
        factor_F = 1 / divisor_F
        return cls(shift_F, factor_F)

    def __call__(self, features_RF: np.ndarray) -> np.ndarray:
        """Scale rows; returns float64."""
        return (features_RF - self.shift_F) * self.factor_F


def fit_svm(
    features_RF: np.ndarray, labels_R: np.ndarray, classes: int, settings: CbowConfig, seed: int
) -> tuple[Classifier, list[str]]:
    """Fit a linear (one machine per class, squared hinge) or RBF support vector machine.

    Args:
        features_RF: already scaled.
        labels_R: class ids; at least two different ones.
        classes: C.
        settings: kernel, C, tolerance, iterations, class weights.
        seed: of the linear solver's order of rows.

    Returns:
        The classifier, and scikit-learn's warnings.

    Source: RoNLI appendix B; scikit-learn's `LinearSVC`, as in the repository, and `SVC`.
    """
    from sklearn.svm import SVC, LinearSVC  # start-up time

    shared: Any = {
        "C": settings.C,
        "tol": settings.tol,
        "max_iter": settings.max_iter,
        "class_weight": _class_weight(settings),
        "random_state": seed,
    }
    if settings.kernel == "linear":
        machine = LinearSVC(**shared)
        caveats = _fit(machine, features_RF, labels_R)
        return _linear(machine, classes, signs=(-1, 1)), caveats
    machine = SVC(kernel="rbf", cache_size=500, **shared)
    caveats = _fit(machine, features_RF, labels_R)
    return _kernel(machine, classes), caveats


def fit_softmax(
    features_RF: np.ndarray, labels_R: np.ndarray, classes: int, settings: CbowConfig, seed: int
) -> tuple[Classifier, list[str]]:
    """Fit multinomial logistic regression with an l2 penalty; see `fit_svm`.

    Returns:
        The classifier, and what scikit-learn warned of.

    Source: RoNLI appendix B.
    """
    from sklearn.linear_model import LogisticRegression  # start-up time

    machine = LogisticRegression(
        C=settings.C,
        tol=settings.tol,
        max_iter=settings.max_iter,
        class_weight=_class_weight(settings),
        random_state=seed,
    )
    caveats = _fit(machine, features_RF, labels_R)
    return _linear(machine, classes, signs=(0, 1)), caveats


def save_classifier(path: Path, classifier: Classifier, scaling: Scaling) -> None:
    """Write the arrays of both as safetensors."""
    from safetensors.numpy import save  # start-up time

    arrays = {}
    for name, array in asdict(classifier).items():
        arrays[name] = np.ascontiguousarray(array)
    for name, array in asdict(scaling).items():
        arrays[f"scaling.{name}"] = np.ascontiguousarray(array)
    kind = "linear" if isinstance(classifier, LinearClassifier) else "kernel"
    with atomic_open(path, "wb") as file:
        file.write(save(arrays, metadata={"kind": kind}))


def load_classifier(path: Path) -> tuple[Classifier, Scaling]:
    """Read the file of `save_classifier`; raises a ConfigError for another file."""
    from safetensors import SafetensorError, safe_open  # start-up time

    try:
        with safe_open(path, framework="numpy") as file:
            kind = _KINDS[file.metadata()["kind"]]
            of_classifier = {}
            of_scaling = {}
            for name in file.keys():  # noqa: SIM118  (a file is no mapping)
                if name.startswith("scaling."):
                    of_scaling[name.removeprefix("scaling.")] = file.get_tensor(name)
                else:
                    of_classifier[name] = file.get_tensor(name)
        return kind(**of_classifier), Scaling(**of_scaling)
    except (OSError, SafetensorError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: holds no classifier of this version of heron") from error


def _class_weight(settings: CbowConfig) -> str | None:
    return None if settings.class_weight == "none" else settings.class_weight


def _fit(machine: Any, features_RF: np.ndarray, labels_R: np.ndarray) -> list[str]:
    """Fit; returns a warning if the optimizer did not converge."""
    from sklearn.exceptions import ConvergenceWarning  # start-up time

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        machine.fit(features_RF, labels_R)
    if any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
        return [
            f"{type(machine).__name__} was stopped after {machine.max_iter} iterations, before it "
            "converged: raise baseline.max_iter or baseline.tol, or set baseline.scale=standard"
        ]
    return []


def _linear(machine: Any, classes: int, signs: tuple[int, int]) -> LinearClassifier:
    """Get the weights of a linear model, which has a single vector for two classes."""
    weights_KF = machine.coef_
    bias_K = machine.intercept_
    if len(machine.classes_) == 2:
        weights_KF = np.outer(signs, weights_KF[0])
        bias_K = np.asarray(signs) * bias_K[0]
    weights_CF = np.zeros((classes, weights_KF.shape[1]))
    bias_C = np.full(classes, -np.inf)
    weights_CF[machine.classes_] = weights_KF
    bias_C[machine.classes_] = bias_K
    return LinearClassifier(weights_CF, bias_C)


def _kernel(machine: Any, classes: int) -> KernelClassifier:
    """Arrange libsvm's coefficients per pair of classes.

    A support vector of class i has K - 1 coefficients, one for each other class: in row j - 1 of
    `dual_coef_` against a later class j, in row j against an earlier one.
    """
    present = range(len(machine.classes_))
    ends = np.cumsum(machine.n_support_)
    owner_S = np.searchsorted(ends, np.arange(ends[-1]), side="right")
    rows = []
    for first, second in combinations(present, 2):
        of_first_S = np.where(owner_S == first, machine.dual_coef_[second - 1], 0)
        of_second_S = np.where(owner_S == second, machine.dual_coef_[first], 0)
        rows.append(of_first_S + of_second_S)
    # With two classes scikit-learn inverts the signs, so that positive means the second class.
    sign = -1 if len(present) == 2 else 1
    return KernelClassifier(
        supports_SF=machine.support_vectors_,
        weights_PS=sign * np.stack(rows),
        bias_P=sign * machine.intercept_,
        gamma=np.asarray([machine._gamma]),
        classes_K=np.asarray(machine.classes_, dtype=np.int64),
        total=np.asarray([classes]),
    )


@dataclass(frozen=True)
class CbowBaseline(ClassBaseline):
    """A fitted system.

    Args:
        features: examples to features_RF.
        scaling: of the features, fitted on the train split.
        classifier: features to scores.
        source: the word vectors of the features.
        notes: warnings and counts of the fit for `status.json`.
    """

    features: Callable[[Sequence[Example]], np.ndarray]
    scaling: Scaling
    classifier: Classifier
    source: VectorSource
    notes: dict[str, Any]

    def probabilities(self, examples: Sequence[Example]) -> np.ndarray:
        """Return probabilities_RC, float32: the softmax of the classifier's scores.

        For support vectors, whose scores are distances and votes, they are not calibrated.
        """
        scores_RC = self.classifier.scores(self.scaling(self.features(examples)))
        probabilities_RC: np.ndarray = softmax(scores_RC, axis=1).astype(np.float32)
        return probabilities_RC

    def save(self, folder: Path) -> None:
        """Write classifier, scaling, and the word vectors' description."""
        save_classifier(folder / WEIGHTS, self.classifier, self.scaling)
        write_json(folder / VECTORS, self.source.keep(folder))


def fit_cbow(config: Config, examples: Sequence[Example]) -> CbowBaseline:
    """Fit `cbow_svm` or `cbow_softmax`.

    Args:
        config: the run's; `batching.oversample` repeats rows of rare classes.
        examples: the labelled train split.

    Raises:
        DataError: fewer than two classes.
    """
    labels_R, order_R = training_rows(config, examples)
    if len(set(labels_R.tolist())) < 2:
        problem = f"all {len(examples)} rows are of one class"
        raise DataError("train", problem, "baseline=majority works with one class")

    settings = _settings(config)
    cache = Path(config.paths.cache)
    source = vector_source(settings, train_texts(examples), config.seed, cache)
    features = CbowFeatures(settings, source, cache)
    features_RF = features(examples)
    scaling = Scaling.fit(features_RF, settings.scale)
    scaled_RF = scaling(features_RF)[order_R]
    fit = fit_svm if settings.name == "cbow_svm" else fit_softmax
    classes = len(config.data.label_order)
    classifier, caveats = fit(scaled_RF, labels_R, classes, settings, config.seed)

    keys = {"baseline.vectors": settings.vectors, "data.language": config.data.language}
    caveat = other_vectors(keys.get)
    if caveat:
        caveats.append(caveat)
    notes = {"train_words": features.counts, "warnings": caveats}
    return CbowBaseline(features, scaling, classifier, source, notes)


def load_cbow(config: Config, folder: Path) -> CbowBaseline:
    """Open a run's `model/`, as `CbowBaseline.save` wrote it.

    Raises:
        ConfigError: the run's word vectors are missing or have changed.
    """
    classifier, scaling = load_classifier(folder / WEIGHTS)
    source = kept_vectors(folder, read_json(folder / VECTORS))
    features = CbowFeatures(_settings(config), source, Path(config.paths.cache))
    return CbowBaseline(features, scaling, classifier, source, {})


def _settings(config: Config) -> CbowConfig:
    """Read the only text in tasks without a second one."""
    if "pair" in TASKS[config.task.name].forms:
        return config.baseline
    return replace(config.baseline, input="premise")


def train_texts(examples: Sequence[Example]) -> list[str]:
    """List all first texts, then all second texts."""
    first = [example.text for example in examples]
    second = [example.text_pair for example in examples if example.text_pair is not None]
    return first + second
