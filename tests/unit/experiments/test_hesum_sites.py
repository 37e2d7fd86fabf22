"""The list of sites of `heron build hesum`."""

import pytest

from heron.base.errors import ConfigError
from heron_forks.hesum.corpus.sites import SITES, find_site, read_sites


@pytest.mark.parametrize(
    ("sites", "named"),
    [
        ("[]", "expected a list `sites:`"),
        ("[{domain: a.example}]", "sites.0.start"),
        ("[{domain: a.example, start: 'https://a.example/', titel: h1}]", "sites.0.title"),
        ("[{domain: a.example, start: 'https://b.example/'}]", "sites.0.start"),
        ("[{domain: a.example, start: a.example}]", "sites.0.start"),
        ("[{domain: a.example, start: 'https://a.example/', ignore: '('}]", "sites.0.ignore"),
    ],
)
def test_a_list_that_cannot_be_used_names_the_file_and_the_key(tmp_path, sites, named):
    path = tmp_path / "sites.yaml"
    path.write_text(f"sites: {sites}", "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_sites(path)
    assert str(path) in str(caught.value)
    assert named in str(caught.value)


def test_a_host_belongs_to_the_listed_site_of_its_domain():
    sites = read_sites(SITES)
    assert find_site(sites, f"www.{sites[0].domain}") is sites[0]
    unlisted = find_site(sites, f"not{sites[0].domain}")
    assert unlisted not in sites
    assert not unlisted.has_selectors
