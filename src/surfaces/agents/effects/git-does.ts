/** What a command of git does, where it depends on more than a list of its words. */

import { hasExactly, hasOption } from '../shell/invocation.ts';
import { type GitWords, gitChangers, gitLookers, gitWords } from '../shell/read-git.ts';
import type { Found } from './match.ts';

/** Whether something is at a path of the line. */
type Exists = (path: string) => boolean;

/** @param words git's words from its command on */
export function gitDoes(words: readonly string[], exists: Exists): readonly Found[] {
  const git = gitWords(words);
  switch (git.command) {
    case 'checkout':
      return takesFiles(git, exists) ? [lost('replaces files')] : [];
    case 'restore':
      return onlyIndex(git) ? [] : [lost('replaces files')];
    case 'reset':
      return movesBranch(git, exists)
        ? [{ does: 'loses-work', because: 'moves the branch to another commit' }]
        : [];
    case 'clean':
      return isDryRun(words) ? [] : [lost('removes files that git does not know')];
    case 'config':
      return readsConfig(git)
        ? []
        : [{ does: 'changes-settings', because: 'changes settings of git' }];
    default:
      return [];
  }
}

function lost(because: string): Found {
  return { does: 'loses-work', because };
}

/** `git checkout .`, `git checkout HEAD src`, `git checkout -- x`, and not `git checkout main`. */
function takesFiles({ given, operands, paths }: GitWords, exists: Exists): boolean {
  if (paths !== undefined) return paths.length > 0 || operands.length > 1;
  const named = ['--pathspec-from-file', '--ours', '--theirs', '--patch', '-p', '--overlay'];
  if (named.some((option) => hasOption(given, option))) return true;
  const makesBranch = ['-b', '-B', '--orphan', '--track', '-t', '--detach'].some((option) =>
    hasOption(given, option),
  );
  if (makesBranch) return false;
  const [first] = operands;
  if (operands.length > 1) return true;
  return first !== undefined && (/^:|[*?[]/.test(first) || (first !== '-' && exists(first)));
}

/** `git reset HEAD~1`, and not `git reset`, `git reset HEAD x` and `git reset x`. */
function movesBranch({ operands, paths }: GitWords, exists: Exists): boolean {
  const [to, ...more] = operands;
  if (to === undefined || more.length > 0 || (paths?.length ?? 0) > 0) return false;
  return !/^(?:HEAD|@)$/.test(to) && !exists(to);
}

/** `git restore --staged x` takes nothing out of the files. */
function onlyIndex({ given }: GitWords): boolean {
  const isStaged = hasExactly(given, '--staged') || given.options.includes('-S');
  return isStaged && !hasOption(given, '--worktree') && !hasOption(given, '-W');
}

/** `git clean -n`, `git clean -ndx`; and not `git clean -fen`, where `n` is a pattern. */
function isDryRun(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  const options = end === -1 ? words : words.slice(0, end);
  return options.some(
    (word, at) =>
      (word === '--dry-run' || /^-(?=[dfqxX]*n)[dfnqxX]+$/.test(word)) &&
      !/^(?:--exclude|-[a-zA-Z]*e)$/.test(options[at - 1] ?? ''),
  );
}

const configReads = /^--(?:get|get-all|get-regexp|get-urlmatch|get-color|get-colorbool|list)$/;

/** `git config user.email`, `git config --get x`, `git config list`. */
function readsConfig({ given, operands }: GitWords): boolean {
  const [first] = operands;
  const writes = ['--add', '--unset', '--unset-all', '--replace-all', '--rename-section'];
  if (hasOption(given, '--edit') || hasOption(given, '-e')) return false;
  if (writes.some((one) => given.options.some((word) => word.length > 3 && one.startsWith(word))))
    return false;
  if (hasOption(given, '--remove-section')) return false;
  if (given.options.some((word) => configReads.test(word) || word === '-l')) return true;
  if (first === 'get' || first === 'list') return true;
  return (
    operands.length === 1 && !/^(?:set|unset|edit|rename-section|remove-section)$/.test(first ?? '')
  );
}

/** Whether a command of git only looks. */
export function gitOnlyLooks(words: readonly string[]): boolean {
  const git = gitWords(words);
  const { command, given, operands } = git;
  if (given.options.some((one) => one.length > 3 && '--output'.startsWith(one))) return false;
  // Files that git does not know may be secrets.
  if (command === 'grep' && given.options.some((one) => /^--(?:no-i|no-ex|unt)/.test(one)))
    return false;
  if (gitLookers.has(command)) return true;
  const [first] = operands;
  const isList = given.options.every((one) => listing.has(one));
  switch (command) {
    case 'branch':
      return isList && (operands.length === 0 || given.options.some((one) => asking.test(one)));
    case 'tag':
      return isList && (operands.length === 0 || given.options.some((one) => asking.test(one)));
    case 'remote':
      return operands.length === 0 || first === 'get-url';
    case 'stash':
      return first === 'list' || first === 'show';
    case 'worktree':
    case 'notes':
    case 'sparse-checkout':
      return first === 'list';
    case 'reflog':
      return first === undefined || first === 'show' || first === 'exists';
    case 'config':
      return readsConfig(git);
    case 'submodule':
      return first === 'status' || first === 'summary';
    case 'symbolic-ref':
      return operands.length === 1 && !given.letters.has('d');
    default:
      return false;
  }
}

const listing: ReadonlySet<string> = new Set(
  `-a -r -v -vv -l -n --all --remotes --list --verbose --show-current --merged --no-merged
  --contains --no-contains --sort --format --points-at --column --no-column --color --no-color
  -i --ignore-case`.split(/\s+/),
);
/** With one of these, the words are patterns or commits. */
const asking = /^(?:-l|--list|--merged|--no-merged|--contains|--no-contains|--points-at)$/;

/** Words of git that may be files. */
interface GitFiles {
  readonly changes: readonly string[];
  readonly reads: readonly string[];
  /** It only looks whether they exist, or what git knows about them. */
  readonly names: readonly string[];
}

export function gitFiles(words: readonly string[]): GitFiles {
  const [command = '', ...rest] = words;
  const named = takesMessage.has(command)
    ? rest.filter(
        (word, at) =>
          !/^(?:-[A-Za-z]*m|--message)$/.test(rest[at - 1] ?? '') &&
          !/^(?:-[A-Za-z]*m|--message=)./.test(word),
      )
    : rest;
  const none: GitFiles = { changes: [], reads: [], names: [] };
  if (gitNamers.has(command)) return { ...none, names: named };
  // `git rm --cached` keeps the file.
  if (command === 'rm' && rest.includes('--cached')) return { ...none, names: named };
  if (command === 'restore' && onlyIndex(gitWords(words))) return { ...none, names: named };
  const changes = command === 'config' ? !readsConfig(gitWords(words)) : gitChangers.has(command);
  if (changes) return { ...none, changes: named };
  return { ...none, reads: named, changes: rest.filter((word) => /^--ou[a-z]*=/.test(word)) };
}

/** Commands that do not read the files that their words name. */
const gitNamers: ReadonlySet<string> = new Set(
  'check-attr check-ignore ls-files status update-index'.split(' '),
);

/** The word after `-m` is a text. */
const takesMessage: ReadonlySet<string> = new Set(['commit', 'tag', 'merge', 'stash', 'notes']);
