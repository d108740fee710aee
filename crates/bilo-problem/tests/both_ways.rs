//! Every shipped problem, stated once more in Rust: both ways give the same problem, under both recipes.

use bilo_problem::diagnostic::Origin;
use bilo_problem::spline::Interpolation;
use bilo_problem::{
    ContourSpec, Coordinate, DataSpec, Formula, FunctionBasis, FunctionSpec, GivenSpec, KnownSpec,
    Likelihood, Overrides, PictureSpec, PointsSpec, Problem, ProblemBuilder, Quadrature, RandomField, Recipe,
    RegulariserKind, Unknown,
};
use std::path::Path;

const PROBLEMS: &str = "../../problems";

#[test]
fn a_file_and_a_builder_that_say_the_same_give_the_same_problem() {
    let mut count = 0;
    for entry in std::fs::read_dir(PROBLEMS).expect("the shipped problems") {
        let path = entry.expect("a file").path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".toml")) else {
            continue;
        };
        for recipe in [Recipe::Fast, Recipe::Paper] {
            let overrides = Overrides { recipe: Some(recipe.name().to_owned()), set: vec![] };
            let read = Problem::from_file(&path, &overrides).unwrap_or_else(|error| panic!("{error}"));
            let built = stated(name).recipe(recipe).build_in(Path::new(PROBLEMS));
            let built = built.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(built, read, "{name}");
        }
        count += 1;
    }
    assert!(count >= 22, "problems are missing");
}

fn stated(name: &str) -> ProblemBuilder {
    match name {
        "advection-diffusion" => advection_diffusion(),
        "bpn-toy" => bpn_toy(),
        "bpn-toy-soft" => bpn_toy_soft(),
        "burgers-initial" => burgers(
            name,
            "Initial value f(x) of Burgers' equation from a profile with a shock",
            "sin(2*pi*x)",
        ),
        "burgers-initial-2" => burgers(
            name,
            "Initial value f(x) of Burgers' equation from a profile with a moving shock",
            "1.5*sin(pi*x)*cos(1.5*pi*x)",
        ),
        "conductivity" => conductivity(),
        "cooling-rods" => cooling_rods(),
        "current-patterns" => current_patterns(),
        "darcy" => darcy(name, 2, 1),
        "darcy-2" => darcy(name, 4, 3),
        "dose-escalation" => dose_escalation(),
        "fisher-kpp" => fisher_kpp(),
        "glioblastoma" => glioblastoma(),
        "heat-initial" => heat_initial(),
        "point-process" => {
            let about = "Birth and decay rates from positions of particles born at a point";
            point_process(name, about, 2.5).constant("z", 0.5)
        }
        "point-process-10" => {
            let about = "The same with a decay four times as fast, which the particles tell better";
            point_process(name, about, 10.0).constant("z", 0.5)
        }
        "point-process-position" => {
            let about =
                "Where particles are born, and how fast they are born and decay, from their positions";
            let place = Unknown::new("z", 0.4).truth(0.55).bounds(0.05, 0.95);
            point_process(name, about, 10.0).unknown(place)
        }
        "poisson-scalar" => poisson_scalar(),
        "poisson-variable" => poisson_variable(),
        "reaction-coefficient" => {
            reaction_coefficient(name, "Reaction coefficient k(x) of a diffusion-reaction equation", 100)
        }
        "reaction-coefficient-8" => {
            let about = "Reaction coefficient k(x) of a diffusion-reaction equation from 8 points";
            reaction_coefficient(name, about, 8)
        }
        "two-species" => two_species(),
        _ => panic!("say `{name}` in Rust here"),
    }
}

fn settings(builder: ProblemBuilder, settings: &[&str]) -> ProblemBuilder {
    settings.iter().fold(builder, |builder, setting| builder.set(*setting))
}

fn grid(x: usize, t: usize) -> PointsSpec {
    PointsSpec::grid([("x", x), ("t", t)])
}

fn along_x(x: usize) -> PointsSpec {
    PointsSpec::grid([("x", x)])
}

fn exact(points: PointsSpec) -> DataSpec {
    DataSpec::synthetic(points, 0.0)
}

/// A problem over x, or over x and the time.
fn over(name: &str, about: &str, end: Option<f64>) -> ProblemBuilder {
    let builder = Problem::builder(name).about(about).coordinate(Coordinate::space("x", 0.0, 1.0));
    match end {
        Some(end) => builder.coordinate(Coordinate::time("t", 0.0, end)),
        None => builder,
    }
}

fn advection_diffusion() -> ProblemBuilder {
    let builder = Problem::builder("advection-diffusion")
        .about("Diffusion, speed and source of a wave on a ring")
        .coordinate(Coordinate::space("x", 0.0, 1.0).periodic())
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("nu", 0.01).truth(0.02).scale(0.01))
        .unknown(Unknown::new("c", 0.3).truth(0.5))
        .unknown(Unknown::new("s", 0.0).truth(0.4))
        .known_state("u", "sin(2*pi*x) + net*t", "s*t + exp(-4*pi^2*nu*t)*sin(2*pi*(x - c*t))")
        .equation("transport", "u_t + c*u_x - nu*u_xx - s", grid(32, 33))
        .observation("profile", "u", exact(grid(32, 17)));
    settings(builder, &["train.fast.pretrain-steps=500", "train.fast.train-steps=1500"])
}

fn parabola(name: &str, about: &str, form: &str) -> ProblemBuilder {
    over(name, about, None)
        .unknown(Unknown::new("th0", 1.0).truth(0.0))
        .unknown(Unknown::new("th1", 1.0).truth(1.0))
        .known_state("y", form, "th0*(1-x) + th1*x - x*(1-x)")
        .equation("curvature", "y_xx - 2", along_x(64))
        .observation("target", "y", exact(along_x(64)))
        .set("network.width=50")
        .set("network.layers=3")
        .set("train.pretrain-steps=1000")
        .set("train.train-steps=200")
        .set("train.schedule=constant")
        .set("train.theta-rate=0.05")
}

fn bpn_toy() -> ProblemBuilder {
    let about = "Boundary values of a parabola, held exactly by the form";
    let builder = parabola("bpn-toy", about, "th0*(1-x) + th1*x + net*x*(1-x)");
    settings(builder, &["network.residual=false", "train.rate=1e-3"])
}

fn bpn_toy_soft() -> ProblemBuilder {
    let builder = parabola("bpn-toy-soft", "Boundary values of a parabola, as soft conditions", "net")
        .weighted_equation("left", "y - th0", PointsSpec::grid([]).hold("x", [0.0]), 10.0)
        .weighted_equation("right", "y - th1", PointsSpec::grid([]).hold("x", [1.0]), 10.0);
    let levels = ["train.levels=alternating", "train.lower-tolerance=1e-5", "train.max-lower-steps=64"];
    settings(settings(builder, &levels), &["train.paper.rate=1e-3", "train.fast.rate=5e-3"])
}

fn burgers(name: &str, about: &str, truth: &str) -> ProblemBuilder {
    let initial = FunctionSpec::new("f", ["x"], "sin(pi*x)")
        .form("net*x*(1-x)")
        .truth(truth)
        .nodes([101])
        .regularise(RegulariserKind::H1, 3e-4);
    let builder = over(name, about, Some(1.0))
        .unknown_function(initial)
        .state("u", "net*x*(1-x)*t + f")
        .equation("burgers", "u_t + 0.2*u*u_x", grid(201, 21))
        .trained_as("u_t + 0.2*u*u_x - 5e-4*u_xx")
        .observation("final", "u", exact(along_x(64).hold("t", [1.0])))
        .likelihood(Likelihood::MeanSquare);
    settings(
        builder,
        &[
            "train.fast.gradient=exact",
            "train.fast.optimiser=soap",
            "train.fast.rate=5e-3",
            "train.fast.theta-optimiser=soap",
            "train.paper.pretrain-steps=5000",
            "train.paper.train-steps=5000",
            "classical.cells=1000",
            "classical.steps=100",
        ],
    )
}

fn conductivity() -> ProblemBuilder {
    let conductivity = FunctionSpec::new("k", ["u"], "0.3")
        .range(0.0, 1.0)
        .form("softplus(net)")
        .truth("0.1 + 0.5*u^2")
        .nodes([21])
        .modes([6])
        .regularise(RegulariserKind::H1, 1e-5);
    let about = "Conductivity k(u) of a rod, a function of its temperature u";
    over("conductivity", about, Some(0.5))
        .unknown_function(conductivity)
        .state("u", "x^3*(10 - 15*x + 6*x^2) + net*x*(1-x)*t")
        .equation("heat", "u_t - div(k*grad(u))", grid(51, 51))
        .observation("probes", "u", DataSpec::synthetic(grid(21, 11), 0.005))
        .set("classical.cells=100")
        .set("classical.steps=100")
}

fn darcy(name: &str, guess: u64, truth: u64) -> ProblemBuilder {
    let field = |seed, value: &str| {
        KnownSpec::Random(RandomField { sd: 10.0_f64.sqrt(), length: 0.1, seed }, value.to_owned())
    };
    let permeability = FunctionSpec::new("A", ["x", "y"], field(guess, "9*sigmoid(field) + 3"))
        .form("9*sigmoid(net) + 3")
        .truth(field(truth, "if(field > 0, 12, 3)"))
        .threshold(7.5)
        .scale(10.0)
        .nodes([61, 61])
        .basis(FunctionBasis::Splines)
        .modes([19, 19])
        .regularise(RegulariserKind::Tv { smoothing: 1.0 }, 1e-11)
        .network("width=64")
        .network("fourier={ features = 64, scale = 1.0 }");
    let everywhere = || PointsSpec::grid([("x", 61), ("y", 61)]);
    let builder = over(name, "Permeability A(x,y) of two rocks from the pressure of a flow (Darcy)", None)
        .coordinate(Coordinate::space("y", 0.0, 1.0))
        .unknown_function(permeability)
        .state("u", "0.1*net*x*(1-x)*y*(1-y)")
        .state("p", "0.1*net")
        .state("q", "0.1*net")
        .equation("along-x", "p/sqrt(A) + sqrt(A)*u_x", everywhere())
        .equation("along-y", "q/sqrt(A) + sqrt(A)*u_y", everywhere())
        .equation("balance", "p_x + q_y - 1", everywhere())
        .observation("pressure", "u", exact(everywhere()))
        .likelihood(Likelihood::MeanSquare);
    settings(
        builder,
        &[
            "operator.basis=splines",
            "operator.fast.kind=dictionary",
            "operator.fast.modes={ x = 33, y = 33 }",
            "network.fourier={ features = 64, scale = 2.0 }",
            "network.fast.width=64",
            "train.rgrad-weight=0.01",
            "train.fast.theta-rate=2e-4",
            "classical.cells=60",
        ],
    )
}

fn fisher_kpp() -> ProblemBuilder {
    let builder = over("fisher-kpp", "Diffusion and growth rate of a reaction-diffusion front", Some(1.0))
        .unknown(Unknown::new("D", 1.0).truth(2.0))
        .unknown(Unknown::new("rho", 1.0).truth(2.0))
        .state("u", "0.5*sin(pi*x)^2 + net*x*(1-x)*t")
        .equation("front", "u_t - 0.01*D*u_xx - rho*u*(1-u)", grid(51, 51).keep("t > 0 or (x > 0 and x < 1)"))
        .observation("profile", "u", exact(grid(51, 51)));
    settings(
        builder,
        &[
            "examples.grid={ x = 51, t = 51 }",
            "examples.unknown.D={ from = 0.8, to = 3.0, step = 0.05 }",
            "examples.unknown.rho={ from = 0.8, to = 3.0, step = 0.05 }",
            "train.fast.theta-rate=0.03",
        ],
    )
}

/// A tissue of the atlas.
fn tissue(name: &str, file: &str) -> GivenSpec {
    GivenSpec::image(name, file).scale(1.0 / 255.0).range(0.0, 1.0).interpolation(Interpolation::Smooth)
}

/// A segmentation with a contour that was drawn beside the true one.
fn drawn(value: &str) -> DataSpec {
    let points = PointsSpec::grid([("x", 73), ("y", 73)]).hold("t", [1.0]);
    exact(points).made_of(value, Some((1.0, 6.0)))
}

fn glioblastoma() -> ProblemBuilder {
    let (x, y, half, l, dc, rhoc): (f64, f64, f64, f64, f64, f64) = (-36.0, -5.0, 36.0, 16.0, 0.13, 0.025);
    let t = l / (dc * rhoc).sqrt();
    let dbar = dc * t / (l * l);
    let constants = [
        ("X0", x),
        ("Y0", y),
        ("half", half),
        ("L", l),
        ("Dc", dc),
        ("rhoc", rhoc),
        ("T", t),
        ("Dbar", dbar),
        ("rhobar", rhoc * t),
        ("even", 0.6 * dbar * (l * l)),
    ];
    let builder = Problem::builder("glioblastoma")
        .about("Diffusion and growth of a brain tumour, in the tissue of an MRI atlas")
        .coordinate(Coordinate::space("x", x - half, x + half))
        .coordinate(Coordinate::space("y", y - half, y + half))
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .given(tissue("wm", "mni152/wm.nii.gz"))
        .given(tissue("gm", "mni152/gm.nii.gz"))
        .given(GivenSpec::diffuse("phi", "wm + gm > 0.5", 3.0))
        .unknown(Unknown::new("D", 1.0).truth(1.25).bounds(0.05, 10.0))
        .unknown(Unknown::new("rho", 1.0).truth(0.9).bounds(0.05, 10.0))
        .unknown(Unknown::new("u_wt", 0.35).truth(0.3).bounds(0.01, 0.99))
        .unknown(Unknown::new("u_tc", 0.55).truth(0.6).bounds(0.01, 0.99))
        .state(
            "u",
            "sigmoid(log(0.1) - log(1 - 0.1*exp(-0.1*((x-X0)^2 + (y-Y0)^2)))
          - ((x-X0)^2 + (y-Y0)^2)/(10 + 4*even*D*t) - log(1 + 0.4*even*D*t) + rho*rhobar*t + net*t)
          *(1 - ((x-X0)/half)^4)*(1 - ((y-Y0)/half)^4)",
        )
        .equation(
            "growth",
            "phi*u_t - D*Dbar*L^2*div((wm + gm/10)*phi*grad(u)) - rho*rhobar*phi*u*(1-u)",
            PointsSpec::random(20_000).renew(10, None),
        )
        .trained_as(
            "(phi*u_t - D*Dbar*L^2*div((wm + gm/10)*phi*grad(u)) - rho*rhobar*phi*u*(1-u))
              /(0.05 + sigmoid(log(0.1) - ((x-X0)^2 + (y-Y0)^2)/(10 + 4*even*t) - log(1 + 0.4*even*t) + rhobar*t))",
        )
        .observation("whole_tumour", "sigmoid(20*(u - u_wt))", drawn("sigmoid(20*(u + 0.07*field - u_wt))"))
        .likelihood(Likelihood::RelativeL2)
        .observation("tumour_core", "sigmoid(20*(u - u_tc))", drawn("sigmoid(20*(u + 0.07*field - u_tc))"))
        .likelihood(Likelihood::RelativeL2)
        .picture(
            PictureSpec::new("tumour")
                .background("wm + gm/2")
                .field("u")
                .contour(ContourSpec::new("u", "u_wt").data("whole_tumour").name("whole tumour"))
                .contour(ContourSpec::new("u", "u_tc").data("tumour_core").name("tumour core")),
        );
    let builder = constants.into_iter().fold(builder, |builder, (name, value)| builder.constant(name, value));
    settings(
        builder,
        &[
            "network.fast={ width = 40, fourier = { features = 32, scale = 1.2 } }",
            "train.fast.optimiser=soap",
            "train.fast.theta-optimiser=soap",
            "train.fast.rate=3e-3",
            "train.fast.theta-rate=2e-3",
            "train.fast.pretrain-steps=1000",
            "train.fast.train-steps=4500",
            "classical.cells=72",
            "classical.steps=50",
        ],
    )
}

fn heat_initial() -> ProblemBuilder {
    let initial = FunctionSpec::new("f", ["x"], "sin(pi*x)")
        .form("softplus(net)*x*(1-x)")
        .truth("1 - abs(2*x - 1)")
        .nodes([101])
        .regularise(RegulariserKind::H1, 1e-2);
    let about = "Initial temperature f(x) of a cooling rod from its temperature at the end";
    let builder = over("heat-initial", about, Some(1.0))
        .unknown_function(initial)
        .state("u", "net*x*(1-x)*t + f")
        .equation("heat", "u_t - 0.01*u_xx", grid(51, 51))
        .observation("final", "u", DataSpec::synthetic(along_x(11).hold("t", [1.0]), 0.0316227766))
        .likelihood(Likelihood::MeanSquare);
    settings(builder, &["classical.cells=200", "classical.steps=200", "train.paper.train-steps=10000"])
}

fn point_process(name: &str, about: &str, decay: f64) -> ProblemBuilder {
    let source = Formula::parse("z", Origin::none()).expect("a name");
    let quadrature = Quadrature { nodes: vec![(0, 200)], breaks: vec![(0, source)], at: vec![] };
    let builder = over(name, about, None)
        .unknown(Unknown::new("lambda", 250.0).truth(500.0).scale(100.0))
        .unknown(Unknown::new("mu", 5.0).truth(decay))
        .input("phi", "abs(x - z)")
        .state("u", "50*net^2*x*(1-x)")
        .equation("bulk", "u_xx - mu*u", along_x(101).keep("x != z"))
        .equation("jump", "u_phi + lambda/2", PointsSpec::grid([]).follow("x", "z"))
        .observation("particles", "u", DataSpec::drawn())
        .likelihood(Likelihood::PoissonProcess { snapshots: 100.0, quadrature });
    settings(
        builder,
        &[
            "train.fast.optimiser=soap",
            "train.fast.theta-optimiser=soap",
            "train.fast.theta-rate=0.03",
            "train.fast.train-steps=2000",
            "network.paper.layers=4",
            "network.paper.fourier={ features = 64 }",
        ],
    )
}

fn poisson_scalar() -> ProblemBuilder {
    over("poisson-scalar", "Diffusion constant of a steady profile", None)
        .unknown(Unknown::new("D", 1.0).truth(2.0))
        .known_state("u", "net*x*(1-x)", "sin(pi*x)/D")
        .equation("balance", "D*u_xx + pi^2*sin(pi*x)", along_x(101))
        .observation("profile", "u", exact(along_x(51)))
}

fn poisson_variable() -> ProblemBuilder {
    let coefficient = FunctionSpec::new("D", ["x"], "1")
        .form("1 + net*x*(1-x)")
        .truth("if(x < 0.5, 1 + 0.5*x, 1.5 - 0.5*x)")
        .nodes([101])
        .regularise(RegulariserKind::H1, 1e-3);
    let builder = over("poisson-variable", "Diffusion coefficient D(x) of a Poisson equation", None)
        .unknown_function(coefficient)
        .state("u", "net*x*(1-x)")
        .equation("balance", "-div(D*grad(u)) - pi^2*sin(pi*x)", along_x(101))
        .observation("profile", "u", DataSpec::synthetic(along_x(51), 0.01))
        .likelihood(Likelihood::MeanSquare);
    settings(
        builder,
        &[
            "examples={ grid = { x = 101 }, count = 1000, unknown = { D = { sd = 0.2236, length = 0.3 } } }",
            "train.paper.train-steps=10000",
        ],
    )
}

fn reaction_coefficient(name: &str, about: &str, data: usize) -> ProblemBuilder {
    let coefficient = FunctionSpec::new("k", ["x"], "0.5")
        .form("softplus(net)")
        .truth("0.1 + exp(-0.5*((x - 0.5)/0.15)^2)")
        .nodes([101])
        .regularise(RegulariserKind::H1, 1e-6);
    let builder = over(name, about, None)
        .unknown_function(coefficient)
        .state("u", "net*x*(1-x)")
        .equation("balance", "0.01*u_xx - k*u - sin(2*pi*x)", along_x(101))
        .observation("profile", "u", exact(along_x(data)))
        .likelihood(Likelihood::MeanSquare);
    settings(
        builder,
        &[
            "train.fast.optimiser=soap",
            "train.fast.rate=5e-3",
            "train.fast.theta-rate=5e-3",
            "train.paper.train-steps=10000",
        ],
    )
}

fn two_species() -> ProblemBuilder {
    let builder = over("two-species", "Diffusion and conversion rate of two reacting species", Some(1.0))
        .unknown(Unknown::new("D", 0.05).truth(0.1).scale(0.1))
        .unknown(Unknown::new("k", 1.0).truth(2.0))
        .known_state("u", "sin(pi*x) + net*x*(1-x)*t", "exp(-(D*pi^2 + k)*t)*sin(pi*x)")
        .known_state("v", "net*x*(1-x)*t", "exp(-D*pi^2*t)*(1 - exp(-k*t))*sin(pi*x)")
        .equation("consumed", "u_t - D*u_xx + k*u", grid(31, 31))
        .equation("produced", "v_t - D*v_xx - k*u", grid(31, 31))
        .observation("product", "v", exact(grid(31, 31)));
    settings(builder, &["train.fast.pretrain-steps=500", "train.fast.train-steps=1500"])
}

// What a builder says does not depend on the order of its calls, and nothing is lost.

#[test]
fn recipes_and_settings_come_in_any_order() {
    let first = poisson_scalar().recipe(Recipe::Paper).set("train.rate=0.5").build().expect("a problem");
    let last = poisson_scalar().set("train.rate=0.5").recipe(Recipe::Paper).build().expect("a problem");
    assert_eq!(first, last);
    assert_eq!((first.training.rate, first.training.train_steps), (0.5, 50_000));
}

#[test]
fn a_stated_pointwise_gradient_means_a_network() {
    use bilo_problem::OperatorKind::{Automatic, Network};
    let kind = |set: &[&str]| settings(poisson_variable(), set).build().expect("a problem").operator.kind;
    assert_eq!(kind(&[]), Automatic);
    assert_eq!(kind(&["train.gradient=pointwise"]), Network);
    assert_eq!(kind(&["train.gradient=pointwise", "operator.kind=automatic"]), Automatic);
}

fn message(builder: ProblemBuilder) -> String {
    builder.build().expect_err("an error").to_string()
}

#[test]
fn calls_that_are_about_nothing_are_errors() {
    let early = Problem::builder("early").trained_as("u_t").equation("e", "u_t", along_x(3));
    let expected = "error: `trained_as` is about the equation added last, and there is none yet";
    assert_eq!(message(early), expected);
    let early = Problem::builder("early").likelihood(Likelihood::Bernoulli);
    assert_eq!(
        message(early),
        "error: `likelihood` is about the observation added last, and there is none yet"
    );
    let wrong = GivenSpec::diffuse("phi", "wm > 0.5", 3.0).scale(2.0);
    let expected = "error: given.phi: `array`, `along`, `placed`, `scale` and `range` belong to an image";
    assert_eq!(message(poisson_scalar().given(wrong)), expected);
    let wrong = DataSpec::file("a.csv").made_of("u", None);
    let expected = "error: observation.more.data: `made_of` belongs to synthetic data";
    assert_eq!(message(poisson_scalar().observation("more", "u", wrong)), expected);
}

#[test]
fn settings_that_there_are_not_are_errors_that_point_at_them() {
    let wrong = message(poisson_scalar().set("train.rte=1"));
    assert!(wrong.contains("--> set:1:7") && wrong.contains("did you mean `rate`?"), "{wrong}");
    let wrong = message(poisson_scalar().set("trian.rate=1"));
    assert!(
        wrong.contains("no table of settings `trian`") && wrong.contains("did you mean `train`?"),
        "{wrong}"
    );
}

fn dose_escalation() -> ProblemBuilder {
    let samples = PointsSpec::grid([("t", 13)]).keep("t > 0");
    Problem::builder("dose-escalation")
        .about("Absorption, clearance and volume of a drug from three doses")
        .coordinate(Coordinate::time("t", 0.0, 12.0))
        .unknown(Unknown::new("ka", 0.5).truth(1.2))
        .unknown(Unknown::new("CL", 10.0).truth(4.0))
        .unknown(Unknown::new("V", 40.0).truth(25.0).bounds(10.0, 100.0))
        .derived("half_life", "log(2)*V/CL")
        .holds("gut", "A_t = -ka*A")
        .holds("plasma", "C_t = ka*A/V - CL/V*C")
        .condition("swallowed", ("t", 0.0), "A = dose")
        .condition("clean", ("t", 0.0), "C = 0")
        .observation("samples", "C", DataSpec::synthetic(samples, 0.05))
        .experiment("low", |own| own.constant("dose", 50.0))
        .experiment("middle", |own| own.constant("dose", 100.0))
        .experiment("high", |own| own.constant("dose", 200.0))
}

fn cooling_rods() -> ProblemBuilder {
    let probes = PointsSpec::grid([("x", 4), ("t", 13)]).keep("t > 0");
    Problem::builder("cooling-rods")
        .about("Diffusivity and heat transfer of a rod that cools in three surroundings")
        .coordinate(Coordinate::space("x", 0.0, 0.5))
        .coordinate(Coordinate::time("t", 0.0, 3600.0))
        .unknown(Unknown::new("alpha", 1e-5).truth(3e-5))
        .unknown(Unknown::new("h", 2.0).truth(5.0))
        .unknown(Unknown::new("T0", 80.0).truth(90.0))
        .derived("biot", "0.5*h")
        .holds("heat", "T_t = alpha*T_xx")
        .condition("start", ("t", 0.0), "T = T0")
        .condition("insulated", ("x", 0.0), "T_x = 0")
        .condition("cooled", ("x", 0.5), "T_x = -h*(T - Ta)")
        .observation("probes", "T", DataSpec::synthetic(probes, 0.3))
        .experiment("bath", |own| own.constant("Ta", 5.0))
        .experiment("room", |own| own.constant("Ta", 20.0))
        .experiment("oven", |own| own.constant("Ta", 150.0).unknown(Unknown::new("T0", 20.0).truth(25.0)))
}

fn current_patterns() -> ProblemBuilder {
    let electrodes = along_x(9).hold("y", [1.0]);
    Problem::builder("current-patterns")
        .about("Conductivity of a plate from voltages under three patterns of current")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::space("y", 0.0, 1.0))
        .unknown(Unknown::new("s", 1.0).truth(2.0))
        .unknown(Unknown::new("g", 0.1).truth(0.8).signed())
        .holds("charge", "lap(u) + g*u_x = 0")
        .condition("ground", ("y", 0.0), "u = 0")
        .condition("left", ("x", 0.0), "u_x = 0")
        .condition("right", ("x", 1.0), "u_x = 0")
        .condition("current", ("y", 1.0), "s*exp(g*x)*u_y = mean + wave*cos(pi*x)")
        .observation("electrodes", "u", DataSpec::synthetic(electrodes, 0.005))
        .experiment("uniform", |own| own.constant("mean", 1.0).constant("wave", 0.0))
        .experiment("dipole", |own| own.constant("mean", 0.0).constant("wave", 1.0))
        .experiment("both", |own| own.constant("mean", 1.0).constant("wave", -1.0))
}
