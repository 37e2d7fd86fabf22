"""Code of a model card: how to predict with an exported model without heron."""

from heron.data.markers import event_markers
from heron.tasks.task import task_of
from heron_tools.export.plain import OWN_CLASS, Plain

PLACE = "FOLDER"  # the model's folder, or its id on the hub

_CLASSIFY = """\
from transformers import pipeline

classify = pipeline("text-classification", model="{place}"{more})
classify([{text}], top_k=None{cut})
"""
_FILL = """\
from transformers import pipeline

fill = pipeline("fill-mask", model="{place}")
fill(f"a text with one {{fill.tokenizer.mask_token}} word")
"""
_PREDICT = """\
from transformers import pipeline

predict = pipeline("{task}", model="{place}")
predict({text})
"""
_ANSWER = """\
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("{place}")
model = AutoModelForQuestionAnswering.from_pretrained("{place}").eval()


def answer(question, context):
    read = tokenizer(
        question,
        context,
        truncation="only_second",
        max_length={length},
        return_overflowing_tokens={windows},
        stride={stride},
        padding=True,
        return_token_type_ids=getattr(model.config, "type_vocab_size", 1) > 1,
        return_offsets_mapping=True,
        return_tensors="pt",
    )
    read.pop("overflow_to_sample_mapping", None)
    places = read.pop("offset_mapping").tolist()
    parts = [read.sequence_ids(window) for window in range(len(places))]
    outside = torch.tensor([[part != 1 for part in window] for window in parts])
    with torch.no_grad():
        found = model(**read)
    start = found.start_logits.masked_fill(outside, -1e4)
    end = found.end_logits.masked_fill(outside, -1e4)
    scores = start[:, :, None] + end[:, None, :]
    allowed = torch.ones_like(scores).triu().tril({longest} - 1).bool()
    scores = scores.masked_fill(~allowed, -1e5)
    window, first, last = (int(n) for n in torch.unravel_index(scores.argmax(), scores.shape))
{none}    return context[places[window][first][0] : places[window][last][1]].strip()


answer({text})
"""
_NO_ANSWER = """\
    nothing = (found.start_logits[:, 0] + found.end_logits[:, 0]).min()
    if nothing - scores.max() > {threshold!r}:
        return ""  # the text does not say
"""
_WRITE = """\
{needs}from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("{place}")
model = AutoModelForSeq2SeqLM.from_pretrained("{place}").eval()
read = tokenizer({text}, truncation=True, max_length={length}, return_tensors="pt")
read.pop("token_type_ids", None)
{more}written = model.generate(**read, {generation})
tokenizer.decode(written[0], skip_special_tokens=True).strip()
"""
_GLOBAL = """\
read["global_attention_mask"] = torch.zeros_like(read["input_ids"])
read["global_attention_mask"][:, 0] = 1
"""


def usage_code(plain: Plain, place: str) -> str:
    """Write code that gives heron's predictions without heron, as a block of Markdown."""
    config = plain.config
    first, second = (f'"a {name.replace("_pair", "")}"' for name in task_of(config).about.texts)
    length = config.encoder.max_length
    from heron.tasks.summarization.seq2seq import generation_options

    if plain.loads_as == "AutoModelForSeq2SeqLM":
        options = generation_options(config.task.generation)
        shown = ", ".join(f"{name}={value!r}" for name, value in options.items())
        code = _WRITE.format(
            place=place,
            text=first,
            length=length,
            generation=shown,
            needs="import torch\n" if plain.attends_globally else "",
            more=_GLOBAL if plain.attends_globally else "",
        )
    elif plain.loads_as == "AutoModelForQuestionAnswering":
        can_be_empty = len(config.data.label_order) > 1
        code = _ANSWER.format(
            place=place,
            length=length,
            windows=config.encoder.overflow == "windows",
            stride=config.encoder.stride if config.encoder.overflow == "windows" else 0,
            longest=config.task.max_answer_tokens,
            none=_NO_ANSWER.format(threshold=plain.threshold) if can_be_empty else "",
            text=f"{second}, {first}",
        )
    elif plain.loads_as == "AutoModelForMaskedLM":
        code = _FILL.format(place=place)
    elif plain.loads_as not in (OWN_CLASS, "AutoModelForSequenceClassification"):
        code = _PREDICT.format(
            task=task_of(config).about.hub_name, place=place, text=_example(plain)
        )
    else:
        how = config.encoder.truncation if config.head.input == "pair" else "longest_first"
        own = plain.loads_as == OWN_CLASS
        code = _CLASSIFY.format(
            place=place,
            text=_example(plain),
            more=", trust_remote_code=True" if own else "",
            cut="" if own else f', truncation="{how}", max_length={length}',
        )
    return f"```python\n{code}```\n"


def _example(plain: Plain) -> str:
    """Write the text, or the two texts, that a model with classes reads."""
    data, form = plain.config.data, plain.config.head.input
    if form in ("marked", "window"):
        one, end_1, two, end_2 = event_markers(data)
        return f'"a text with {one} one {end_1} and {two} another {end_2} event"'
    has_two = plain.loads_as == OWN_CLASS and data.columns.text_pair is not None
    if has_two or form in ("pair", "separate"):
        return '{"text": "a premise", "text_pair": "a hypothesis"}'
    return f'"a {form}"'
