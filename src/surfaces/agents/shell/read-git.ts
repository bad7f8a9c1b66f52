/** Reads the words after `git` as git does. */

import { hasOption, type Invocation, invocationOf } from './invocation.ts';
import type { Collected } from './listing.ts';

/** Leaves out the options before git's command, so that rules see `git push`. */
export function readGit(args: readonly string[], to: Collected): void {
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at] as string;
    if (!word.startsWith('-')) break;
    // The repository may be in any folder, and its configuration names programs.
    if (/^(?:-c|--config-env|--exec-path|--git-dir)/.test(word))
      to.unclear(`\`git ${word.slice(0, 80)}\` can make git run other commands`);
    if (gitValued.has(word)) at++;
  }
  const own = args.slice(at);
  const [command] = own;
  if (!to.add('git', own) || command === undefined) return;
  if (!gitCommands.has(command))
    return to.unclear(`\`git ${command.slice(0, 80)}\` may be an alias`);
  const running = runs(command, own.slice(1));
  if (running !== undefined) to.unclear(`\`git ${command}${running}\` can run other commands`);
}

/** Commands whose words may be addresses of other repositories. */
const reaches: ReadonlySet<string> = new Set(
  'archive clone fetch ls-remote pull push remote submodule'.split(' '),
);

/** What makes a command of git run a program; undefined if nothing does. */
function runs(command: string, words: readonly string[]): string | undefined {
  if (gitRunners.has(command)) return '';
  if (command === 'bisect' && words.includes('run')) return ' run';
  if (command === 'submodule' && words.includes('foreach')) return ' foreach';
  // `ext::PROGRAM`, and other helpers of git for addresses.
  const helper = /^(?:--?[\w-]{1,64}=)?[A-Za-z0-9+.-]{1,64}::/;
  const named = reaches.has(command) ? words.find((word) => helper.test(word)) : undefined;
  if (named !== undefined) return ` ${named.slice(0, 80)}`;
  const given = invocationOf('git', words);
  const option = programOptions.get(command)?.find((one) => hasOption(given, one));
  if (option !== undefined) return ` ${option}`;
  return mergers.has(command) ? foreignStrategy(command, words) : undefined;
}

/** `git merge -s NAME` runs `git-merge-NAME`, if git has no such strategy. */
function foreignStrategy(command: string, words: readonly string[]): string | undefined {
  // In the others, `-s` adds a line to the message.
  const takesLetter = command !== 'cherry-pick' && command !== 'revert';
  for (const [at, word] of words.entries()) {
    const [, long, value] = /^(--str[a-z]*)(?:=(.*))?$/s.exec(word) ?? [];
    const [, joined] = takesLetter ? (/^-[A-Za-z]*?s(.*)$/s.exec(word) ?? []) : [];
    const isLong = long !== undefined && '--strategy'.startsWith(long);
    if (!isLong && joined === undefined) continue;
    const name = (isLong ? value : joined) || words[at + 1];
    if (name !== undefined && !strategies.has(name)) return ` --strategy ${name.slice(0, 80)}`;
  }
  return undefined;
}

/** A command of git with its words, for what it does. */
export interface GitWords {
  readonly command: string;
  readonly given: Invocation;
  /** Words that are no options and no values, before `--`. */
  readonly operands: readonly string[];
  /** Words after `--`; undefined if there is none. */
  readonly paths: readonly string[] | undefined;
}

/** Options with a value, of the commands for which it matters which words are paths. */
const valued: ReadonlyMap<string, readonly string[]> = new Map([
  ['checkout', ['-b', '-B', '--orphan', '--conflict', '--pathspec-from-file']],
  ['restore', ['-s', '--source', '--conflict', '--pathspec-from-file']],
  ['config', ['-f', '--file', '--blob', '--type', '--default', '--comment', '--value', '--url']],
]);

/** @param words git's words from its command on */
export function gitWords(words: readonly string[]): GitWords {
  const [command = '', ...rest] = words;
  const end = rest.indexOf('--');
  const before = end === -1 ? rest : rest.slice(0, end);
  const takes = valued.get(command) ?? [];
  const operands: string[] = [];
  for (let at = 0; at < before.length; at++) {
    const word = before[at] as string;
    if (!word.startsWith('-') || word === '-') operands.push(word);
    else if (takes.some((one) => takesNext(word, one))) at++;
  }
  return {
    command,
    given: invocationOf('git', before),
    operands,
    paths: end === -1 ? undefined : rest.slice(end + 1),
  };
}

/** Whether the next word is the value of this option: `-b`, `-qb`, `--source`, `--sour`. */
function takesNext(word: string, option: string): boolean {
  if (option.startsWith('--')) return word.length > 3 && option.startsWith(word);
  return /^-[A-Za-z]+$/.test(word) && word.endsWith(option.slice(1));
}

// What git's commands and options mean for rules. Data only.

/** Commands of `git`. Any other word may be an alias, which can be any command. */
const gitCommands: ReadonlySet<string> = new Set(
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
const gitValued: ReadonlySet<string> = new Set([
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
const gitRunners: ReadonlySet<string> = new Set([
  'difftool',
  'filter-branch',
  'mergetool',
  'send-email',
]);

/** For each command, options whose value is a program, or names a folder or setting with one. */
const programOptions: ReadonlyMap<string, readonly string[]> = new Map(
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
const mergers: ReadonlySet<string> = new Set('merge pull rebase cherry-pick revert'.split(' '));
const strategies: ReadonlySet<string> = new Set(
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
