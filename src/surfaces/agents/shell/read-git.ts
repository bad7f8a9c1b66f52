/** Reads the words after `git` as git does. */

import type { Collected } from './collected.ts';
import {
  gitCommands,
  gitRunners,
  gitValued,
  mergers,
  programOptions,
  strategies,
} from './git-commands.ts';
import { hasOption, type Invocation, invocationOf } from './invocation.ts';

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
