"""A backend without a language model: it repeats the answer of the most similar example."""

from collections.abc import Iterator, Sequence

from heron.languages.words import folded_words
from heron.tasks.config import Config
from heron_tools.prompting.answers import Answer, Request, estimate_tokens
from heron_tools.prompting.config import PromptingConfig


class Alike:
    """Compares the words of the question with those of each example in the prompt.

    See `heron_tools.prompting.answers.Backend`. Without examples, it gives no answer.
    """

    def __init__(self, config: Config, settings: PromptingConfig):
        pass

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[str, Answer]]:
        """Answer at once. A prompt is one text: instruction, examples, question."""
        for request in requests:
            _, *examples, question = request.messages[0]["content"].split("\n\n")
            asked = set(folded_words(question))
            best = max(examples, key=lambda each: len(asked & set(folded_words(each))), default="")
            said = best.rpartition(":")[2].strip()
            yield request.key, Answer(said, input_tokens=estimate_tokens(request))
