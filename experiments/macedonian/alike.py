"""A backend without a language model: it repeats the answer of the most similar example."""

from collections.abc import Iterator, Sequence

from heron.languages.words import folded_words
from heron.tasks.config import Config
from heron_tools.prompting.answers import ModelAnswer, ModelRequest, estimate_tokens
from heron_tools.prompting.config import PromptingConfig


class Alike:
    """Compares the words of the question with those of each example in the prompt.

    See `heron_tools.prompting.answers.Backend`. Without examples, it gives no answer.
    """

    def __init__(self, config: Config, settings: PromptingConfig):
        pass

    def answer(self, requests: Sequence[ModelRequest]) -> Iterator[tuple[str, ModelAnswer]]:
        """Answer at once. A prompt is one text: instruction, examples, question."""
        for request in requests:
            _, *examples, question = request.messages[0]["content"].split("\n\n")
            words = set(folded_words(question))
            shared = [len(words.intersection(folded_words(example))) for example in examples]
            most_similar = examples[shared.index(max(shared))] if examples else ""
            _, _, answer = most_similar.rpartition(":")
            yield request.key, ModelAnswer(answer.strip(), input_tokens=estimate_tokens(request))
