//! Choices that are written as one of some words.

/// A choice that is written as one of some words; the words are declared here and nowhere else.
pub trait Words: Copy + PartialEq + 'static {
    /// Every word with what it means, in the order in which errors list them.
    const ALL: &'static [(&'static str, Self)];

    /// Every word.
    const NAMES: &'static [&'static str];

    /// The word of a choice.
    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, choice)| *choice == self).map_or("", |(word, _)| word)
    }
}

/// Declares the words of an enum; every variant has one.
macro_rules! words {
    ($choice:ty { $($word:literal => $variant:ident),+ $(,)? }) => {
        impl $crate::words::Words for $choice {
            const ALL: &'static [(&'static str, Self)] = &[$(($word, <$choice>::$variant)),+];
            const NAMES: &'static [&'static str] = &[$($word),+];
        }
    };
}

pub(crate) use words;
