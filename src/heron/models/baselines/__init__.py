"""Systems without a trained encoder, in place of encoder and head.

`majority`; mean word vectors with a shallow classifier (`cbow_svm`, `cbow_softmax`); `zero_shot`.
`training/baseline_job.py` trains them into the run folder of any other system.
"""
