/** Which words of a command are files, and whether it only reads them. */
import { basename } from 'node:path';
import { wrappers } from '../shell/wrappers.ts';
import { gitFiles } from './git-does.ts';

/** The words of a command that may be files. */
export interface Roles {
  /** It reads what is in them. */
  readonly reads: readonly string[];
  /** It only looks whether they exist, or lists them. */
  readonly names: readonly string[];
  /** It prints them. They matter only if something else reads what is printed. */
  readonly says: readonly string[];
  /** It writes to them. */
  readonly changes: readonly string[];
  /** It writes to them without reading them. */
  readonly writes: readonly string[];
  /** It renames, removes or replaces them, with what is in them. */
  readonly replaces: readonly string[];
  /** Folders into which it writes files that the line does not name. */
  readonly fills: readonly string[];
}

const none: Roles = {
  reads: [],
  names: [],
  says: [],
  changes: [],
  writes: [],
  replaces: [],
  fills: [],
};

/** Programs that do not look into files. */
const namers = new Set(
  `[ basename cd command dirname du file hash ls popd pushd readlink realpath stat test tree type
  which`.split(/\s+/),
);
/** Programs whose words are texts. */
const talkers = new Set(
  ': [[ echo expr false kill let printf seq sleep tr true unset wait'.split(' '),
);
/** Builtins that give values to variables. */
const setters = new Set('declare export local read readonly set typeset'.split(' '));
/** Programs whose first word is a pattern or a script, and the options that give it instead. */
const scripted: ReadonlyMap<string, readonly string[]> = new Map(
  `ack -f
  ag -f
  awk -f --file
  egrep -e -f --regexp --file
  fgrep -e -f --regexp --file
  gawk -f --file
  grep -e -f --regexp --file
  jq -f --from-file
  mawk -f
  rg -e -f --regexp --file --files
  sed -e -f --expression --file
  yq -f --from-file
  zgrep -e -f --regexp --file`
    .split('\n')
    .map((line) => {
      const [program = '', ...options] = line.trim().split(' ');
      return [program, options];
    }),
);
/** Options whose value is a text. In other programs, the same letters may take no value. */
const texts: ReadonlyMap<string, RegExp> = new Map([
  ['ack', /^--match$/],
  ['egrep', /^(?:-e|--regexp)$/],
  ['fgrep', /^(?:-e|--regexp)$/],
  ['gh', /^(?:-[tb]|--(?:title|body|message))$/],
  ['glab', /^(?:-[tdm]|--(?:title|description|message))$/],
  ['grep', /^(?:-e|--regexp)$/],
  ['jq', /^--arg$/],
  ['rg', /^(?:-e|--regexp)$/],
  ['sed', /^(?:-e|--expression)$/],
  ['zgrep', /^(?:-e|--regexp)$/],
]);
/** Options whose value is a pattern of files that are left out. */
const leftOut = /^--?(?:exclude|ignore)[\w-]{0,20}=/;
const leavesOut = /^--(?:exclude|exclude-dir|ignore-pattern|ignore-path)$/;
/** Programs that change the last word and read the others, unless an option names the target. */
const copiers = new Set(['cp', 'install', 'ln', 'mv', 'rsync', 'scp']);
const removers = new Set(['rm', 'rmdir', 'unlink', 'shred', 'trash', 'trash-put', 'rimraf', 'srm']);

/** Whether a word is a folder that exists. */
export type IsFolder = (word: string) => boolean;

/** @param onlyLooks Whether the command only looks */
export function rolesOf(
  program: string,
  words: readonly string[],
  onlyLooks: boolean,
  isFolder: IsFolder,
): Roles {
  if (program === 'git') return { ...none, ...gitFiles(words), ...gitReplaces(words) };
  if (program === 'source' || program === '.') return { ...none, reads: words };
  // It reads the words of another command from a file, or from what is printed.
  if (program === 'xargs') return { ...none, reads: words };
  // The command that it runs is read on its own.
  if (wrappers.has(program)) return none;
  if (talkers.has(program)) return { ...none, says: words };
  // Another command may use the values.
  if (setters.has(program)) return { ...none, reads: words };
  // `file -f x` and `du --files0-from=x` print what is in the file.
  if (namers.has(program) && (onlyLooks || !/^(?:du|file|tree)$/.test(program)))
    return { ...none, names: words };
  if (program === 'find' || program === 'fd' || program === 'bfs') return find(words);
  if (program === 'mkdir') return { ...none, names: words };
  if (program === 'touch' || program === 'tee') return { ...none, writes: operandsOf(words) };
  if (copiers.has(program)) return copy(program, words, isFolder);
  if (removers.has(program)) return { ...none, replaces: operandsOf(words) };
  const files = withoutTexts(program, words);
  if (onlyLooks) return { ...none, reads: files };
  return { ...none, changes: files, fills: fillers.get(program)?.(words) ? filled(words) : [] };
}

const always = (): boolean => true;
const unpacks = (words: readonly string[]): boolean =>
  words.some((word, at) =>
    (at === 0 ? /^-?[A-Za-z]*x|^e$/ : /^-[A-Za-z]*x|^--(?:ex|ge)/).test(word),
  );
/** When programs change what is in a folder that they name, or who may open it. */
const fillers: ReadonlyMap<string, (words: readonly string[]) => boolean> = new Map([
  ...['chattr', 'chflags', 'chgrp', 'chmod', 'chown', 'cpio', 'ditto', 'mount', 'setfacl'].map(
    (program) => [program, always] as const,
  ),
  ...['7z', '7za', '7zr', '7zz', 'bsdtar', 'jar', 'tar', 'unrar'].map(
    (program) => [program, unpacks] as const,
  ),
  ['unzip', (words) => !words.some((word) => /^-[lvtZ]/.test(word))],
]);

/** Folders among the words, also as the value of an option: `-C x`, `-ox`. */
function filled(words: readonly string[]): readonly string[] {
  const joined = words.flatMap((word) => /^(?:-[A-Za-z]|--[\w-]+=)(.+)$/s.exec(word)?.[1] ?? []);
  return [...operandsOf(words), ...joined];
}

/** The words without patterns, scripts and messages. */
function withoutTexts(program: string, words: readonly string[]): readonly string[] {
  const own = scripted.get(program);
  let hasScript =
    own === undefined || words.some((word) => own.some((one) => word.split('=', 1)[0] === one));
  const takesText = texts.get(program);
  const files: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (leavesOut.test(word) || takesText?.test(word) === true) at++;
    else if (leftOut.test(word)) continue;
    else if (!hasScript && !word.startsWith('-')) hasScript = true;
    else files.push(word);
  }
  return files;
}

/** The places where it starts, and the names that it looks for. */
function find(words: readonly string[]): Roles {
  const at = words.findIndex((word) => /^[-(!]/.test(word) && !/^-[HLP]$/.test(word));
  const roots = at === -1 ? words : words.slice(0, at);
  const before = /^-i?(?:name|path|wholename)$/;
  const named = words.filter((_, index) => before.test(words[index - 1] ?? ''));
  return {
    ...none,
    names: [...roots, ...named],
    changes: words.includes('-delete') ? roots : [],
    fills: words.some((word, at) => isFindChange(word, words[at + 1])) ? roots : [],
  };
}

/** `find -delete`, `find -exec rm`. */
function isFindChange(word: string, next = ''): boolean {
  if (word === '-delete') return true;
  if (!/^-(?:exec|ok)(?:dir)?$/.test(word)) return false;
  return (
    /^(?:ba|z)?sh$|^(?:chmod|chown|cp|install|ln|mv|perl|sed|tee|touch|truncate)$/.test(next) ||
    removers.has(next)
  );
}

function copy(program: string, words: readonly string[], isFolder: IsFolder): Roles {
  const at = words.findIndex((word) => /^-[A-Za-z]*t$|^--target-d[a-z-]*$/.test(word));
  const joined = words.find((word) => /^--target-d[a-z-]*=/.test(word));
  const named = joined === undefined ? words[at + 1] : joined.slice(joined.indexOf('=') + 1);
  const target = at === -1 && joined === undefined ? undefined : named;
  const operands = operandsOf(words);
  const to = target ?? operands.at(-1);
  const sources = operands.filter((word, index) =>
    target === undefined ? index < operands.length - 1 : word !== target,
  );
  if (to === undefined) return { ...none, reads: words };
  const moves = program === 'mv';
  const inFolder = !words.some((word) => /^-[A-Za-z]*T|^--no-target/.test(word)) && isFolder(to);
  const whole = inFolder || !(moves || isWhole(words)) ? [] : [to];
  const targets = [to, ...sources.map((source) => `${to}/${basename(source)}`)];
  const isLink = program === 'ln';
  return {
    ...none,
    // What a link leads to can be read and changed through it.
    reads: isLink ? [] : sources,
    changes: isLink ? sources : [],
    writes: targets,
    replaces: moves ? [...sources, ...whole] : whole,
    fills: [
      ...(sources.some((source) => /\/\.?$/.test(source)) ? [to] : []),
      // `cp -r x/.git .` fills a folder that the target may have.
      ...(isWhole(words) ? targets.slice(1) : []),
    ],
  };
}

/** Whether a folder may be written as a whole: `cp -r`, `ln -s`, `rsync -a`. */
function isWhole(words: readonly string[]): boolean {
  return words.some((word) =>
    /^-[A-Za-z]*[rRaTdsfn]|^--(?:recursive|archive|no-target|symbolic)/.test(word),
  );
}

function gitReplaces(words: readonly string[]): Partial<Roles> {
  const [command, ...rest] = words;
  if (command === 'mv') return { replaces: operandsOf(rest) };
  if (command === 'rm' && !rest.includes('--cached')) return { replaces: operandsOf(rest) };
  // They make a folder with files that the line does not name.
  if (/^(?:clone|init|submodule)$/.test(command ?? '')) return { fills: operandsOf(rest) };
  if (command === 'worktree' && rest[0] === 'add') return { fills: operandsOf(rest) };
  if (command === 'checkout') return { fills: operandsOf(rest) };
  if (command === 'restore' && !rest.some((word) => /^(?:-S|--staged)$/.test(word)))
    return { fills: operandsOf(rest) };
  if (command === 'worktree' && /^(?:move|remove)$/.test(rest[0] ?? ''))
    return { replaces: operandsOf(rest.slice(1)) };
  return {};
}

/** Words that are no options, and all words after `--`. */
export function operandsOf(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  const before = end === -1 ? words : words.slice(0, end);
  const after = end === -1 ? [] : words.slice(end + 1);
  return [...before.filter((word) => !word.startsWith('-') || word === '-'), ...after];
}
