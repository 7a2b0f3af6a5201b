//! The files of the repository, read once.
//!
//! The walk goes by the folders on disk and the names in the top `.gitignore`, not by git: it
//! works in an unpacked archive, and it sees a new file before it is added.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context as _;

/// Larger files are data; no rule reads them.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// One file of the repository.
#[derive(Debug, Clone)]
pub struct File {
    /// Its path from the top of the repository, with `/` between the parts.
    pub path: String,
    /// Its text; empty when it is not UTF-8 or larger than 4 MiB.
    pub text: String,
}

impl File {
    /// The name without its folders.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the name ends with this extension, given without its dot.
    #[must_use]
    pub fn has_extension(&self, extension: &str) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, end)| end == extension)
    }
}

/// Every file of the repository that is not ignored.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: Vec<File>,
}

impl Tree {
    /// Reads the repository that this package stands in.
    ///
    /// # Errors
    /// When a folder or file cannot be read.
    pub fn of_this_repository() -> anyhow::Result<Self> {
        let top = top();
        let ignored = ignored_names(&top)?;
        let mut tree = Self::default();
        tree.walk(&top, "", &ignored)?;
        tree.files.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(tree)
    }

    /// A tree of these paths and texts, for the tests of the rules.
    #[must_use]
    pub fn planted(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| File { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        Self { files }
    }

    /// All files, by path.
    #[must_use]
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The files that end with this extension, given without its dot.
    pub fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.has_extension(extension))
    }

    /// The file at this path.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a file lies somewhere under this folder; the top is the empty path.
    #[must_use]
    pub fn has_folder(&self, path: &str) -> bool {
        path.is_empty()
            || self
                .files
                .iter()
                .any(|file| file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    }

    fn walk(&mut self, folder: &Path, prefix: &str, ignored: &[String]) -> anyhow::Result<()> {
        let entries =
            fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if name == ".git" || ignored.contains(&name) || kind.is_symlink() {
                continue;
            }
            let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            if kind.is_dir() {
                self.walk(&entry.path(), &path, ignored)?;
            } else {
                self.files.push(File { text: text_of(&entry.path())?, path });
            }
        }
        Ok(())
    }
}

/// The top folder of the repository. Asked when the test runs, as cargo tells it then: a build that
/// two clones share would otherwise remember the clone that compiled it.
#[must_use]
pub fn top() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let package = package.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    package.ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

/// The plain names in the top `.gitignore`. A pattern with `*` is not understood and not needed.
fn ignored_names(top: &Path) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(top.join(".gitignore")).context("reading .gitignore")?;
    let names = text.lines().map(|line| line.trim().trim_matches('/').to_owned());
    Ok(names.filter(|name| !name.is_empty() && !name.starts_with('#')).collect())
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    if fs::metadata(path)?.len() > FILE_BYTES_MAX {
        return Ok(String::new());
    }
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(String::from_utf8(bytes).unwrap_or_default())
}
