"""Classes from a language model's answers: scored over all rows, and over valid answers."""

from heron.metrics.classification import score_task
from heron.tasks.config import Config
from heron.tasks.predictions import ClassPredictions


class NamedClasses(ClassPredictions):
    """See `ClassPredictions`; an empty text is an answer without a class.

    Scores are over all labelled rows, where a row without a class is wrong. `valid_<score>` are
    over the rows with a class, and `valid_rows` is their number.
    """

    def scores(self, config: Config) -> dict[str, float]:
        """See the class."""
        task, classes, scores = config.task, config.data.label_order, super().scores(config)
        rows = [pair for pair in zip(self.golds, self.texts, strict=True) if pair[0] is not None]
        valid = [pair for pair in rows if pair[1]]
        scores["valid_rows"] = len(valid)
        if valid and len(valid) < len(rows):
            gold, given = ([str(each) for each in column] for column in zip(*valid, strict=True))
            own = score_task(task.name, gold, given, classes, relaxed=task.relaxed)
            scores |= {f"valid_{name}": own[name] for name in own if "/" not in name}
        return scores
