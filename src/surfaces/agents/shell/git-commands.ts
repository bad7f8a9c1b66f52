/** What git's commands and options mean for rules. Data only. */

/** Commands of `git`. Any other word may be an alias, which can be any command. */
export const gitCommands: ReadonlySet<string> = new Set(
  `add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore
  check-ref-format checkout cherry cherry-pick clean clone commit config count-objects describe diff
  diff-files diff-index diff-tree difftool fetch filter-branch for-each-ref format-patch fsck gc
  grep hash-object help init log ls-files ls-remote ls-tree maintenance merge merge-base merge-tree
  mergetool mv name-rev notes prune pull push range-diff rebase reflog remote repack replace rerere
  reset restore rev-list rev-parse revert rm send-email shortlog show show-branch show-ref
  sparse-checkout stage stash status submodule switch symbolic-ref tag update-index update-ref var
  verify-commit verify-tag version whatchanged worktree write-tree`.split(/\s+/),
);

/** Options of `git` before its command that take the next word. */
export const gitValued: ReadonlySet<string> = new Set([
  '--attr-source',
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--exec-path',
]);

/** Commands that run commands from elsewhere, whatever their words are. */
export const gitRunners: ReadonlySet<string> = new Set([
  'difftool',
  'filter-branch',
  'mergetool',
  'send-email',
]);

/** For each command, options whose value is a program, or names a folder or setting with one. */
export const programOptions: ReadonlyMap<string, readonly string[]> = new Map(
  `archive --exec
  cat-file --textconv --filters
  clone --upload-pack -u --config -c --template
  diff --ext-diff --textconv
  diff-files --ext-diff --textconv
  diff-index --ext-diff --textconv
  diff-tree --ext-diff --textconv
  fetch --upload-pack
  format-patch --ext-diff --textconv
  blame --textconv
  annotate --textconv
  grep --open-files-in-pager -O --ext-grep --textconv
  help --web -w
  init --template
  log --ext-diff --textconv
  ls-remote --upload-pack --exec
  pull --upload-pack
  push --receive-pack --exec
  range-diff --ext-diff --textconv
  rebase --exec -x
  reflog --ext-diff --textconv
  rev-list --ext-diff
  shortlog --ext-diff
  show --ext-diff --textconv
  stash --ext-diff --textconv
  whatchanged --ext-diff --textconv`
    .split('\n')
    .map((line) => {
      const [command = '', ...options] = line.trim().split(' ');
      return [command, options];
    }),
);

/** Commands whose `-s` or `--strategy` names a program that merges, and the ones that git has. */
export const mergers: ReadonlySet<string> = new Set(
  'merge pull rebase cherry-pick revert'.split(' '),
);
export const strategies: ReadonlySet<string> = new Set(
  'ort recursive resolve octopus ours subtree'.split(' '),
);

/** Commands that only look, whatever their words are, but for options that name a file to write. */
export const gitLookers: ReadonlySet<string> = new Set(
  `annotate blame cat-file check-attr check-ignore check-ref-format cherry count-objects describe
  diff diff-files diff-index diff-tree for-each-ref grep help log ls-files ls-tree merge-base
  name-rev range-diff rev-list rev-parse shortlog show show-branch show-ref status var
  verify-commit verify-tag version whatchanged`.split(/\s+/),
);

/** Commands that change the files that their words name. The others only read them. */
export const gitChangers: ReadonlySet<string> = new Set(
  'archive bundle checkout clone mv restore rm worktree init'.split(' '),
);
