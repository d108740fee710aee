//! A store in the layout of ArviZ is what ArviZ takes it for.
//!
//! `BILO_PYTHON=/path/to/python cargo test -p bilo-report --test zarr` opens it there, after
//! `pip install 'arviz<0.24' 'zarr<3' 'xarray<2026.3'`. ArviZ 0.23 takes no later Zarr, and xarray 2026.9 no earlier one.

use bilo_report::zarr::{Store, Values};
use std::io;
use std::path::Path;
use std::process::Command;

const CHAINS: usize = 4;
const DRAWS: usize = 50;
const SITES: [&str; 3] = ["Zürich", "β", "two words"];

/// What the script says when ArviZ is not installed.
const ABSENT: i32 = 77;

/// Exact in any language, so that Python can expect the same bits: a long period of thousandths.
fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 + seed * 104_729) * (i + 31) % 1009) as f64 / 1024.0).collect()
}

fn counted(count: usize) -> Vec<i64> {
    (0..count as i64).collect()
}

/// Draws of a number and of one for each site, in a group of its own.
fn drawn(store: &mut Store, group: &str, chains: usize, names: [&str; 2], seed: usize) -> io::Result<()> {
    let by_draw = [("chain", chains), ("draw", DRAWS)];
    let by_site = [by_draw[0], by_draw[1], ("site", SITES.len())];
    coordinates(store, group, chains)?;
    store.array(group, names[0], &by_draw, &Values::Floats(&numbers(chains * DRAWS, seed)))?;
    store.array(group, names[1], &by_site, &Values::Floats(&numbers(chains * DRAWS * SITES.len(), seed + 1)))
}

fn coordinates(store: &mut Store, group: &str, chains: usize) -> io::Result<()> {
    store.group(group, &[("inference_library", "bilo".into()), ("tuning_steps", 1000.into())])?;
    store.array(group, "chain", &[("chain", chains)], &Values::Integers(&counted(chains)))?;
    store.array(group, "draw", &[("draw", DRAWS)], &Values::Integers(&counted(DRAWS)))?;
    sites(store, group)
}

fn sites(store: &mut Store, group: &str) -> io::Result<()> {
    let names = SITES.map(str::to_owned);
    store.array(group, "site", &[("site", SITES.len())], &Values::Words(&names))
}

fn write(path: &Path) -> io::Result<()> {
    let mut store = Store::create(path)?;
    drawn(&mut store, "posterior", CHAINS, ["D", "k"], 0)?;
    drawn(&mut store, "prior", 1, ["D", "k"], 2)?;
    sample_stats(&mut store)?;
    for (group, seed) in [("log_likelihood", 4), ("posterior_predictive", 5)] {
        let dimensions = [("chain", CHAINS), ("draw", DRAWS), ("site", SITES.len())];
        coordinates(&mut store, group, CHAINS)?;
        let values = numbers(CHAINS * DRAWS * SITES.len(), seed);
        store.array(group, "u", &dimensions, &Values::Floats(&values))?;
    }
    store.group("observed_data", &[])?;
    sites(&mut store, "observed_data")?;
    store.array("observed_data", "u", &[("site", SITES.len())], &Values::Floats(&[0.5, f64::NAN, -0.25]))?;
    constant_data(&mut store)?;
    store.finish()
}

fn sample_stats(store: &mut Store) -> io::Result<()> {
    let (group, dimensions) = ("sample_stats", [("chain", CHAINS), ("draw", DRAWS)]);
    coordinates(store, group, CHAINS)?;
    let diverging: Vec<bool> = (0..CHAINS * DRAWS).map(|i| i % 7 == 3).collect();
    store.array(group, "diverging", &dimensions, &Values::Booleans(&diverging))?;
    store.array(group, "tree_depth", &dimensions, &Values::Integers(&counted(CHAINS * DRAWS)))?;
    store.array(group, "lp", &dimensions, &Values::Floats(&numbers(CHAINS * DRAWS, 6)))?;
    store.array(group, "step_size", &[("chain", CHAINS)], &Values::Floats(&numbers(CHAINS, 7)))
}

/// Sizes that are rare.
fn constant_data(store: &mut Store) -> io::Result<()> {
    let group = "constant_data";
    store.group(group, &[])?;
    store.array(group, "limit", &[], &Values::Integers(&[-3]))?;
    store.array(group, "remark", &[("of", 2)], &Values::Words(&[String::new(), "ü".into()]))?;
    store.array(group, "no_floats", &[("chain", 2), ("nothing", 0)], &Values::Floats(&[]))?;
    store.array(group, "no_words", &[("nothing", 0)], &Values::Words(&[]))
}

/// The same numbers by their rule, and what a user would do next.
const OPENED: &str = r#"
import sys
try:
    import matplotlib
    matplotlib.use("Agg")
    import arviz, numpy, xarray, zarr
except ImportError as error:
    print(error)
    sys.exit(77)

path, chains, draws, sites = sys.argv[1], 4, 50, ["Zürich", "β", "two words"]

def numbers(seed, *shape):
    i = numpy.arange(numpy.prod(shape))
    return ((i * 7919 + seed * 104729) * (i + 31) % 1009 / 1024).reshape(shape)

def same(array, dims, values):
    values = numpy.asarray(values)
    assert array.dims == dims, array
    assert array.dtype.kind == values.dtype.kind, array
    numpy.testing.assert_array_equal(array.values, values)

def drawn(group, chains):
    same(group.chain, ("chain",), numpy.arange(chains))
    same(group.draw, ("draw",), numpy.arange(draws))
    same(group.site, ("site",), sites)
    assert set(group.coords) == {"chain", "draw", "site"}, group
    assert group.attrs == {"inference_library": "bilo", "tuning_steps": 1000}, group

def by_site(array, seed, chains):
    same(array, ("chain", "draw", "site"), numbers(seed, chains, draws, 3))

data = arviz.from_zarr(path)
groups = ["posterior", "prior", "sample_stats", "log_likelihood", "posterior_predictive"]
assert set(data.groups()) == {*groups, "observed_data", "constant_data"}, data.groups()
for name, chains, seed in [("posterior", 4, 0), ("prior", 1, 2)]:
    drawn(data[name], chains)
    same(data[name].D, ("chain", "draw"), numbers(seed, chains, draws))
    by_site(data[name].k, seed + 1, chains)
for name, seed in [("log_likelihood", 4), ("posterior_predictive", 5)]:
    drawn(data[name], 4)
    by_site(data[name].u, seed, 4)
drawn(data.sample_stats, 4)
count = numpy.arange(200).reshape(4, 50)
same(data.sample_stats.diverging, ("chain", "draw"), count % 7 == 3)
same(data.sample_stats.tree_depth, ("chain", "draw"), count)
same(data.sample_stats.lp, ("chain", "draw"), numbers(6, 4, 50))
same(data.sample_stats.step_size, ("chain",), numbers(7, 4))
same(data.observed_data.site, ("site",), sites)
same(data.observed_data.u, ("site",), [0.5, numpy.nan, -0.25])
same(data.constant_data.limit, (), -3)
same(data.constant_data.remark, ("of",), ["", "ü"])
same(data.constant_data.no_floats, ("chain", "nothing"), numpy.zeros((2, 0)))
assert data.constant_data.no_words.shape == (0,)

# Without the index it would be opened with a warning, and slower.
with xarray.open_zarr(path, group="posterior", consolidated=True) as posterior:
    assert posterior.k.encoding["chunks"] == (1, 50, 3), posterior.k.encoding
    assert posterior.k.encoding["compressor"] is None, posterior.k.encoding
    by_site(posterior.k, 1, 4)

summary = arviz.summary(data, round_to="none")
assert list(summary.index) == ["D", *(f"k[{site}]" for site in sites)], summary
means = [numbers(0, 4, 50).mean(), *numbers(1, 4, 50, 3).mean((0, 1))]
numpy.testing.assert_allclose(summary["mean"], means, rtol=1e-12)
assert summary["r_hat"].notna().all(), summary
axes = arviz.plot_trace(data)
assert axes.shape == (2, 2), axes
axes.ravel()[0].figure.canvas.draw()
assert numpy.isfinite(arviz.loo(data).elpd_loo)
print("OK: ArviZ", arviz.__version__, "zarr", zarr.__version__, "xarray", xarray.__version__)
"#;

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn arviz_finds_every_number_in_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("chains.zarr");
    write(&path).expect("a store");
    for chain in 0..CHAINS {
        let about = path.join(format!("posterior/k/{chain}.0.0")).metadata().expect("a file for each chain");
        assert_eq!(about.len(), (DRAWS * SITES.len() * 8) as u64);
    }
    let Some(python) = std::env::var_os("BILO_PYTHON") else {
        eprintln!("SKIPPED: BILO_PYTHON names no Python, so ArviZ did not open the store");
        return;
    };
    let mut command = Command::new(&python);
    command.args(["-c", OPENED]).arg(&path).env("PYTHONUTF8", "1").env("MPLCONFIGDIR", folder.path());
    let output = command.output().unwrap_or_else(|error| panic!("BILO_PYTHON {python:?}: {error}"));
    let (said, complaints) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(ABSENT) {
        eprintln!("SKIPPED: {python:?} has no ArviZ to open the store with: {said}");
        return;
    }
    assert!(output.status.success() && said.contains("OK: ArviZ"), "{said}{complaints}");
    eprintln!("{said}");
}
