"""What heron uses of Hydra's private parts leaves no trace behind."""

import logging

import pytest
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from heron.config.hydra_door import locate, open_hydra, overridden
from heron.training.compose import opened


def test_hydras_state_and_logging_are_those_of_the_caller_afterwards():
    root = logging.root
    hydra, config = GlobalHydra.instance().hydra, HydraConfig.instance().cfg
    level, handlers = root.level, root.handlers[:]
    with open_hydra() as opened:
        assert GlobalHydra.instance().hydra is opened
        root.setLevel(1)
        root.handlers[:] = []
    assert (GlobalHydra.instance().hydra, HydraConfig.instance().cfg) == (hydra, config)
    assert (root.level, root.handlers) == (level, handlers)


def test_overrides_count_within_the_block_only():
    with opened(["data=chronicle"]) as (_, whole):
        assert whole is not None
        config = whole
    before = OmegaConf.to_container(config, resolve=False)
    overrides = OverridesParser.create().parse_overrides(["optim.lr=0.5", "seed=7"])
    with overridden(config, overrides, {"optim", "seed"}):
        assert (config.optim.lr, config.seed) == (0.5, 7)
    assert OmegaConf.to_container(config, resolve=False) == before


def test_a_dotted_name_is_imported_without_a_log_record(capfd):
    assert locate("logging.Logger") is logging.Logger
    with pytest.raises(ImportError):
        locate("logging.Absent")
    assert capfd.readouterr().err == ""
