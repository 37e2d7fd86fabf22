"""Prompts: the messages that ask a language model about one row, with examples before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from heron.base.errors import ConfigError
from heron.base.files import read_yaml
from heron.base.terminal import say
from heron.data.examples import Example
from heron.data.markers import with_markers
from heron.languages import english, get_language
from heron.tasks.config import Config
from heron.tasks.task import task_of, text_scores
from heron_tools.prompting.config import PromptConfig

Message = dict[Literal["role", "content"], str]


@dataclass(frozen=True)
class Prompter:
    """Renders the prompt of a run for any row.

    Raises:
        ConfigError: a template cannot be rendered, or two classes have one answer.
    """

    config: Config
    prompt: PromptConfig

    @cached_property
    def words(self) -> Mapping[str, Any]:
        """The language's words for prompts."""
        code = self.prompt.language or self.config.data.language
        wording = get_language(code).wording
        words = (read_yaml(wording) if wording else {}).get("prompting")
        if not words:
            say(
                f"data.language={code} has no words for prompts, so English ones are used; its "
                "Language may name a YAML with `prompting:` (src/heron/languages/english.yaml)"
            )
            words = read_yaml(Path(english.__file__).with_suffix(".yaml"))["prompting"]
        return {**words, "labels": words.get("labels") or {}}

    @cached_property
    def answers(self) -> dict[str, str]:
        """The answer for each class, in the order of the classes; empty without classes."""
        if not task_of(self.config).has_classes:
            return {}
        own = self.prompt.answers
        words = self.words["labels"]
        classes = self.config.data.label_order
        unknown = [name for name in own if name not in classes]
        if unknown:
            raise ConfigError(
                f"prompting.prompt.answers: {', '.join(unknown)}: no class of "
                f"{self.config.data.name}, which has {', '.join(classes)}"
            )
        answers = {}
        for name in classes:
            answers[name] = str(own.get(name, words.get(name, name)))
        if len(set(answers.values())) < len(answers):
            raise ConfigError(
                f"prompting.prompt.answers: each class needs its own answer: {answers}"
            )
        return answers

    @cached_property
    def known(self) -> dict[str, Any]:
        """The variables of all templates."""
        data = self.config.data
        output = get_language(self.config.prompting.translation.output or data.language)
        return {
            "words": dict(self.words),
            "labels": list(self.answers.values()),
            "classes": list(data.label_order),
            "output": self.words.get("languages", {}).get(output.code, output.name),
        }

    @cached_property
    def lead(self) -> str:
        """The text before an answer, `Answer:`."""
        return self._render("answer", {})

    def right_answer(self, example: Example) -> str:
        """Return the gold answer of an example, the first of several; empty for "no answer"."""
        if self.answers:
            return self.answers[str(example.label)]
        scores = text_scores(self.config.task.name)
        assert scores is not None
        golds = scores.golds(example)
        return golds[0] if golds else ""

    def gold(self, answer: str) -> str:
        """Write a gold answer as prompts show it."""
        return answer or str(self.words["unanswerable"])

    def messages(
        self,
        example: Example,
        shots: Sequence[Example] = (),
        answers: Sequence[str] | None = None,
    ) -> list[Message]:
        """Write the messages that ask about a row, after examples with their answers.

        Args:
            example: the row.
            shots: the examples.
            answers: shown for the examples instead of their gold answers.

        Returns:
            One message, or those of a chat with `examples=turns`.
        """
        golds = [self.gold(answer) for answer in answers or map(self.right_answer, shots)]
        if self.prompt.examples == "item":
            rows = []
            for shot, gold in zip(shots, golds, strict=True):
                rows.append({**self.values(shot), "answer": gold})
            return [user_message(self._render("item", {**self.values(example), "shots": rows}))]

        instruction = self._render("instruction", {})
        question = self._question(example)
        answered = list(zip(map(self._question, shots), golds, strict=True))
        if self.prompt.examples == "turns":
            turns: list[Message] = []
            for text, gold in answered:
                turns += [user_message(text), {"role": "assistant", "content": gold}]
            turns.append(user_message(question))
            first = user_message(f"{instruction}\n\n{turns[0]['content']}")
            return [first, *turns[1:]]
        parts = [instruction]
        for text, gold in answered:
            space = "" if text.endswith("\n") else " "
            parts.append(f"{text}{space}{gold}")
        return [user_message("\n\n".join([*parts, question]))]

    def values(self, example: Example) -> dict[str, Any]:
        """Give the templates' variables of a row."""
        text = with_markers(example, self.config.data) if self.answers else example.text
        side = {}
        for name in self.config.data.columns.side:
            if example.side.get(name) is not None:
                side[name] = str(example.side[name])
        return {"text": text, "text_pair": example.text_pair or "", "side": side}

    def _question(self, example: Example) -> str:
        """Write a row, and what precedes its answer."""
        item = self._render("item", self.values(example))
        if not self.lead:
            return item
        return f"{item}\n{self.lead}"

    def _render(self, name: str, row: Mapping[str, Any]) -> str:
        values = {**self.known, **row}
        try:
            text: str = _compiled(getattr(self.prompt, name)).render(values)
        except TemplateError as error:
            raise ConfigError(f"prompting.prompt.{name}: {error}") from error
        return text.strip("\n")


# Templates may be untrusted, so the sandbox hides Python's objects; a misspelt name is an error
# instead of an empty text.
_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
_compiled = _ENVIRONMENT.from_string


def user_message(text: str) -> Message:
    """Write a message of the user."""
    return {"role": "user", "content": text}


def as_text(messages: Sequence[Message]) -> str:
    """Join messages to the one text that a model without a chat template completes."""
    return "\n\n".join(message["content"] for message in messages)
