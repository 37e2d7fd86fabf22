"""How scripts let a model write: one text after the other, or with `Seq2SeqTrainer`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers


def one_by_one(
    model: Any, tokenizer: Any, read: Callable[..., Any], texts: Sequence[str], **settings: Any
) -> list[str]:
    """Tokenize, generate and decode, for each text."""
    written = []
    for text in texts:
        given = read(text, return_tensors="pt", return_token_type_ids=False).to(model.device)
        with torch.no_grad():
            ids = model.generate(**given, **settings)[0]
        new = ids if model.config.is_encoder_decoder else ids[given["input_ids"].shape[1] :]
        written.append(tokenizer.decode(new, skip_special_tokens=True).strip())
    return written


def by_trainer(
    model: Any,
    tokenizer: Any,
    read: Callable[..., Any],
    texts: Sequence[str],
    size: int,
    folder: Path,
    settings: Any,
) -> list[str]:
    """Predict with `Seq2SeqTrainer`, `size` texts at once, each batch padded to its longest."""
    arguments = transformers.Seq2SeqTrainingArguments(
        str(folder),
        per_device_eval_batch_size=size,
        predict_with_generate=True,
        use_cpu=model.device.type == "cpu",
        disable_tqdm=True,
        report_to=[],
    )
    collator = transformers.DataCollatorWithPadding(tokenizer)
    trainer = transformers.Seq2SeqTrainer(model, arguments, collator, processing_class=tokenizer)
    rows = list(map(read, texts))
    ids = trainer.predict(rows, generation_config=settings).predictions
    ids[ids < 0] = tokenizer.pad_token_id
    return [text.strip() for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]
