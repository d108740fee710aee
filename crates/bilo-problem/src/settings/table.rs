//! Tables of settings: what is declared in one place.

use crate::diagnostic::Result;
use crate::schema::kind::Key;
use crate::settings::recipe::Recipe;
use crate::settings::value::{Context, Stated};
use crate::tree::Node;
use crate::tree::reader::Reader;

/// A struct of settings, each of them a key of one table of the problem file.
pub(crate) trait Settings: Sized + 'static {
    /// The keys, in the order in which errors list them.
    const KEYS: &'static [Key];

    /// How to get at each of them.
    const ACCESS: &'static [Access<Self>];

    /// What holds where nothing is stated.
    fn of(recipe: Recipe) -> Self;
}

/// How to get at a setting.
pub(crate) struct Access<T> {
    pub(crate) read: fn(&mut T, &Stated<'_>) -> Result<()>,
    pub(crate) write: fn(&T, &Context<'_>) -> Option<String>,
    /// Whether it says anything beside the others.
    pub(crate) applies: fn(&T) -> bool,
}

/// Puts what a table states over what the settings say so far.
pub(crate) fn read_over<T: Settings>(
    reader: &Reader<'_>,
    context: &Context<'_>,
    settings: &mut T,
) -> Result<()> {
    for (key, access) in T::KEYS.iter().zip(T::ACCESS) {
        if let Some(node) = reader.get(key.name) {
            let path = reader.path(key.name);
            (access.read)(settings, &Stated { node, key, path: &path, context })?;
        }
    }
    Ok(())
}

/// A setting that is stated and says nothing beside the others.
pub(crate) fn idle<'a, T: Settings>(reader: &Reader<'a>, settings: &T) -> Option<(&'static str, &'a Node)> {
    let mut all = T::KEYS.iter().zip(T::ACCESS).filter(|(_, access)| !(access.applies)(settings));
    all.find_map(|(key, _)| Some((key.name, reader.get(key.name)?)))
}

/// The settings as lines of a problem file.
pub(crate) fn lines<T: Settings>(settings: &T, context: &Context<'_>) -> String {
    let line = |(key, access): (&Key, &Access<T>)| {
        let value = (access.write)(settings, context).filter(|_| (access.applies)(settings))?;
        Some(format!("{} = {value}\n", key.name))
    };
    T::KEYS.iter().zip(T::ACCESS).filter_map(line).collect()
}

/// A default as the book shows it.
pub(crate) fn shown(value: Option<String>) -> String {
    value.map_or("none".to_owned(), |value| format!("`{}`", value.strip_suffix(".0").unwrap_or(&value)))
}

/// Declares a struct of settings. Each is
///
/// ```text
/// "name" field: Type = default, paper default, shown "default in words";
///     kind, "meaning", said "kind in words", when |settings| whether it says anything;
/// ```
///
/// where all but the name, the field, one default, the kind and the meaning may be left out: the recipe `paper`
/// then has the default of `fast`, and the book shows the values themselves. Fields after `with` are no settings;
/// they are made by a function of the recipe.
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct $table:ident {
            $(
                $name:literal $field:ident: $type:ty = $fast:expr
                    $(, paper $paper:expr)? $(, shown $shown:literal)?;
                    $kind:expr, $meaning:literal $(, said $words:literal)? $(, when $applies:expr)?;
            )*
        }
        $(with $($(#[$more_attribute:meta])* $more:ident: $more_type:ty = $more_of:expr;)*)?
    ) => {
        $(#[$attribute])*
        pub struct $table {
            $($($(#[$more_attribute])* pub $more: $more_type,)*)?
            $(#[doc = $meaning] pub $field: $type,)*
        }

        impl $crate::settings::table::Settings for $table {
            const KEYS: &'static [$crate::schema::kind::Key] = &[$($crate::schema::kind::Key {
                name: $name,
                kind: $kind,
                words: $crate::settings::table::settings!(@words $($words)?),
                fallback: $crate::settings::table::settings!(@fallback $table $field $($shown)?),
                meaning: $meaning,
            }),*];

            const ACCESS: &'static [$crate::settings::table::Access<Self>] =
                &[$($crate::settings::table::Access {
                    read: |table, stated| $crate::settings::value::Value::read(&mut table.$field, stated),
                    write: |table, context| $crate::settings::value::Value::write(&table.$field, context),
                    applies: $crate::settings::table::settings!(@applies $($applies)?),
                }),*];

            fn of(recipe: $crate::settings::Recipe) -> Self {
                let fast = recipe == $crate::settings::Recipe::Fast;
                Self {
                    $($field: if fast { $fast } else {
                        $crate::settings::table::settings!(@paper $fast $(, $paper)?)
                    },)*
                    $($($more: ($more_of)(recipe),)*)?
                }
            }
        }
    };
    (@words) => { None };
    (@words $words:literal) => { Some($words) };
    (@paper $fast:expr) => { $fast };
    (@paper $fast:expr, $paper:expr) => { $paper };
    (@applies) => { |_| true };
    (@applies $applies:expr) => { $applies };
    (@fallback $table:ident $field:ident $shown:literal) => { $crate::schema::kind::Fallback::Is($shown) };
    (@fallback $table:ident $field:ident) => {
        $crate::schema::kind::Fallback::OfRecipes(|| {
            use $crate::settings::{Context, Recipe, table, value::Value};
            let default = |recipe| <$table as table::Settings>::of(recipe).$field.write(&Context::default());
            [table::shown(default(Recipe::Fast)), table::shown(default(Recipe::Paper))]
        })
    };
}

pub(crate) use settings;
