/** Commands that are other names of a command: modules of an interpreter, versions, toolchains. */

/** A command that another one stands for. */
interface Same {
  readonly program: string;
  readonly words: readonly string[];
}

/** Most names that are followed. */
const maxNames = 4;

export function sameAs(program: string, words: readonly string[]): Same {
  let same: Same = { program: plainName(program), words };
  for (let left = maxNames; left > 0; left--) {
    const next = nextName(same);
    if (next === undefined) break;
    same = { program: plainName(next.program), words: next.words };
  }
  return same;
}

/** Without a version: `python3.12`, `pip3`, `terraform1.5`. */
function plainName(program: string): string {
  return program.replace(/^(python|pypy|pip|gem|ruby|php|node|terraform|lua|perl)[\d.]+$/, '$1');
}

function nextName({ program, words }: Same): Same | undefined {
  const [first = '', second] = words;
  if (program === 'npm') return npmCommand(words);
  if (program === 'ruby' && first === '-S' && second !== undefined)
    return { program: second, words: words.slice(2) };
  if (program === 'cargo' && first === 'sqlx') return { program: first, words: words.slice(1) };
  if (program === 'python' || program === 'pypy') return moduleOf(words);
  if (first.startsWith('+') && /^(?:cargo|rustc|rustdoc)$/.test(program))
    return { program, words: words.slice(1) };
  if (program === 'yarn' && first === 'npm') return { program: 'npm', words: words.slice(1) };
  if (program === 'yarn' && first === 'workspace') return { program, words: words.slice(2) };
  if (program === 'yarn' && first === 'workspaces' && /^(?:foreach|run)$/.test(second ?? '')) {
    const at = words.indexOf('npm');
    return { program, words: at === -1 ? withoutOptions(words.slice(2)) : words.slice(at) };
  }
  if (program === 'uv' && first === 'pip') return { program: 'pip', words: words.slice(1) };
  if (program === 'docker' && first === 'compose')
    return { program: 'docker-compose', words: words.slice(1) };
  if (
    /^(?:php|ruby|node)$/.test(program) &&
    /^(?:.*\/)?(?:artisan|console|rails|rake)$/.test(first)
  )
    return { program: first.slice(first.lastIndexOf('/') + 1), words: words.slice(1) };
  if (installedRunners.has(program) && first === 'run' && second?.startsWith('-') === false)
    return second.endsWith('.py')
      ? { program: 'python', words: words.slice(1) }
      : { program: second, words: words.slice(2) };
  return undefined;
}

function withoutOptions(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => !word.startsWith('-'));
  return at === -1 ? [] : words.slice(at);
}

/**
 * Package managers that run what the project has installed, if they have no command of that name:
 * `pnpm prisma migrate`.
 */
export function installedBy(program: string, words: readonly string[]): Same | undefined {
  if (!/^(?:pnpm|yarn|bun)$/.test(program)) return undefined;
  const [name, ...rest] = withoutOptions(words);
  return name === undefined ? undefined : { program: name, words: rest };
}

/** Commands of npm that rules are about, with the shortest text for which npm takes each. */
const npmCommands = new Map(
  `access:ac deprecate:dep exec:ex install-test:install-t init:ini innit:inn publish:pu owner:ow
  create:cr profile:pro undeprecate:unde unpublish:unp login:logi logout:logo token:to trust:tr
  author:au team:tea adduser:addu approve-scripts:ap rebuild:reb config:con`
    .split(/\s+/)
    .map((row) => row.split(':') as [string, string]),
);
const npmNames: ReadonlyMap<string, string> = new Map([
  ['it', 'install'],
  ['sit', 'ci'],
  ['cit', 'ci'],
  ['ic', 'ci'],
  ['install-test', 'install'],
  ['install-clean', 'ci'],
  ['clean-install', 'ci'],
]);

/** `npm publ` is `npm publish`. */
function npmCommand(words: readonly string[]): Same | undefined {
  for (const [at, word] of words.entries()) {
    if (word.startsWith('-')) continue;
    const full = [...npmCommands].find(
      ([name, least]) => word !== name && word.startsWith(least) && name.startsWith(word),
    )?.[0];
    const name = npmNames.get(full ?? word) ?? full;
    if (name !== undefined)
      return { program: 'npm', words: [...words.slice(0, at), name, ...words.slice(at + 1)] };
    if (!words[at - 1]?.startsWith('-')) return undefined;
  }
  return undefined;
}

/** Runners of what the project has installed: the words after `run` are a command of its own. */
const installedRunners = new Set(['poetry', 'pipenv', 'pdm', 'hatch', 'rye', 'uv']);

/** `python -m twine upload`, `python -Im twine upload`, `python -mtwine upload`. */
function moduleOf(words: readonly string[]): Same | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (/^-[WX]$/.test(word)) at++;
    else if (!word.startsWith('-')) {
      // A script: `python manage.py flush`.
      const name = word.slice(word.lastIndexOf('/') + 1);
      return /^(?:manage|setup)\.py$/.test(name)
        ? { program: name, words: words.slice(at + 1) }
        : undefined;
    }
    const [, joined] = /^-[A-Za-z]*?m(.*)$/s.exec(word) ?? [];
    if (joined === undefined || word.startsWith('--')) continue;
    const module = joined === '' ? words[at + 1] : joined;
    if (module === undefined) return undefined;
    return {
      program: module.replace(/\.__main__$/, ''),
      words: words.slice(at + (joined === '' ? 2 : 1)),
    };
  }
  return undefined;
}
