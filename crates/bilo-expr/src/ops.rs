//! The operations shared by graph, tape and evaluation.

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unary {
    /// `-x`
    Neg,
    /// `sin(x)`
    Sin,
    /// `cos(x)`
    Cos,
    /// `tan(x)`
    Tan,
    /// `asin(x)`
    Asin,
    /// `acos(x)`
    Acos,
    /// `atan(x)`
    Atan,
    /// `sinh(x)`
    Sinh,
    /// `cosh(x)`
    Cosh,
    /// `tanh(x)`
    Tanh,
    /// `asinh(x)`
    Asinh,
    /// `exp(x)`
    Exp,
    /// The natural logarithm `log(x)`
    Log,
    /// `sqrt(x)`
    Sqrt,
    /// `abs(x)`
    Abs,
    /// `sign(x)`: -1, 0 or 1
    Sign,
    /// `sigmoid(x) = 1/(1 + exp(-x))`
    Sigmoid,
    /// `softplus(x) = log(1 + exp(x))`
    Softplus,
    /// The error function `erf(x)`
    Erf,
}

impl Unary {
    /// The name in the language (`-` for [`Unary::Neg`]).
    pub fn name(self) -> &'static str {
        match self {
            Unary::Neg => "-",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            Unary::Asin => "asin",
            Unary::Acos => "acos",
            Unary::Atan => "atan",
            Unary::Sinh => "sinh",
            Unary::Cosh => "cosh",
            Unary::Tanh => "tanh",
            Unary::Asinh => "asinh",
            Unary::Exp => "exp",
            Unary::Log => "log",
            Unary::Sqrt => "sqrt",
            Unary::Abs => "abs",
            Unary::Sign => "sign",
            Unary::Sigmoid => "sigmoid",
            Unary::Softplus => "softplus",
            Unary::Erf => "erf",
        }
    }
}

/// Functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Binary {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a*b`
    Mul,
    /// `a/b`
    Div,
    /// `a^b` for an exponent that is not a small integer
    Pow,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
    /// 1 where the comparison holds, 0 elsewhere
    Compare(Comparison),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Comparison {
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterEqual,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
}

impl Comparison {
    /// The operator as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
        }
    }
}
