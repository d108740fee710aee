//! Tapes as straight-line code for one point.

use super::code::{Code, number_as};
use bilo_expr::{Binary, Instruction, Tape, Unary};

/// Writes a tape whose inputs are the given expressions; the instructions' results are variables of this type
/// named by the prefix and their position. Returns the outputs' names.
pub(super) fn evaluate(
    code: &mut Code,
    tape: &Tape,
    real: &str,
    prefix: &str,
    inputs: &dyn Fn(usize) -> String,
) -> Vec<String> {
    let name = |position: u32| format!("{prefix}{position}");
    let used = used(tape);
    for (position, instruction) in tape.code().iter().enumerate().filter(|(position, _)| used[*position]) {
        let value = match *instruction {
            Instruction::Input(number) => inputs(number as usize),
            Instruction::Constant(value) => number_as(real, value),
            Instruction::Unary(Unary::Neg, a) => format!("-{}", name(a)),
            Instruction::Unary(op, a) => format!("f_{}({})", op.name(), name(a)),
            Instruction::Power(a, n) => power(&name(a), n),
            Instruction::Binary(op, a, b) => binary(op, &name(a), &name(b)),
            Instruction::Select(c, a, b) => format!("{} != 0 ? {} : {}", name(c), name(a), name(b)),
        };
        code.line(format!("const {real} {prefix}{position} = {value};"));
    }
    tape.outputs().iter().map(|&position| name(position)).collect()
}

/// Writes the reverse sweep of a tape that [`evaluate`] has written in `real` with this prefix, from one seed per
/// output (none for zero). Returns the adjoints of the inputs, none where it is zero.
pub(super) fn adjoint(
    code: &mut Code,
    tape: &Tape,
    prefix: &str,
    seeds: &[Option<String>],
) -> Vec<Option<String>> {
    let adjoint = |position: u32| format!("{prefix}a{position}");
    let reached = reached(tape, seeds);
    for (position, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
        code.line(format!("real {prefix}a{position} = 0;"));
    }
    for (seed, &output) in seeds.iter().zip(tape.outputs()) {
        if let (Some(seed), true) = (seed, reached[output as usize]) {
            code.line(format!("{} += {seed};", adjoint(output)));
        }
    }
    let inputs = tape.inputs().len();
    for position in (inputs..tape.len()).rev().filter(|&position| reached[position]) {
        for (operand, slope) in slopes(tape, position, prefix) {
            if reached[operand as usize] {
                let g = adjoint(position as u32);
                code.line(format!("{} += pulled<real>({g}, {slope});", adjoint(operand)));
            }
        }
    }
    (0..inputs).map(|input| reached[input].then(|| adjoint(input as u32))).collect()
}

/// Which instructions the outputs need.
fn used(tape: &Tape) -> Vec<bool> {
    let mut used = vec![false; tape.len()];
    tape.outputs().iter().for_each(|&output| used[output as usize] = true);
    for position in (0..tape.len()).rev() {
        if used[position] {
            tape.code()[position].operands().for_each(|operand| used[operand] = true);
        }
    }
    used
}

/// Which instructions depend on inputs and are needed by outputs that have a seed.
fn reached(tape: &Tape, seeds: &[Option<String>]) -> Vec<bool> {
    let mut varies = vec![false; tape.len()];
    for (position, instruction) in tape.code().iter().enumerate() {
        varies[position] = matches!(instruction, Instruction::Input(_))
            || instruction.operands().any(|operand| varies[operand]);
    }
    let mut reached = vec![false; tape.len()];
    for (_, &output) in seeds.iter().zip(tape.outputs()).filter(|(seed, _)| seed.is_some()) {
        reached[output as usize] = true;
    }
    for position in (0..tape.len()).rev() {
        reached[position] &= varies[position];
        if reached[position] {
            tape.code()[position].operands().for_each(|operand| reached[operand] = true);
        }
    }
    // Operands of a constant part were marked before it was known to be one.
    (0..tape.len()).for_each(|position| reached[position] &= varies[position]);
    reached
}

fn power(base: &str, n: i32) -> String {
    match n {
        1 => base.into(),
        2 => format!("{base}*{base}"),
        3 => format!("{base}*{base}*{base}"),
        _ => format!("power({base}, {n})"),
    }
}

fn binary(op: Binary, a: &str, b: &str) -> String {
    match op {
        Binary::Add => format!("{a} + {b}"),
        Binary::Sub => format!("{a} - {b}"),
        Binary::Mul => format!("{a}*{b}"),
        Binary::Div => format!("{a}/{b}"),
        Binary::Pow => format!("f_pow({a}, {b})"),
        Binary::Min => format!("f_min({a}, {b})"),
        Binary::Max => format!("f_max({a}, {b})"),
        Binary::Compare(comparison) => format!("{a} {} {b}", comparison.name()),
    }
}

/// The operands of an instruction with its derivatives by them, in the forms of [`bilo_expr`]'s own sweep.
fn slopes(tape: &Tape, position: usize, prefix: &str) -> Vec<(u32, String)> {
    let name = |position: u32| format!("{prefix}{position}");
    let y = name(position as u32);
    match tape.code()[position] {
        Instruction::Input(_) | Instruction::Constant(_) => vec![],
        Instruction::Unary(op, a) => {
            unary_slope(op, &name(a), &y).map(|slope| (a, slope)).into_iter().collect()
        }
        Instruction::Power(a, n) => vec![(a, format!("{n}*({})", power(&name(a), n - 1)))],
        Instruction::Binary(op, a, b) => {
            let [by_a, by_b] = binary_slopes(op, &name(a), &name(b), &y);
            by_a.map(|slope| (a, slope)).into_iter().chain(by_b.map(|slope| (b, slope))).collect()
        }
        Instruction::Select(c, a, b) => {
            let c = name(c);
            vec![(a, format!("(real)({c} != 0)")), (b, format!("(real)({c} == 0)"))]
        }
    }
}

fn unary_slope(op: Unary, x: &str, y: &str) -> Option<String> {
    Some(match op {
        Unary::Neg => "(real)-1".into(),
        Unary::Sin => format!("f_cos({x})"),
        Unary::Cos => format!("-f_sin({x})"),
        Unary::Tan => format!("1 + {y}*{y}"),
        Unary::Asin => format!("1/f_sqrt(1 - {x}*{x})"),
        Unary::Acos => format!("-1/f_sqrt(1 - {x}*{x})"),
        Unary::Atan => format!("1/(1 + {x}*{x})"),
        Unary::Sinh => format!("f_cosh({x})"),
        Unary::Cosh => format!("f_sinh({x})"),
        Unary::Tanh => format!("power(f_cosh({x}), -2)"),
        Unary::Asinh => format!("1/f_sqrt(1 + {x}*{x})"),
        Unary::Exp => y.into(),
        Unary::Log => format!("1/{x}"),
        Unary::Sqrt => format!("(real)0.5/{y}"),
        Unary::Abs => format!("f_sign({x})"),
        Unary::Sign => return None,
        Unary::Sigmoid => format!("{y}*f_sigmoid(-{x})"),
        Unary::Softplus => format!("f_sigmoid({x})"),
        Unary::Erf => format!("(real)1.1283791670955126*f_exp(-({x}*{x}))"),
    })
}

fn binary_slopes(op: Binary, a: &str, b: &str, y: &str) -> [Option<String>; 2] {
    let [by_a, by_b] = match op {
        Binary::Add => ["(real)1".into(), "(real)1".into()],
        Binary::Sub => ["(real)1".into(), "(real)-1".into()],
        Binary::Mul => [b.into(), a.into()],
        Binary::Div => [format!("1/{b}"), format!("-{y}/{b}")],
        Binary::Pow => [format!("{b}*f_pow({a}, {b} - 1)"), format!("{y}*f_log_of_base({a})")],
        Binary::Min => [format!("(real)({a} < {b})"), format!("(real)!({a} < {b})")],
        Binary::Max => [format!("(real)({a} > {b})"), format!("(real)!({a} > {b})")],
        Binary::Compare(_) => return [None, None],
    };
    [Some(by_a), Some(by_b)]
}
